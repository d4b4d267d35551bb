#pragma once

// Kernels that choose experts, group slots by expert, and combine the experts' outputs.

#include "spectr/backend/cuda/kernels/elementwise.cuh"

namespace spectr::cuda {

/// Returns the local index of the expert that a slot has chosen; −1 if it is not on this device.
SPECTR_DEVICE int block_of(const Choices& choices, int slot) {
  const int block = load(choices.chosen + slot) - choices.first;
  return block < choices.blocks ? block : -1;
}

/// Chooses the best experts of a row. Grid: (rows). A lane has the experts e ≡ lane mod 32. Scores are
/// compared as order-preserving integer keys, larger first; ties go to the lower index. NaN has key 1, below
/// all numbers; key 0 marks excluded experts.
struct ChooseExpertsKernel {
  static constexpr int threads = 32, max_experts = 4096;
  static constexpr int softmax = 0, sigmoid_of_each = 1, softmax_of_chosen = 2;

  static SPECTR_DEVICE void run(const ChooseExperts& p) {
    SPECTR_SHARED u32 keys[max_experts];
    dependents();
    predecessors();
    const float* const z = row_of(p.z, group_x());
    const auto any = [](int) { return true; };
    Softmax of_all{};
    if (p.gating == softmax) of_all = softmax_over(p, z, any);
    const auto score = [&](int e) {
      if (p.gating == softmax) return of_all.of(load(z + e));
      return p.gating == sigmoid_of_each ? sigmoid(load(z + e)) : load(z + e);
    };
    // Gating preserves the order of z up to rounding: without a bias and groups, z itself is compared.
    const bool by_outputs = p.bias == nullptr && p.groups == 1;
    for (int e = thread(); e < p.experts; e += threads) {
      const float s = by_outputs ? load(z + e) : score(e);
      keys[e] = key_of(p.bias != nullptr ? add(s, p.bias[e]) : s);
    }
    warp_barrier();
    if (p.groups > 1) keep_best_groups(p, keys);
    const long first = static_cast<long>(group_x()) * p.used;
    for (int i = 0; i < p.used; ++i) {
      Place best = nowhere();
      for (int e = thread(); e < p.experts; e += threads) {
        if (keys[e] < taken && is_before({keys[e], e}, best)) best = {keys[e], e};
      }
      best = best_of_lanes(best);
      if (best.index % threads != thread()) continue;
      keys[best.index] = ~static_cast<u32>(i);  // its rank
      p.chosen[first + i] = best.index;
    }
    const auto is_chosen = [&](int e) { return keys[e] >= taken; };
    Softmax of_chosen{};
    if (p.gating == softmax_of_chosen) of_chosen = softmax_over(p, z, is_chosen);
    const auto weight = [&](int e) {
      return p.gating == softmax_of_chosen ? of_chosen.of(load(z + e)) : score(e);
    };
    float factor = p.weights_scale;
    if (p.normalized) factor = divide(factor, larger(sum_over(p, is_chosen, weight), 1.17549435e-38f));
    for (int e = thread(); e < p.experts; e += threads) {
      if (!is_chosen(e)) continue;
      const float w = mul(weight(e), factor);
      p.weights[first + static_cast<int>(~keys[e])] = p.scales != nullptr ? mul(w, p.scales[e]) : w;
    }
  }

 private:
  static constexpr u32 taken = 0xfffff000u;  // greater than the key of any number

  struct Place {
    u32 key;
    int index;
  };
  struct Softmax {
    float most, sum;
    SPECTR_DEVICE float of(float z) const { return divide(exp_of_negative(sub(z, most)), sum); }
  };

  static SPECTR_DEVICE u32 key_of(float score) {
    if (!(score == score)) return 1;
    const u32 bits = bits_of(add(score, 0.0f));  // −0 becomes 0
    return bits >> 31 == 0 ? bits | 0x80000000u : ~bits;
  }
  static SPECTR_DEVICE float score_of(u32 key) { return float_of(key >> 31 == 0 ? ~key : key & 0x7fffffffu); }

  static SPECTR_DEVICE Place nowhere() { return {0, max_experts}; }
  static SPECTR_DEVICE bool is_before(Place a, Place b) {
    return a.key > b.key || (a.key == b.key && a.index < b.index);
  }
  static SPECTR_DEVICE Place best_of_lanes(Place mine) {
    SPECTR_UNROLL
    for (int h = 1; h < threads; h *= 2) {
      const Place other{shuffle_xor(mine.key, h), shuffle_xor(mine.index, h)};
      if (is_before(other, mine)) mine = other;
    }
    return mine;
  }

  /// Returns Σ of(e) over the experts e with are(e): first those of each lane, ascending, then pairwise over
  /// lanes.
  template <class Are, class Of>
  static SPECTR_DEVICE float sum_over(const ChooseExperts& p, const Are& are, const Of& of) {
    float sum = 0;
    for (int e = thread(); e < p.experts; e += threads) {
      if (are(e)) sum = add(sum, of(e));
    }
    return sum_of_lanes<threads>(sum);
  }
  template <class Are>
  static SPECTR_DEVICE Softmax softmax_over(const ChooseExperts& p, const float* z, const Are& are) {
    float most = -INFINITY;
    for (int e = thread(); e < p.experts; e += threads) {
      if (are(e)) most = larger(most, load(z + e));
    }
    most = largest_of_lanes<threads>(most);
    return {most, sum_over(p, are, [&](int e) { return exp_of_negative(sub(load(z + e), most)); })};
  }

  /// Returns the key of the sum of a group's two best scores.
  static SPECTR_DEVICE u32 key_of_group(const u32* keys, int size) {
    u32 best = 0, second = 0;
    for (int e = 0; e < size; ++e) {
      const u32 key = keys[e];
      if (key > best) {
        second = best;
        best = key;
      } else if (key > second) {
        second = key;
      }
    }
    return size > 1 ? key_of(add(score_of(best), score_of(second))) : best;
  }
  /// Zeroes the keys of experts outside the best groups. A lane has the groups g ≡ lane mod 32.
  static SPECTR_DEVICE void keep_best_groups(const ChooseExperts& p, u32* keys) {
    const int size = p.experts / p.groups;
    Place last{0xffffffffu, -1};
    for (int i = 0; i < p.groups_used; ++i) {
      Place best = nowhere();
      for (int g = thread(); g < p.groups; g += threads) {
        const Place one{key_of_group(keys + g * size, size), g};
        if (is_before(last, one) && is_before(one, best)) best = one;
      }
      last = best_of_lanes(best);
    }
    for (int g = thread(); g < p.groups; g += threads) {
      if (!is_before(last, {key_of_group(keys + g * size, size), g})) continue;
      for (int e = 0; e < size; ++e) keys[g * size + e] = 0;
    }
    warp_barrier();
  }
};

/// Groups slots by expert in a single thread block. A thread has consecutive experts.
struct GroupExpertsKernel {
  static constexpr int threads = 256, at_once = 512;  // slots staged at a time

  static SPECTR_DEVICE void run(const GroupExperts& p) {
    SPECTR_SHARED int staged[at_once];
    SPECTR_SHARED int sizes[threads], counts[threads];  // numbers of slots and of groups
    dependents();
    predecessors();
    const int each = (p.choices.blocks + threads - 1) / threads, first = thread() * each;
    int size = 0, count = 0;
    for (int block = first; block < first + each; ++block) {
      const int before = size;
      for_slots_of(p, block, staged, [&](int) { ++size; });
      count += size > before ? 1 : 0;
    }
    sizes[thread()] = size;
    counts[thread()] = count;
    for (int h = 1; h < threads; h *= 2) {  // inclusive prefix sums
      group_barrier();
      const int more = thread() >= h ? sizes[thread() - h] : 0,
                others = thread() >= h ? counts[thread() - h] : 0;
      group_barrier();
      sizes[thread()] += more;
      counts[thread()] += others;
    }
    group_barrier();
    int begin = sizes[thread()] - size, group = counts[thread()] - count;
    for (int block = first; block < first + each; ++block) {
      int end = begin;
      for_slots_of(p, block, staged, [&](int slot) { p.lists.slots[end++] = slot; });
      if (end == begin) continue;
      p.lists.groups[group++] = {block, begin, end - begin};
      begin = end;
    }
    for (int g = counts[threads - 1] + thread(); g < p.groups; g += threads) p.lists.groups[g] = {0, 0, 0};
  }

 private:
  /// Calls each(slot) for the slots that have chosen `block`. Must be called by all threads together.
  template <class Each>
  static SPECTR_DEVICE void for_slots_of(const GroupExperts& p, int block, int* staged, Each each) {
    for (int first = 0; first < p.choices.slots; first += at_once) {
      const int left = p.choices.slots - first, size = left < at_once ? left : at_once;
      group_barrier();
      for (int i = thread(); i < size; i += threads) staged[i] = block_of(p.choices, first + i);
      group_barrier();
      for (int i = 0; i < size; ++i) {
        if (staged[i] == block) each(first + i);
      }
    }
  }
};

/// Adds biases of the chosen experts. Grid: (slots, columns / 512).
struct AddChosenKernel {
  static SPECTR_DEVICE void run(const AddChosen& p) {
    dependents();
    predecessors();
    const int block = block_of(p.choices, group_x());
    if (block < 0) return;
    float* const to = row_of(p.to, group_x());
    const float* const from = p.from + static_cast<long>(block) * p.cols;
    for_my_columns(p.cols, [&](int j) { to[j] = add(load(to + j), from[j]); });
  }
};

/// Sums the weighted outputs of a row's slots. Grid: (rows, columns / 512).
struct CombineKernel {
  static SPECTR_DEVICE void run(const Combine& p) {
    dependents();
    predecessors();
    const int first = 4 * (group_y() * 128 + thread());
    float sums[4] = {};
    for (int slot = group_x() * p.used; slot < (group_x() + 1) * p.used; ++slot) {
      if (block_of(p.choices, slot) < 0) continue;
      const float weight = load(p.weights + slot);
      const float* const in = row_of(p.in, slot);
      SPECTR_UNROLL
      for (int i = 0; i < 4; ++i) {
        if (first + i < p.cols) sums[i] = add(sums[i], mul(weight, load(in + first + i)));
      }
    }
    float* const out = row_of(p.out, group_x());
    SPECTR_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (first + i < p.cols) out[first + i] = sums[i];
    }
  }
};

}  // namespace spectr::cuda

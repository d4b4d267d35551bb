#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/gguf/tensor_type.h"
#include "tests/twins/twin_computes.h"

namespace spectr::twin {
namespace {

using Gating = ExpertsSpec::Gating;

constexpr std::size_t lanes = 32;

/// Maps scores to integers in the same order: NaN to 1, below all numbers; 0 is unused.
std::uint32_t key_of(float score) {
  if (std::isnan(score)) return 1;
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);  // −0 equals 0
  return bits >> 31 == 0 ? bits | 0x80000000u : ~bits;
}
float score_of(std::uint32_t key) {
  return std::bit_cast<float>(key >> 31 == 0 ? ~key : key & 0x7fffffffu);
}

/// Returns the indices of the `count` largest keys in descending order; ties are ordered by index.
std::vector<std::size_t> largest(const std::vector<std::uint32_t>& keys, std::size_t count) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] > keys[b] : a < b; });
  order.resize(count);
  return order;
}

/// Ranks experts after all others unless their group is among those with the largest sums of two best scores.
void keep_best_groups(std::vector<std::uint32_t>& keys, std::size_t groups, std::size_t used) {
  const std::size_t size = keys.size() / groups;
  std::vector<std::uint32_t> sums;
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<std::uint32_t> of_group(keys.begin() + static_cast<std::ptrdiff_t>(g * size),
                                        keys.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
    std::ranges::sort(of_group, std::greater());
    sums.push_back(size > 1 ? key_of(score_of(of_group[0]) + score_of(of_group[1])) : of_group[0]);
  }
  const std::vector<std::size_t> best = largest(sums, used);
  for (std::size_t e = 0; e < keys.size(); ++e) {
    if (std::ranges::find(best, e / size) == best.end()) keys[e] = 0;
  }
}

/// Returns Σ of(e) over the experts, in the order that ChooseExperts specifies.
template <class Of>
float sum_of(const std::vector<std::size_t>& experts, Of of) {
  std::vector<std::size_t> ascending = experts;
  std::ranges::sort(ascending);
  std::vector<float> sums(lanes);
  for (const std::size_t e : ascending) sums[e % lanes] += of(e);
  return sum_as_tree(std::move(sums));
}

struct Choice {
  std::vector<std::size_t> experts;
  std::vector<float> weights;
};

Choice choose(const call::ChooseExperts& call, std::span<const float> z, Rounding rounding) {
  const std::span<const float> bias = vector(call.bias, call.experts),
                               scales = vector(call.scales, call.experts);
  std::vector<std::size_t> all(call.experts);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto largest_of = [&](const std::vector<std::size_t>& experts) {
    float most = -std::numeric_limits<float>::infinity();
    for (const std::size_t e : experts) most = std::fmax(most, z[e]);
    return most;
  };
  const auto softmax_of = [&](const std::vector<std::size_t>& experts) {
    const float most = largest_of(experts);
    const float sum = sum_of(experts, [&](std::size_t e) { return exp_of_negative(z[e] - most, rounding); });
    std::vector<float> s(z.size());
    for (std::size_t e = 0; e < z.size(); ++e) s[e] = exp_of_negative(z[e] - most, rounding) / sum;
    return s;
  };
  std::vector<float> s(z.begin(), z.end());
  if (call.gating == Gating::softmax) s = softmax_of(all);
  if (call.gating == Gating::sigmoid) {
    for (float& one : s) one = sigmoid(one, rounding);
  }
  // Gating preserves the order of z up to rounding: without a bias and groups, z itself decides.
  std::vector<std::uint32_t> keys;
  const bool by_outputs = bias.empty() && call.groups == 1;
  for (const std::size_t e : all)
    keys.push_back(key_of(by_outputs ? z[e] : bias.empty() ? s[e] : s[e] + bias[e]));
  if (call.groups > 1) keep_best_groups(keys, call.groups, call.groups_used);

  Choice choice{largest(keys, call.used), {}};
  if (call.gating == Gating::softmax_of_chosen) s = softmax_of(choice.experts);
  float factor = call.weights_scale;
  if (call.normalized) {
    const float sum = sum_of(choice.experts, [&](std::size_t e) { return s[e]; });
    factor /= std::fmax(sum, std::numeric_limits<float>::min());
  }
  for (const std::size_t e : choice.experts) {
    const float weight = s[e] * factor;
    choice.weights.push_back(scales.empty() ? weight : weight * scales[e]);
  }
  return choice;
}

/// Returns the block of each slot's expert, or −1 if it is not on this device.
std::vector<int> blocks_of(const call::Choices& choices) {
  std::vector<int> blocks;
  for (std::size_t s = 0; s < choices.slots; ++s) {
    const int block =
        numbers_at<const int>(choices.chosen, choices.slots)[s] - static_cast<int>(choices.first);
    blocks.push_back(block >= 0 && block < static_cast<int>(choices.blocks) ? block : -1);
  }
  return blocks;
}

/// Returns the matrix of a block.
call::Weights weights_of(const call::ExpertWeights& weights, std::size_t block) {
  call::Weights one = weights.each;
  if (has_device_layout(one.type)) {
    const PanelLayout layout(one.type, one.rows, one.cols);
    one.codes = one.codes.behind(block * layout.code_bytes);
    one.scales = one.scales.behind(block * layout.scale_bytes);
    if (one.factors) one.factors = one.factors.behind(block * layout.factor_bytes);
  } else {
    one.codes = one.codes.behind(block * one.rows * one.cols * format_of(one.type).bytes);
  }
  return one;
}

/// Calls each(weights, slots) for every nonempty group.
template <class Each>
void for_each_group(const call::ExpertWeights& weights, const call::ExpertLists& lists, Each each) {
  const std::span<const ExpertGroup> groups(numbers_at<const ExpertGroup>(lists.at, lists.groups),
                                            lists.groups);
  const std::span<const int> slots(numbers_at<const int>(lists.at.behind(lists.slots_at()), lists.slots),
                                   lists.slots);
  for (const ExpertGroup& group : groups) {
    if (group.size == 0) continue;
    each(weights_of(weights, static_cast<std::size_t>(group.block)),
         slots.subspan(static_cast<std::size_t>(group.begin), static_cast<std::size_t>(group.size)));
  }
}

void copy_to_slots(const std::vector<float>& y, std::span<const int> slots, const call::Rows& to) {
  const std::size_t cols = y.size() / slots.size();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    std::ranges::copy(std::span(y).subspan(i * cols, cols),
                      row(to, static_cast<std::size_t>(slots[i]), cols).begin());
  }
}

}  // namespace

void compute(const call::ChooseExperts& call, Rounding rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    const Choice choice = choose(call, row(call.z, r, call.experts), rounding);
    for (std::size_t i = 0; i < call.used; ++i) {
      const std::size_t slot = r * call.used + i;
      numbers_at<int>(call.chosen, call.rows * call.used)[slot] = static_cast<int>(choice.experts[i]);
      numbers_at<float>(call.weights, call.rows * call.used)[slot] = choice.weights[i];
    }
  }
}

void compute(const call::GroupExperts& call, Rounding) {
  const call::ExpertLists& lists = call.lists;
  const std::vector<int> blocks = blocks_of(call.choices);
  auto* const groups = numbers_at<ExpertGroup>(lists.at, lists.groups);
  int* const slots = numbers_at<int>(lists.at.behind(lists.slots_at()), lists.slots);
  std::size_t group = 0;
  int begin = 0;
  for (std::size_t block = 0; block < call.choices.blocks; ++block) {
    int end = begin;
    for (std::size_t s = 0; s < blocks.size(); ++s) {
      if (blocks[s] == static_cast<int>(block)) slots[end++] = static_cast<int>(s);
    }
    if (end == begin) continue;
    groups[group++] = {static_cast<int>(block), begin, end - begin};
    begin = end;
  }
  for (; group < lists.groups; ++group) groups[group] = {0, 0, 0};
}

void compute(const call::ExpertProduct& call, Rounding) {
  std::vector<QuantizedRows> slabs;
  for (std::size_t slab = 0; slab < call.x.layout.slabs(); ++slab)
    slabs.push_back(rows_of_slab(call.x, slab));
  for_each_group(call.weights, call.lists, [&](const call::Weights& weights, std::span<const int> slots) {
    QuantizedRows x{.n = slots.size(), .cols = slabs.front().cols, .q = {}, .a = {}};
    for (const int slot : slots) {
      const std::size_t r = static_cast<std::size_t>(slot) / call.sharers;
      const QuantizedRows& from = slabs[r / QuantizedLayout::slab_rows];
      const std::size_t in_slab = r % QuantizedLayout::slab_rows;
      const auto append = [&](auto& to, const auto& numbers) {
        const std::size_t size = numbers.size() / from.n;
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(in_slab * size);
        to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(size));
      };
      append(x.q, from.q);
      append(x.a, from.a);
    }
    copy_to_slots(product(weights, x), slots, call.y);
  });
}

void compute(const call::ExpertFloatProduct& call, Rounding) {
  for_each_group(call.weights, call.lists, [&](const call::Weights& weights, std::span<const int> slots) {
    std::vector<float> x;
    for (const int slot : slots) {
      const std::span<const float> one =
          row(call.x, static_cast<std::size_t>(slot) / call.sharers, weights.cols);
      x.insert(x.end(), one.begin(), one.end());
    }
    copy_to_slots(float_product(weights, x, slots.size()), slots, call.y);
  });
}

void compute(const call::AddChosen& call, Rounding) {
  const std::vector<int> blocks = blocks_of(call.choices);
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    if (blocks[s] < 0) continue;
    const std::span<float> to = row(call.to, s, call.cols);
    const std::span<const float> from =
        row({call.from, call.cols}, static_cast<std::size_t>(blocks[s]), call.cols);
    for (std::size_t j = 0; j < call.cols; ++j) to[j] += from[j];
  }
}

void compute(const call::Combine& call, Rounding) {
  const std::vector<int> blocks = blocks_of(call.choices);
  const std::size_t used = call.choices.slots / call.rows;
  for (std::size_t r = 0; r < call.rows; ++r) {
    std::vector<float> sum(call.cols);
    for (std::size_t s = r * used; s < (r + 1) * used; ++s) {
      if (blocks[s] < 0) continue;
      const float weight = numbers_at<const float>(call.weights, call.choices.slots)[s];
      const std::span<const float> in = row(call.in, s, call.cols);
      for (std::size_t j = 0; j < call.cols; ++j) sum[j] += weight * in[j];
    }
    std::ranges::copy(sum, row(call.out, r, call.cols).begin());
  }
}

}  // namespace spectr::twin

#pragma once

// Kernels of recurrent layers, which update the states of sequences (state_rows.h). Numbers of the pool that
// the pass writes are loaded past the L1 cache.

#include "spectr/backend/cuda/kernels/elementwise.cuh"
#include "spectr/backend/device/state_rows.h"

namespace spectr::cuda {

/// Returns the address of a layer's numbers at offset `first` from a place.
SPECTR_DEVICE float* behind(const States& states, StatePlace place, long first) {
  return states.pool + 2L * place + first;
}

/// Returns the place of the row's own token.
SPECTR_DEVICE StatePlace own_place(const StateRow& row) {
  return row.path[grid_tokens + row.since];
}

/// Stores the convolutions' inputs at the rows' tokens, and copies those of frames to the tokens before
/// states that restore them. A block of 128 threads has 128 channels of a row or, after the rows, of a state.
/// Grid: (rows + states, channels / 128).
struct StoreInputsKernel {
  static SPECTR_DEVICE void run(const StoreInputs& p) {
    const int c = group_y() * 128 + thread();
    dependents();
    predecessors();
    if (c >= p.states.channels) return;
    if (group_x() < p.plan.row_count) {
      float x = load(row_of(p.in, group_x()) + c);
      if (p.by.at != nullptr) x = mul(x, load(row_of(p.by, group_x()) + c));
      *behind(p.states, own_place(p.plan.rows[group_x()]), p.states.inputs + c) = x;
      return;
    }
    const StateStep& step = p.plan.steps[group_x() - p.plan.row_count];
    if (step.restores == 0) return;
    for (int i = 0; i + 1 < p.states.kernel; ++i) {
      *behind(p.states, step.tokens[grid_tokens - 1 - i], p.states.inputs + c) = load(behind(
          p.states, step.at.place, p.states.frame_inputs + static_cast<long>(i) * p.states.channels + c));
    }
  }
};

/// Computes out[c] = Σ_j w[c][j] · input[c] of the token kernel − 1 − j before the row's, ascending, times a
/// factor, if given. States that become frames get the inputs of the tokens before them. The grid is that of
/// StoreInputsKernel.
struct ConvolveKernel {
  static SPECTR_DEVICE void run(const Convolve& p) {
    const int c = group_y() * 128 + thread(), kernel = p.states.kernel;
    dependents();
    predecessors();
    if (c >= p.states.channels) return;
    if (group_x() < p.plan.row_count) {
      const StateRow& row = p.plan.rows[group_x()];
      const float* const w = p.weight + static_cast<long>(c) * kernel;
      float sum = 0;
      for (int j = 0; j < kernel; ++j) {
        const StatePlace place = row.path[grid_tokens + row.since + j + 1 - kernel];
        if (place >= 0) sum = add(sum, mul(w[j], load(behind(p.states, place, p.states.inputs + c))));
      }
      if (p.factor.at != nullptr) sum = mul(sum, load(row_of(p.factor, group_x()) + c));
      row_of(p.out, group_x())[c] = sum;
      return;
    }
    const StateStep& step = p.plan.steps[group_x() - p.plan.row_count];
    if (step.is_new == 0 || step.at.in_frame == 0) return;
    for (int i = 0; i + 1 < kernel; ++i) {
      *behind(p.states, step.at.place, p.states.frame_inputs + static_cast<long>(i) * p.states.channels + c) =
          load(behind(p.states, step.tokens[grid_tokens - 1 - i], p.states.inputs + c));
    }
  }
};

/// Computes x = silu(x), and x / max(‖x‖, ε) for query and key heads. The sum of squares is the pairwise sum
/// over 128 threads, each with every 128th dimension. Also scales queries, and stores keys and decays at the
/// tokens. Grid: (rows, heads of queries, keys and values).
struct PrepareHeadsKernel {
  static constexpr int threads = 128;

  static SPECTR_DEVICE void run(const PrepareHeads& p) {
    SPECTR_SHARED float sums[threads / 32];
    const int head = group_y(), key = head - p.key_heads, value = key - p.key_heads;
    float* const x = row_of(p.x, group_x()) + static_cast<long>(head) * p.dim;
    dependents();
    predecessors();
    const StatePlace own = own_place(p.plan.rows[group_x()]);
    float mine = 0;
    for (int i = thread(); i < p.dim; i += threads) {
      const float v = silu(load(x + i));
      x[i] = v;
      mine = add(mine, mul(v, v));
    }
    if (value >= 0) {
      if (thread() > 0) return;
      const float g = softplus(add(load(row_of(p.alpha, group_x()) + value), p.dt_bias[value]));
      *behind(p.states, own, p.states.decays + value) = mul(g, p.a[value]);
      return;
    }
    mine = sum_of_lanes<32>(mine);
    if (thread() % 32 == 0) sums[thread() / 32] = mine;
    group_barrier();
    const float length = root(sum_of_lanes<threads / 32>(sums[thread() % (threads / 32)]));
    const float factor = divide(1.0f, length < p.epsilon ? p.epsilon : length);
    for (int i = thread(); i < p.dim; i += threads) {
      const float v = mul(load(x + i), factor);
      if (key < 0) {
        x[i] = mul(v, p.query_scale);
      } else {
        *behind(p.states, own, p.states.keys + static_cast<long>(key) * p.dim + i) = v;
      }
    }
  }
};

/// For each row and key head, computes the dot products of the keys of the tokens since its state with its
/// own key and with its query. A warp has every fourth token, and a lane every 32nd dimension; lanes are
/// summed pairwise. Grid: (rows, key heads).
struct MultiplyKeysKernel {
  static constexpr int threads = 128;

  static SPECTR_DEVICE void run(const MultiplyKeys& p) {
    const int warp = thread() / 32, lane = thread() % 32;
    const long head = static_cast<long>(group_y()) * p.dim, keys = p.states.keys + head;
    const StateRow& row = p.plan.rows[group_x()];
    const float* const key = behind(p.states, own_place(row), keys);
    const float* const query = row_of(p.queries, group_x()) + head;
    float* const out = p.out + (static_cast<long>(group_x()) * p.key_heads + group_y()) * 2 * grid_tokens;
    dependents();
    predecessors();
    for (int a = warp; a <= row.since; a += threads / 32) {
      const float* const other = behind(p.states, row.path[grid_tokens + a], keys);
      float with_key = 0, with_query = 0;
      for (int i = lane; i < p.dim; i += 32) {
        const float x = load(other + i);
        with_key = add(with_key, mul(x, load(key + i)));
        with_query = add(with_query, mul(x, load(query + i)));
      }
      with_key = sum_of_lanes<32>(with_key);
      with_query = sum_of_lanes<32>(with_query);
      if (lane > 0) continue;
      out[a] = with_key;
      out[grid_tokens + a] = with_query;
    }
  }
};

/// The delta rule. S is a head's matrix in the state that row t starts from, a are the tokens since then, and
/// G_a is the sum of their decays up to a:
///
///     u = β (v − e^{G_t} Sᵀk − Σ_a e^{G_t − G_a} (k_a · k) u_a)
///     o = e^{G_t} Sᵀq + Σ_a e^{G_t − G_a} (k_a · q) u_a + (k · q) u
///
/// The next state is e^{G} S + Σ_a e^{G − G_a} k_a u_aᵀ over the 16 tokens before it. Sᵀk and Sᵀq are
/// pairwise sums of eight sums, each over every eighth dimension of the key. Columns (value dimensions) are
/// independent: a thread block has 32 of them, for a head and a sequence, and iterates over its rows. Each of
/// four warps has two of the eight sums. Grid: (value heads · columns / 32, sequences).
class RecurKernel {
  static constexpr int teams = 4;

 public:
  static constexpr int threads = 32 * teams;

  static SPECTR_DEVICE void run(const Recur& p) {
    SPECTR_SHARED Shared shared;
    dependents();
    predecessors();
    const StateText text = p.plan.texts[group_y()];
    RecurKernel head(p, shared);
    int next = text.first_step;
    for (int r = text.first_row; r < text.first_row + text.rows; ++r) {
      const StateRow& row = p.plan.rows[r];
      for (; next <= row.step; ++next) head.advance(p.plan.steps[next]);
      head.compute(row, r);
    }
    for (; next < text.first_step + text.steps; ++next) head.advance(p.plan.steps[next]);
  }

 private:
  struct Shared {
    float keys[teams][32], queries[teams][32];         // partial sums of Sᵀk and Sᵀq, by team
    float of_key[grid_tokens], of_query[grid_tokens];  // factors of u_a
    float whole, beta;                                 // whole: e^{G_t}
  };

  SPECTR_DEVICE RecurKernel(const Recur& p, Shared& shared)
      : p_(p),
        shared_(shared),
        head_(group_x() / slices(p)),
        key_head_(head_ % p.key_heads),
        column_(group_x() % slices(p) * 32 + thread() % 32),
        team_(thread() / 32) {}

  static SPECTR_DEVICE int slices(const Recur& p) { return (p.dim + 31) / 32; }

  SPECTR_DEVICE bool is_column() const { return column_ < p_.dim; }
  SPECTR_DEVICE float* matrix(const StateAt& state) const {
    const long first = state.in_frame != 0 ? p_.states.frame_state : 0;
    return behind(p_.states, state.place, first + static_cast<long>(head_) * p_.dim * p_.dim);
  }
  SPECTR_DEVICE const float* key(StatePlace token) const {
    return behind(p_.states, token, p_.states.keys + static_cast<long>(key_head_) * p_.dim);
  }
  /// Returns the address of the column's update by a token.
  SPECTR_DEVICE float* value(StatePlace token) const {
    return behind(p_.states, token, p_.states.values + static_cast<long>(head_) * p_.dim + column_);
  }

  /// Calls each(i, j) for the team's key dimensions i, which contribute to its j-th sum.
  template <class Each>
  SPECTR_DEVICE void for_my_dimensions(Each each) const {
    for (int first = 2 * team_; first < p_.dim; first += 2 * teams) {
      each(first, 0);
      if (first + 1 < p_.dim) each(first + 1, 1);
    }
  }

  /// Returns the sums of the decays up to token `a` and up to token `last`.
  SPECTR_DEVICE Two decays(const StatePlace* tokens, int a, int last) const {
    Two sums{};
    for (int i = 0; i <= last; ++i) {
      const float own = load(behind(p_.states, tokens[i], p_.states.decays + head_));
      sums.y = i == 0 ? own : add(sums.y, own);
      if (i == a) sums.x = sums.y;
    }
    return sums;
  }

  SPECTR_DEVICE void advance(const StateStep& step) const {
    if (step.is_new == 0) return;
    if (thread() < grid_tokens) {
      const Two sums = decays(step.tokens, thread(), grid_tokens - 1);
      shared_.of_key[thread()] = exp_of_negative(sub(sums.y, sums.x));
      if (thread() == 0) shared_.whole = exp_of_negative(sums.y);
    }
    group_barrier();
    if (is_column()) {
      float u[grid_tokens];
      const float* keys[grid_tokens];
      SPECTR_UNROLL
      for (int a = 0; a < grid_tokens; ++a) {
        u[a] = mul(shared_.of_key[a], load(value(step.tokens[a])));
        keys[a] = key(step.tokens[a]);
      }
      const float* const before = step.before.place < 0 ? nullptr : matrix(step.before);
      float* const out = matrix(step.at);
      for_my_dimensions([&](int i, int) {
        const long at = static_cast<long>(i) * p_.dim + column_;
        float s = before == nullptr ? 0.0f : mul(shared_.whole, load(before + at));
        SPECTR_UNROLL
        for (int a = 0; a < grid_tokens; ++a) s = add(s, mul(u[a], load(keys[a] + i)));
        out[at] = s;
      });
    }
    group_barrier();  // the factors may still be read
  }

  /// Prepares the factors of the row's preceding tokens and of its state.
  SPECTR_DEVICE void prepare(const StateRow& row, int r) const {
    const int a = thread();
    if (a > row.since) return;
    const float* const products =
        p_.products + (static_cast<long>(r) * p_.key_heads + key_head_) * 2 * grid_tokens;
    const Two sums = decays(row.path + grid_tokens, a, row.since);
    if (a < row.since) {
      const float factor = exp_of_negative(sub(sums.y, sums.x));
      shared_.of_key[a] = mul(factor, load(products + a));
      shared_.of_query[a] = mul(factor, load(products + grid_tokens + a));
    } else {
      shared_.whole = exp_of_negative(sums.y);
      shared_.beta = sigmoid(load(row_of(p_.beta, r) + head_));
      shared_.of_query[a] = load(products + grid_tokens + a);
    }
  }

  SPECTR_DEVICE void compute(const StateRow& row, int r) const {
    const int lane = thread() % 32, own = row.since;
    const StatePlace* const tokens = row.path + grid_tokens;
    const float* const x = row_of(p_.x, r);
    prepare(row, r);
    const bool has_state = row.state.place >= 0;
    if (has_state && is_column()) {
      const float* const s = matrix(row.state) + column_;
      const float* const k = key(tokens[own]);
      const float* const q = x + static_cast<long>(key_head_) * p_.dim;
      float with_key[2] = {}, with_query[2] = {};
      for_my_dimensions([&](int i, int j) {
        const float number = load(s + static_cast<long>(i) * p_.dim);
        with_key[j] = add(with_key[j], mul(number, load(k + i)));
        with_query[j] = add(with_query[j], mul(number, load(q + i)));
      });
      shared_.keys[team_][lane] = add(with_key[0], with_key[1]);
      shared_.queries[team_][lane] = add(with_query[0], with_query[1]);
    }
    group_barrier();
    if (team_ == 0 && is_column()) {
      float u = load(x + static_cast<long>(2 * p_.key_heads + head_) * p_.dim + column_), o = 0;
      if (has_state) {
        u = sub(u, mul(shared_.whole, sum_of_teams(shared_.keys)));
        o = mul(shared_.whole, sum_of_teams(shared_.queries));
      }
      for (int a = 0; a < own; ++a) {
        const float added = load(value(tokens[a]));
        u = sub(u, mul(shared_.of_key[a], added));
        o = add(o, mul(shared_.of_query[a], added));
      }
      u = mul(u, shared_.beta);
      *value(tokens[own]) = u;
      row_of(p_.out, r)[static_cast<long>(head_) * p_.dim + column_] = add(o, mul(shared_.of_query[own], u));
    }
    group_barrier();  // the sums may still be read, and the update must be visible
  }

  static SPECTR_DEVICE float sum_of_teams(const float (&sums)[teams][32]) {
    const int lane = thread() % 32;
    return add(add(sums[0][lane], sums[1][lane]), add(sums[2][lane], sums[3][lane]));
  }

  const Recur& p_;
  Shared& shared_;
  int head_, key_head_, column_, team_;
};

}  // namespace spectr::cuda

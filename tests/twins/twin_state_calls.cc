#include <array>
#include <cmath>
#include <vector>

#include "spectr/backend/device/state_rows.h"
#include "spectr/base/check.h"
#include "tests/twins/twin_computes.h"

namespace spectr::twin {
namespace {

constexpr auto grid = static_cast<std::size_t>(grid_tokens);
constexpr std::size_t lengths = 128, state_lanes = 32, running = 8;  // numbers of parallel sums

/// Returns `count` numbers of a layer, from number `first` at a place on.
std::span<float> numbers_behind(const call::States& states, StatePlace place, std::size_t first,
                                std::size_t count) {
  SPECTR_CHECK(place >= 0);
  const std::size_t at = static_cast<std::size_t>(place) * 2 + first;
  return {numbers_at<float>(states.pool.behind(at * sizeof(float)), count), count};
}

std::span<const StateRow> rows_of(const call::PlannedStates& plan) {
  return {numbers_at<const StateRow>(plan.rows, plan.row_count), plan.row_count};
}
std::span<const StateStep> steps_of(const call::PlannedStates& plan) {
  return {numbers_at<const StateStep>(plan.steps, plan.step_count), plan.step_count};
}

/// Returns the place of the row's own token.
StatePlace own_place(const StateRow& row) {
  return row.path[grid_tokens + row.since];
}

/// Computes `sums` partial sums with that stride, in ascending order, and adds them as a tree.
template <class Of>
float sum_side_by_side(std::size_t sums, std::size_t count, Of of) {
  std::vector<float> all(sums);
  for (std::size_t i = 0; i < count; ++i) all[i % sums] += of(i);
  return sum_as_tree(std::move(all));
}

/// Copies the inputs of preceding tokens that a frame keeps.
void copy_inputs(const call::States& states, const StateStep& step, bool to_frame) {
  for (std::size_t i = 0; i + 1 < states.kernel; ++i) {
    const std::span<float> token =
        numbers_behind(states, step.tokens[grid - 1 - i], states.inputs, states.channels);
    const std::span<float> frame =
        numbers_behind(states, step.at.place, states.frame_inputs + i * states.channels, states.channels);
    std::ranges::copy(to_frame ? token : frame, (to_frame ? frame : token).begin());
  }
}

}  // namespace

void compute(const call::StoreInputs& call, Rounding) {
  const call::States& states = call.states;
  const std::span<const StateRow> rows = rows_of(call.plan);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::span<const float> in = row(call.in, r, states.channels);
    const std::span<float> to = numbers_behind(states, own_place(rows[r]), states.inputs, states.channels);
    for (std::size_t c = 0; c < to.size(); ++c)
      to[c] = call.by.at ? in[c] * row(call.by, r, states.channels)[c] : in[c];
  }
  for (const StateStep& step : steps_of(call.plan)) {
    if (step.restores != 0) copy_inputs(states, step, false);
  }
}

void compute(const call::Convolve& call, Rounding) {
  const call::States& states = call.states;
  const std::span<const StateRow> rows = rows_of(call.plan);
  const std::span<const float> weight = vector(call.weight, states.channels * states.kernel);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::span<float> out = row(call.out, r, states.channels);
    std::vector<float> sums(states.channels);
    for (std::size_t j = 0; j < states.kernel; ++j) {
      const StatePlace place =
          rows[r].path[grid + static_cast<std::size_t>(rows[r].since) + j + 1 - states.kernel];
      if (place < 0) continue;
      const std::span<const float> input = numbers_behind(states, place, states.inputs, states.channels);
      for (std::size_t c = 0; c < out.size(); ++c) sums[c] += weight[c * states.kernel + j] * input[c];
    }
    for (std::size_t c = 0; c < out.size(); ++c)
      out[c] = call.factor.at ? sums[c] * row(call.factor, r, states.channels)[c] : sums[c];
  }
  for (const StateStep& step : steps_of(call.plan)) {
    if (step.is_new != 0 && step.at.in_frame != 0) copy_inputs(states, step, true);
  }
}

void compute(const call::PrepareHeads& call, Rounding rounding) {
  const std::size_t dim = call.dim, heads = 2 * call.key_heads + call.value_heads;
  const std::span<const StateRow> rows = rows_of(call.plan);
  const std::span<const float> a = vector(call.a, call.value_heads),
                               dt_bias = vector(call.dt_bias, call.value_heads);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const StatePlace own = own_place(rows[r]);
    for (std::size_t h = 0; h < heads; ++h) {
      const std::span<float> x = row(call.x, r, heads * dim).subspan(h * dim, dim);
      for (float& number : x) number = silu(number, rounding);
      if (h >= 2 * call.key_heads) continue;
      const float length =
          std::sqrt(sum_side_by_side(lengths, dim, [&](std::size_t i) { return x[i] * x[i]; }));
      const float factor = 1.0f / (length < call.epsilon ? call.epsilon : length);
      for (float& number : x)
        number = h < call.key_heads ? number * factor * call.query_scale : number * factor;
      if (h < call.key_heads) continue;
      const std::size_t at = call.states.keys + (h - call.key_heads) * dim;
      std::ranges::copy(x, numbers_behind(call.states, own, at, dim).begin());
    }
    const std::span<const float> alpha = row(call.alpha, r, call.value_heads);
    const std::span<float> decays = numbers_behind(call.states, own, call.states.decays, call.value_heads);
    for (std::size_t h = 0; h < call.value_heads; ++h)
      decays[h] = softplus(alpha[h] + dt_bias[h], rounding) * a[h];
  }
}

void compute(const call::MultiplyKeys& call, Rounding) {
  const std::size_t dim = call.dim;
  const std::span<const StateRow> rows = rows_of(call.plan);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto since = static_cast<std::size_t>(rows[r].since);
    for (std::size_t h = 0; h < call.key_heads; ++h) {
      const auto key = [&](std::size_t i) {
        return numbers_behind(call.states, rows[r].path[grid + i], call.states.keys + h * dim, dim);
      };
      const auto product = [&](std::span<const float> x, std::span<const float> y) {
        return sum_side_by_side(state_lanes, dim, [&](std::size_t i) { return x[i] * y[i]; });
      };
      const std::span<const float> query = row(call.queries, r, call.key_heads * dim).subspan(h * dim, dim);
      const std::size_t at = (r * call.key_heads + h) * 2 * grid;
      float* const out = numbers_at<float>(call.out.behind(at * sizeof(float)), 2 * grid);
      for (std::size_t i = 0; i <= since; ++i) {
        out[i] = product(key(i), key(since));
        out[grid + i] = product(key(i), query);
      }
    }
  }
}

namespace {

/// One value head over the rows of a sequence.
class HeadRecurrence {
 public:
  HeadRecurrence(const call::Recur& call, std::size_t head, Rounding rounding)
      : call_(call), head_(head), dim_(call.dim), rounding_(rounding) {}

  void run(const StateText& text) {
    const std::span<const StateRow> rows = rows_of(call_.plan);
    int next = text.first_step;
    for (int r = text.first_row; r < text.first_row + text.rows; ++r) {
      const StateRow& of = rows[static_cast<std::size_t>(r)];
      while (next <= of.step) advance(next++);
      compute_row(of, static_cast<std::size_t>(r));
    }
    while (next < text.first_step + text.steps) advance(next++);
  }

 private:
  /// Returns a head's matrix in a state; empty if there is none.
  std::span<float> matrix(const StateAt& state) const {
    if (state.place < 0) return {};
    const std::size_t numbers = dim_ * dim_, first = state.in_frame != 0 ? call_.states.frame_state : 0;
    return numbers_behind(call_.states, state.place, first + head_ * numbers, numbers);
  }
  std::span<float> values(StatePlace token) const {
    return numbers_behind(call_.states, token, call_.states.values + head_ * dim_, dim_);
  }
  std::span<const float> key(StatePlace token) const {
    return numbers_behind(call_.states, token, call_.states.keys + head_ % call_.key_heads * dim_, dim_);
  }

  /// Returns the cumulative sums of the tokens' decays.
  std::array<float, grid> decays(std::span<const StatePlace> tokens) const {
    std::array<float, grid> sums = {};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const float own = numbers_behind(call_.states, tokens[i], call_.states.decays + head_, 1)[0];
      sums[i] = i == 0 ? own : sums[i - 1] + own;
    }
    return sums;
  }

  /// Computes a state from the previous one, if this pass does so.
  void advance(int index) const {
    const StateStep& step = steps_of(call_.plan)[static_cast<std::size_t>(index)];
    if (step.is_new == 0) return;
    const std::array<float, grid> sums = decays(step.tokens);
    const float total = sums.back(), whole = exp_of_negative(total, rounding_);
    const std::span<float> out = matrix(step.at), before = matrix(step.before);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = before.empty() ? 0.0f : whole * before[i];
    for (std::size_t a = 0; a < grid; ++a) {
      const float factor = exp_of_negative(total - sums[a], rounding_);
      const std::span<const float> k = key(step.tokens[a]), u = values(step.tokens[a]);
      for (std::size_t i = 0; i < dim_; ++i) {
        for (std::size_t j = 0; j < dim_; ++j) out[i * dim_ + j] += factor * u[j] * k[i];
      }
    }
  }

  void compute_row(const StateRow& of, std::size_t r) const {
    const auto since = static_cast<std::size_t>(of.since);
    const std::size_t key_head = head_ % call_.key_heads, at = (r * call_.key_heads + key_head) * 2 * grid;
    const float* const products =
        numbers_at<const float>(call_.products.behind(at * sizeof(float)), 2 * grid);
    const std::span<const StatePlace> tokens = std::span(of.path).subspan(grid, since + 1);
    const std::array<float, grid> sums = decays(tokens);
    std::array<float, grid> factors = {};
    for (std::size_t a = 0; a < since; ++a) factors[a] = exp_of_negative(sums[since] - sums[a], rounding_);
    const float whole = exp_of_negative(sums[since], rounding_);
    const float beta = sigmoid(row(call_.beta, r, call_.value_heads)[head_], rounding_);
    const std::span<const float> x = row(call_.x, r, (2 * call_.key_heads + call_.value_heads) * dim_);
    const std::span<const float> q = x.subspan(key_head * dim_, dim_), k = key(tokens[since]),
                                 v = x.subspan((2 * call_.key_heads + head_) * dim_, dim_);
    const std::span<const float> state = matrix(of.state);
    const std::span<float> out = row(call_.out, r, call_.value_heads * dim_).subspan(head_ * dim_, dim_);
    for (std::size_t j = 0; j < dim_; ++j) {
      float u = v[j], o = 0;
      if (!state.empty()) {
        const auto times = [&](std::span<const float> y) {
          return sum_side_by_side(running, dim_, [&](std::size_t i) { return state[i * dim_ + j] * y[i]; });
        };
        u = u - whole * times(k);
        o = whole * times(q);
      }
      for (std::size_t a = 0; a < since; ++a) {
        const float added = values(tokens[a])[j];
        u = u - factors[a] * products[a] * added;
        o = o + factors[a] * products[grid + a] * added;
      }
      u = u * beta;
      values(tokens[since])[j] = u;
      out[j] = o + products[grid + since] * u;
    }
  }

  const call::Recur& call_;
  std::size_t head_, dim_;
  Rounding rounding_;
};

}  // namespace

void compute(const call::Recur& call, Rounding rounding) {
  const std::size_t count = call.plan.text_count;
  for (const StateText& text : std::span(numbers_at<const StateText>(call.plan.texts, count), count)) {
    for (std::size_t head = 0; head < call.value_heads; ++head)
      HeadRecurrence(call, head, rounding).run(text);
  }
}

}  // namespace spectr::twin

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "spectr/backend/device/extra_token.h"
#include "tests/twins/twin_computes.h"

namespace spectr::twin {

void compute(const call::Spread& call, Rounding) {
  const int* const columns = numbers_at<const int>(call.columns, call.cols);
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<float> out = row(call.out, r, call.cols);
    for (std::size_t j = 0; j < call.cols; ++j) {
      const int column = columns[j];
      out[j] = column < 0 ? -std::numeric_limits<float>::infinity()
                          : row(call.some, r, static_cast<std::size_t>(column) + 1).back();
    }
  }
}

void compute(const call::ExtraTokenLogits& call, Rounding rounding) {
  const std::span words(numbers_at<const ExtraToken>(call.words, call.count), call.count);
  for (const ExtraToken& word : words) {
    if (word.token < 0) continue;
    const auto r = static_cast<std::size_t>(word.row), place = static_cast<std::size_t>(word.place);
    const std::span<const float> weights = row(call.weights, place, call.cols + 1);
    float logit = float_product(TensorType::f32, std::as_bytes(weights.first(call.cols)), 1,
                                row(call.x, r, call.cols), 1)
                      .front();
    logit += weights.back();
    logit *= call.scale;
    row(call.out, r, static_cast<std::size_t>(word.token) + 1).back() =
        call.cap > 0 ? soft_cap(logit, call.cap, rounding) : logit;
  }
}

namespace {

void find_best(std::span<const float> all, std::size_t first, std::span<call::Best> best) {
  // NaN and infinity precede all others.
  const auto key = [&](std::int32_t token) {
    const float x = all[static_cast<std::size_t>(token)];
    return x < std::numeric_limits<float>::infinity() ? x : std::numeric_limits<float>::infinity();
  };
  std::vector<std::int32_t> tokens;
  for (std::size_t i = first; i < std::min(all.size(), first + call::segment); ++i)
    tokens.push_back(static_cast<std::int32_t>(i));
  std::ranges::sort(
      tokens, [&](std::int32_t a, std::int32_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  for (std::size_t i = 0; i < best.size(); ++i) {
    best[i] = i < tokens.size() ? call::Best{all[static_cast<std::size_t>(tokens[i])], tokens[i]}
                                : call::Best{0, -1};
  }
}

}  // namespace

void compute(const call::Top& call, Rounding) {
  std::size_t part = 0;
  for (std::size_t r = 0; r < call.rows; ++r) {
    for (std::size_t first = 0; first < call.size; first += call::segment, ++part) {
      const Slice out = call.out.behind(part * call.k * sizeof(call::Best));
      find_best(row(call.x, r, call.size), first, {numbers_at<call::Best>(out, call.k), call.k});
    }
  }
}

void compute(const call::SumExp& call, Rounding rounding) {
  std::size_t part = 0;
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<const float> all = row(call.x, r, call.size);
    for (std::size_t first = 0; first < call.size; first += call::segment, ++part) {
      const std::span<const float> x = all.subspan(first, std::min(call::segment, call.size - first));
      float most = -std::numeric_limits<float>::infinity();
      for (const float one : x) most = std::fmax(most, one);
      std::vector<float> terms(call::segment);
      for (std::size_t i = 0; i < x.size(); ++i) {
        // Terms of −∞ are 0, even if all are −∞.
        terms[i] = x[i] == -std::numeric_limits<float>::infinity()
                       ? 0.0f
                       : exp_of_negative(call.factor * (x[i] - most), rounding);
      }
      float* const out = numbers_at<float>(call.out.behind(part * 2 * sizeof(float)), 2);
      out[0] = most;
      out[1] = sum_as_tree(std::move(terms));
    }
  }
}

}  // namespace spectr::twin

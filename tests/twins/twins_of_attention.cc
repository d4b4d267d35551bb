#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "spectr/gguf/f16.h"
#include "tests/twins/twins.h"

namespace spectr::twin {
namespace {

constexpr std::size_t chunk = 64, attention_running = 8;
constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

AttendedChunk attend_to_chunk(std::span<const float> q, std::span<const float> keys,
                              std::span<const float> values, float cap, Rounding rounding) {
  const std::size_t dim = q.size(), count = keys.size() / dim, value_dim = values.size() / count;
  AttendedChunk out{.most = -infinity, .sum = 0, .values = std::vector<float>(value_dim)};
  std::array<float, chunk> weights;
  weights.fill(-infinity);
  for (std::size_t i = 0; i < count; ++i) {
    float score = 0;
    for (std::size_t d = 0; d < dim; ++d) score = multiply_add(q[d], keys[i * dim + d], score, rounding);
    weights[i] = cap > 0 ? soft_cap(score, cap, rounding) : score;
    out.most = std::fmax(out.most, weights[i]);
  }
  for (float& weight : weights) weight = exp_of_negative(weight - out.most, rounding);
  std::vector<float> pairs(chunk / 2);  // first a lane's two slots, then across lanes
  for (std::size_t i = 0; i < chunk / 2; ++i) pairs[i] = weights[i] + weights[i + chunk / 2];
  out.sum = sum_as_tree(std::move(pairs));
  for (std::size_t i = 0; i < chunk; ++i) {
    for (std::size_t d = 0; d < value_dim; ++d) {
      out.values[d] =
          multiply_add(weights[i], i < count ? values[i * value_dim + d] : 0.0f, out.values[d], rounding);
    }
  }
  return out;
}

std::vector<float> merge(std::span<const AttendedChunk> chunks, std::optional<float> sink,
                         Rounding rounding) {
  float most = sink.value_or(-infinity);
  for (const AttendedChunk& one : chunks) most = std::fmax(most, one.most);
  const std::size_t dim = chunks.front().values.size();
  std::vector<float> sums(attention_running), out(dim);
  std::vector<std::vector<float>> values(dim, sums);
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const float factor = exp_of_negative(chunks[c].most - most, rounding);
    float& sum = sums[c % attention_running];
    sum = multiply_add(factor, chunks[c].sum, sum, rounding);
    for (std::size_t d = 0; d < dim; ++d) {
      float& value = values[d][c % attention_running];
      value = multiply_add(factor, chunks[c].values[d], value, rounding);
    }
  }
  float sum = sum_as_tree(std::move(sums));
  if (sink) sum += exp_of_negative(*sink - most, rounding);
  const float factor = 1.0f / sum;
  for (std::size_t d = 0; d < dim; ++d) out[d] = sum_as_tree(std::move(values[d])) * factor;
  return out;
}

std::vector<float> attend(std::span<const float> q, const AttendedSlots& slots) {
  const auto floats = [&](const std::vector<std::uint16_t>& halves, std::size_t first) {
    std::vector<float> numbers;
    const std::size_t end = std::min(halves.size(), (first + chunk) * slots.dim);
    for (std::size_t i = first * slots.dim; i < end; ++i) numbers.push_back(f16_to_float(halves[i]));
    return numbers;
  };
  std::vector<AttendedChunk> chunks;
  for (std::size_t first = 0; first < slots.keys.size() / slots.dim; first += chunk) {
    chunks.push_back(attend_to_chunk(q, floats(slots.keys, first), floats(slots.values, first), 0));
  }
  return merge(chunks);
}

}  // namespace spectr::twin

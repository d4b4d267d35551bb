#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/random_tensor.h"

// Kernel calls of mixtures of experts, whose results are returned as bits.
namespace spectr::test {

/// Settings of expert selection, and its inputs.
struct Choosing {
  ExpertsSpec::Gating gating;
  bool normalized = false;
  std::size_t experts = 8, used = 2, groups = 1, groups_used = 1;
  bool has_bias = false, has_scales = false;
  float weights_scale = 1;
  std::size_t rows = 3;

  /// Returns [rows, experts] router outputs; some rows have many ties.
  std::vector<float> z() const {
    std::vector<float> z = random_floats(rows * experts, 1);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = i / experts % 2 == 1 ? std::round(z[i]) : 3 * z[i];
    return z;
  }
  std::vector<float> bias() const { return random_floats(experts, 2); }
  std::vector<float> scales() const { return random_floats(experts, 3); }
};

/// Returns settings of every kind: one expert, all of them, more than lanes, groups of one and of many.
inline std::vector<Choosing> all_choosing() {
  using Gating = ExpertsSpec::Gating;
  std::vector<Choosing> all;
  for (const auto gating : {Gating::softmax, Gating::sigmoid, Gating::softmax_of_chosen}) {
    for (const bool normalized : {false, true}) {
      all.push_back({.gating = gating, .normalized = normalized});
      all.push_back({.gating = gating, .normalized = normalized, .experts = 1, .used = 1});
      all.push_back(
          {.gating = gating, .normalized = normalized, .experts = 5, .used = 5, .has_scales = true});
      all.push_back({.gating = gating, .normalized = normalized, .experts = 33, .used = 4, .has_bias = true});
      all.push_back({.gating = gating,
                     .normalized = normalized,
                     .experts = 160,
                     .used = 6,
                     .groups = 8,
                     .groups_used = 3,
                     .has_bias = true,
                     .weights_scale = 2.5f});
      all.push_back({.gating = gating,
                     .normalized = normalized,
                     .experts = 40,
                     .used = 3,
                     .groups = 40,
                     .groups_used = 3});
    }
  }
  return all;
}

/// The output of ChooseExperts: experts, then weights.
struct Chosen {
  std::vector<int> experts;
  std::vector<float> weights;
};
inline Chosen choose(Device& on, const Choosing& how, const std::vector<float>& z) {
  const std::size_t slots = how.rows * how.used;
  const Numbers in = send(on, z), bias = send(on, how.bias()), scales = send(on, how.scales()),
                chosen = zeros(on, slots * 4), weights = zeros(on, slots * 4);
  run(on, call::ChooseExperts{.gating = how.gating,
                              .normalized = how.normalized,
                              .weights_scale = how.weights_scale,
                              .z = in.rows(how.experts),
                              .bias = how.has_bias ? bias.at() : Slice(),
                              .scales = how.has_scales ? scales.at() : Slice(),
                              .rows = how.rows,
                              .experts = how.experts,
                              .used = how.used,
                              .groups = how.groups,
                              .groups_used = how.groups_used,
                              .chosen = chosen.at(),
                              .weights = weights.at()});
  return {fetch<int>(on, chosen), fetch<float>(on, weights)};
}
inline std::vector<std::uint32_t> bits_of(const Chosen& chosen) {
  std::vector<std::uint32_t> all(chosen.experts.begin(), chosen.experts.end());
  for (const float weight : chosen.weights) all.push_back(std::bit_cast<std::uint32_t>(weight));
  return all;
}

/// Rows, each with `used` distinct experts out of `experts`. The device has `blocks` of
/// them, starting with number `first`.
struct Mixture {
  std::size_t rows, used, experts, first, blocks;

  std::size_t slots() const { return rows * used; }
  std::vector<int> chosen() const {
    std::vector<int> all, chosen;
    for (std::size_t e = 0; e < experts; ++e) all.push_back(static_cast<int>(e));
    std::mt19937 random(1);
    for (std::size_t r = 0; r < rows; ++r) {
      std::ranges::shuffle(all, random);
      chosen.insert(chosen.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(used));
    }
    return chosen;
  }
  call::Choices choices(const Numbers& chosen) const { return {chosen.at(), slots(), first, blocks}; }
  call::ExpertLists lists(const Slice& at) const { return {at, std::min(slots(), blocks), slots()}; }
};

/// Returns the output of GroupExperts.
inline Numbers lists_of(Device& on, const Mixture& of) {
  const Numbers chosen = send(on, of.chosen());
  Numbers lists = zeros(on, of.lists({}).bytes());
  run(on, call::GroupExperts{of.choices(chosen), of.lists(lists.at())});
  return lists;
}

/// The matrices of the blocks, each from a file of its own.
struct ExpertMatrices {
  TensorType type;
  std::size_t rows, cols;
  std::vector<std::vector<std::byte>> files;
  std::vector<std::uint8_t> codes = {};
  std::vector<std::uint32_t> scales = {}, factors = {};

  ExpertMatrices(TensorType of, std::size_t height, std::size_t width, std::size_t blocks)
      : type(of), rows(height), cols(width) {
    for (std::size_t e = 0; e < blocks; ++e) {
      files.push_back(random_tensor(type, rows, cols, static_cast<std::uint32_t>(e)));
      WeightPanels panels;
      if (has_device_layout(type)) {
        panels = pack_for_device(type, rows, cols, files.back());
      } else {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(files.back().data());
        panels.codes.assign(bytes, bytes + files.back().size());
      }
      codes.insert(codes.end(), panels.codes.begin(), panels.codes.end());
      scales.insert(scales.end(), panels.scales.begin(), panels.scales.end());
      factors.insert(factors.end(), panels.factors.begin(), panels.factors.end());
    }
  }
};

/// Returns y: [slots][rows of W + 3], with 7 where nothing is written. `sharers` slots share a row of x.
inline std::vector<float> expert_product(Device& on, const Mixture& of, const ExpertMatrices& matrices,
                                         std::size_t sharers, const std::vector<float>& x) {
  const Numbers lists = lists_of(on, of), codes = send(on, matrices.codes);
  const std::size_t rows = of.slots() / sharers, stride = matrices.rows + 3;
  const Numbers y = send(on, std::vector<float>(of.slots() * stride, 7.0f)), in = send(on, x);
  call::ExpertWeights weights{{matrices.type, matrices.rows, matrices.cols, codes.at()}, of.blocks};
  if (!quant_layout(matrices.type)) {
    run(on, call::ExpertFloatProduct{weights, of.lists(lists.at()), in.rows(matrices.cols), sharers,
                                     y.rows(stride)});
    return fetch<float>(on, y);
  }
  const Numbers scales = send(on, matrices.scales);
  Numbers factors;
  weights.each.scales = scales.at();
  if (!matrices.factors.empty()) {
    factors = send(on, matrices.factors);
    weights.each.factors = factors.at();
  }
  const QuantizedLayout layout{rows, matrices.cols};
  const Numbers quantized = zeros(on, layout.bytes());
  run(on, call::Quantize{in.rows(matrices.cols), rows, matrices.cols, {quantized.at(), layout}});
  run(on,
      call::ExpertProduct{weights, of.lists(lists.at()), {quantized.at(), layout}, sharers, y.rows(stride)});
  return fetch<float>(on, y);
}

/// Adds a vector of its block to each slot of `in`, and returns the weighted sums of rows.
inline std::vector<float> combined(Device& on, const Mixture& of, std::size_t cols) {
  const Numbers chosen = send(on, of.chosen()), in = send(on, random_floats(of.slots() * cols, 1)),
                vectors = send(on, random_floats(of.blocks * cols, 2)),
                weights = send(on, random_floats(of.slots(), 3)), out = zeros(on, of.rows * cols * 4);
  run(on, call::AddChosen{of.choices(chosen), in.rows(cols), vectors.at(), cols});
  run(on, call::Combine{of.choices(chosen), weights.at(), in.rows(cols), out.rows(cols), of.rows, cols});
  return fetch<float>(on, out);
}

inline std::vector<std::uint32_t> bits_of(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> all;
  for (const float number : numbers) all.push_back(std::bit_cast<std::uint32_t>(number));
  return all;
}

}  // namespace spectr::test

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/tensor_type.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/random_tensor.h"

// Products with one matrix per head, for tests of devices.
namespace spectr::test {

struct HeadProductCase {
  TensorType type;
  std::size_t heads, rows, cols, n;
};

inline std::string text_of(const HeadProductCase& c) {
  return std::string(format_of(c.type).name) + ", " + std::to_string(c.heads) + " heads [" +
         std::to_string(c.rows) + ", " + std::to_string(c.cols) + "], " + std::to_string(c.n) + " rows";
}

inline std::vector<HeadProductCase> head_product_cases() {
  std::vector<HeadProductCase> all;
  for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::bf16}) {
    all.push_back({type, 3, 21, 24, 2});
    all.push_back({type, 2, 16, 130, 9});
  }
  for (const TensorType type : device_layouts()) {
    const std::size_t cols = round_up(96, format_of(type).elements);
    all.push_back({type, 2, 21, cols, type == TensorType::q8_0 ? std::size_t{70} : 2});
  }
  return all;
}

/// The strides of heads are 8 numbers larger than their width in x, and 5 in y.
inline std::vector<std::uint32_t> head_product_bits(Device& device, const HeadProductCase& c) {
  const bool is_float = !quant_layout(c.type).has_value();
  const std::size_t x_head_stride = c.cols + 8, y_head_stride = c.rows + 5, x_cols = c.heads * x_head_stride,
                    y_cols = c.heads * y_head_stride;
  std::vector<std::byte> weights, scales, factors;  // heads are concatenated
  for (std::size_t h = 0; h < c.heads; ++h) {
    const std::vector<std::byte> file = random_tensor(c.type, c.rows, c.cols, static_cast<std::uint32_t>(h));
    const auto append = [](std::vector<std::byte>& to, const auto& numbers) {
      const auto bytes = std::as_bytes(std::span(numbers));
      to.insert(to.end(), bytes.begin(), bytes.end());
    };
    if (is_float) {
      append(weights, file);
      continue;
    }
    const WeightPanels panels = pack_for_device(c.type, c.rows, c.cols, file);
    append(weights, panels.codes);
    append(scales, panels.scales);
    append(factors, panels.factors);
  }
  const Numbers w = send(device, weights), x = send(device, random_floats(c.n * x_cols, 7)),
                y = send(device, std::vector<float>(c.n * y_cols, 7.0f));
  if (is_float) {
    run(device,
        call::FloatHeadProducts{{{c.type, c.rows, c.cols, w.at()}, x.rows(x_cols), y.rows(y_cols), c.n},
                                c.heads,
                                x_head_stride * sizeof(float),
                                y_head_stride * sizeof(float)});
    return bits(device, y);
  }
  const QuantizedLayout of_x{c.n, c.cols};
  const Numbers quantized = zeros(device, c.heads * of_x.bytes());
  const Numbers s = send(device, scales), f = send(device, factors);
  const call::Weights first{c.type, c.rows, c.cols, w.at(), s.at(), factors.empty() ? Slice() : f.at()};
  run(device,
      call::QuantizeHeads{
          {x.rows(x_cols), c.n, c.cols, {quantized.at(), of_x}}, c.heads, x_head_stride * sizeof(float)});
  run(device,
      call::HeadProducts{
          {{quantized.at(), of_x}, c.n, {{first, y.rows(y_cols)}}}, c.heads, y_head_stride * sizeof(float)});
  std::vector<std::uint32_t> all = bits(device, y);
  const std::vector<std::uint32_t> more = bits(device, quantized);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline constexpr std::size_t copied_rows = 3;

/// Copies three numbers of each of 15 heads.
inline std::vector<float> copied_heads(Device& device) {
  const Numbers from = send(device, random_floats(copied_rows * 200, 1)),
                to = zeros(device, copied_rows * 200 * sizeof(float));
  run(device, call::Copy{.to = {to.at().behind(8), 200},
                         .from = {from.at().behind(4), 200},
                         .rows = copied_rows,
                         .cols = 3,
                         .heads = 15,
                         .to_head_stride = 7,
                         .from_head_stride = 11});
  return fetch<float>(device, to);
}
inline std::vector<float> copied_heads_as_defined() {
  const std::vector<float> from = random_floats(copied_rows * 200, 1);
  std::vector<float> to(from.size());
  for (std::size_t r = 0; r < copied_rows; ++r) {
    for (std::size_t h = 0; h < 15; ++h) {
      for (std::size_t j = 0; j < 3; ++j) to[200 * r + 2 + 7 * h + j] = from[200 * r + 1 + 11 * h + j];
    }
  }
  return to;
}

}  // namespace spectr::test

#include "tests/twins/twin_calls.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/gguf/tensor_type.h"
#include "tests/twins/twin_computes.h"

namespace spectr::twin {

namespace {
constexpr std::align_val_t alignment{256};
}  // namespace

HostMemory::HostMemory(std::size_t bytes)
    : DeviceMemory(bytes),
      data_(static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), alignment))) {
  std::memset(data_, 0xFF, bytes);  // unwritten memory reads as NaN
}

HostMemory::~HostMemory() {
  ::operator delete(data_, alignment);
}

void quantize_rows(const call::Rows& in, const call::QuantizedRows& out) {
  if (!out.at) return;
  const QuantizedLayout& layout = out.layout;
  SPECTR_CHECK(out.at.offset + layout.bytes() <= out.at.memory->bytes());
  for (std::size_t slab = 0; slab < layout.slabs(); ++slab) {
    std::vector<float> x;
    for (std::size_t r = 0; r < layout.rows_of(slab); ++r) {
      const std::span<const float> one = row(in, slab * QuantizedLayout::slab_rows + r, layout.cols);
      x.insert(x.end(), one.begin(), one.end());
    }
    const ArrangedRows arranged = arrange(quantize(x, layout.rows_of(slab)), layout.tiles());
    std::ranges::copy(arranged.codes, numbers_at<std::uint32_t>(out.at.behind(layout.codes_of(slab))));
    std::ranges::copy(arranged.scales, numbers_at<float>(out.at.behind(layout.scales_of(slab))));
    std::ranges::copy(arranged.sums, numbers_at<float>(out.at.behind(layout.sums_of(slab))));
  }
}

void compute(const call::Copy& call, Rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    for (std::size_t h = 0; h < call.heads; ++h) {
      const call::Rows from{call.from.at.behind(h * call.from_head_stride * sizeof(float)), call.from.stride},
          to{call.to.at.behind(h * call.to_head_stride * sizeof(float)), call.to.stride};
      std::ranges::copy(row(from, r, call.cols), row(to, r, call.cols).begin());
    }
  }
}

void compute(const call::Add& call, Rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<float> to = row(call.to, r, call.cols), from = row(call.from, r, call.cols);
    for (std::size_t j = 0; j < call.cols; ++j) to[j] += from[j];
  }
}

void compute(const call::Scale& call, Rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    for (float& x : row(call.x, r, call.cols)) x *= call.factor;
  }
}

void compute(const call::Cap& call, Rounding rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    for (float& x : row(call.x, r, call.cols)) x = soft_cap(x, call.cap, rounding);
  }
}

void compute(const call::Gate& call, Rounding rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<float> x = row(call.x, r, call.cols), by = row(call.by, r, call.gates);
    for (std::size_t j = 0; j < call.cols; ++j) x[j] *= sigmoid(by[call.gates == 1 ? 0 : j], rounding);
  }
}

void compute(const call::Norm& call, Rounding) {
  const std::span<const float> weight = vector(call.weight, call.cols), bias = vector(call.bias, call.cols);
  const bool is_rms = call.kind == NormSpec::Kind::rms;
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::size_t from =
        call.picked ? static_cast<std::size_t>(numbers_at<const int>(call.picked, call.rows)[r]) : r;
    const std::span<float> in = row(call.in, from, call.groups * call.cols);
    const std::span<float> out = row(call.out, r, call.groups * call.cols);
    if (call.added.at) {
      const std::span<const float> added = row(call.added, r, call.groups * call.cols);
      for (std::size_t j = 0; j < in.size(); ++j) in[j] += added[j];
    }
    for (std::size_t g = 0; g < call.groups; ++g) {
      const std::span<const float> x = in.subspan(g * call.cols, call.cols);
      const std::vector<float> y =
          is_rms ? rms_norm(x, weight, call.epsilon) : layer_norm(x, weight, bias, call.epsilon);
      std::ranges::copy(y, out.subspan(g * call.cols).begin());
    }
  }
  quantize_rows(call.out, call.quantized);
}

void compute(const call::Quantize& call, Rounding) {
  quantize_rows(call.in, call.quantized);
}

QuantizedRows rows_of_slab(const call::QuantizedRows& rows, std::size_t slab) {
  const QuantizedLayout& layout = rows.layout;
  const std::size_t tiles = layout.blocks() * layout.tiles();
  return take_apart(
      {numbers_at<const std::uint32_t>(rows.at.behind(layout.codes_of(slab)), tiles * 128), tiles * 128},
      {numbers_at<const float>(rows.at.behind(layout.scales_of(slab)), tiles * 16), tiles * 16},
      layout.rows_of(slab), layout.tiles());
}

namespace {

void copy_product(const std::vector<float>& y, const call::Rows& to, std::size_t first, std::size_t n) {
  const std::size_t cols = y.size() / n;
  for (std::size_t r = 0; r < n; ++r)
    std::ranges::copy(std::span(y).subspan(r * cols, cols), row(to, first + r, cols).begin());
}

}  // namespace

std::vector<float> product(const call::Weights& weights, const QuantizedRows& x) {
  const PackedWeights packed{numbers_at<const std::uint8_t>(weights.codes),
                             numbers_at<const std::uint32_t>(weights.scales),
                             weights.factors ? numbers_at<const std::uint32_t>(weights.factors) : nullptr};
  return product(weights.type, packed, weights.rows, weights.cols, x);
}

std::vector<float> float_product(const call::Weights& weights, std::span<const float> x, std::size_t n) {
  const std::size_t bytes = weights.rows * weights.cols * format_of(weights.type).bytes;
  const std::span file(numbers_at<const std::byte>(weights.codes, bytes), bytes);
  return float_product(weights.type, file, weights.rows, x, n);
}

namespace {

void compute_target(const call::Product& call, const call::Product::Target& target) {
  for (std::size_t slab = 0; slab < call.x.layout.slabs(); ++slab) {
    const QuantizedRows x = rows_of_slab(call.x, slab);
    copy_product(product(target.weights, x), target.y, slab * QuantizedLayout::slab_rows, x.n);
  }
}

}  // namespace

void compute(const call::Product& call, Rounding) {
  for (const call::Product::Target& target : call.targets) compute_target(call, target);
}

void compute(const call::FloatProduct& call, Rounding) {
  std::vector<float> x;
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<const float> one = row(call.x, r, call.weights.cols);
    x.insert(x.end(), one.begin(), one.end());
  }
  copy_product(float_product(call.weights, x, call.rows), call.y, 0, call.rows);
}

void compute(const call::QuantizeHeads& call, Rounding rounding) {
  for (std::size_t h = 0; h < call.heads; ++h) {
    call::Quantize one = call.first;
    one.in.at = one.in.at.behind(h * call.in_head_stride);
    one.quantized.at = one.quantized.at.behind(h * call.out_head_stride());
    compute(one, rounding);
  }
}

void compute(const call::HeadProducts& call, Rounding rounding) {
  for (std::size_t h = 0; h < call.heads; ++h) {
    call::Product one = call.first;
    auto& [weights, y] = one.targets.front();
    const PanelLayout layout(weights.type, weights.rows, weights.cols);
    weights.codes = weights.codes.behind(h * layout.code_bytes);
    weights.scales = weights.scales.behind(h * layout.scale_bytes);
    if (weights.factors) weights.factors = weights.factors.behind(h * layout.factor_bytes);
    one.x.at = one.x.at.behind(h * call.x_head_stride());
    y.at = y.at.behind(h * call.y_head_stride);
    compute(one, rounding);
  }
}

void compute(const call::FloatHeadProducts& call, Rounding rounding) {
  for (std::size_t h = 0; h < call.heads; ++h) {
    call::FloatProduct one = call.first;
    one.weights.codes =
        one.weights.codes.behind(h * one.weights.rows * one.weights.cols * format_of(one.weights.type).bytes);
    one.x.at = one.x.at.behind(h * call.x_head_stride);
    one.y.at = one.y.at.behind(h * call.y_head_stride);
    compute(one, rounding);
  }
}

void compute(const call::Activate& call, Rounding rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<const float> up = row(call.up, r, call.cols);
    const std::span<float> out = row(call.out, r, call.cols);
    for (std::size_t j = 0; j < call.cols; ++j) {
      out[j] = call.has_gate
                   ? activate(call.activation, call.clamp, row(call.gate, r, call.cols)[j], up[j], rounding)
                   : activate(call.activation, call.clamp, up[j], 1.0f, rounding);
    }
  }
  quantize_rows(call.out, call.quantized);
}

void run(const call::AnyCall& call, Rounding rounding) {
  std::visit([rounding](const auto& one) { compute(one, rounding); }, call.get());
}

}  // namespace spectr::twin

#include "spectr/backend/cuda/launch.h"

#include "spectr/backend/cuda/lowering.h"
#include "spectr/backend/device/attention_rows.h"

namespace spectr::cuda {

QuantizedRows Lowering::quantized(const call::QuantizedRows& rows) const {
  if (!rows.at) return {nullptr, nullptr, nullptr, 0, 0};
  const QuantizedLayout& layout = rows.layout;
  return {at<std::uint8_t>(rows.at.behind(layout.codes_of(0))),
          at<float>(rows.at.behind(layout.scales_of(0))), at<float>(rows.at.behind(layout.sums_of(0))),
          as_int(layout.tiles()), as_long(layout.codes_of(1))};
}

void Lowering::operator()(const call::Move& c) {
  const Move p{at<std::uint8_t>(c.pool), as_long(c.block_bytes), at<const MoveLine>(c.lines),
               as_int(c.line_count),     at<const int>(c.count), at<const PoolSlot>(c.moves)};
  add("move", div_up(c.line_count, 128), 1, 128, p);
}

void Lowering::operator()(const call::Copy& c) {
  const Copy p{written(c.to),
               matrix(c.from),
               as_int(c.cols),
               as_int(c.heads),
               as_long(c.to_head_stride),
               as_long(c.from_head_stride)};
  add_rows("copy", c.rows, c.heads * c.cols, p);
}

void Lowering::operator()(const call::Add& c) {
  add_rows("add", c.rows, c.cols, Add{matrix(c.to), matrix(c.from), as_int(c.cols)});
}

void Lowering::operator()(const call::Scale& c) {
  add_rows("scale", c.rows, c.cols, Scale{matrix(c.x), as_int(c.cols), c.factor});
}

void Lowering::operator()(const call::Cap& c) {
  add_rows("cap", c.rows, c.cols, Cap{matrix(c.x), as_int(c.cols), c.cap});
}

void Lowering::operator()(const call::Gate& c) {
  add_rows("gate", c.rows, c.cols, Gate{matrix(c.x), matrix(c.by), as_int(c.cols), as_int(c.gates)});
}

void Lowering::operator()(const call::Quantize& c) {
  add_rows("quantize", c.rows, c.cols, Quantize{matrix(c.in), as_int(c.cols), quantized(c.quantized)});
}

void Lowering::operator()(const call::Activate& c) {
  const Matrix gate = sum(c.gate), up = sum(c.up);
  const Activate p{.gate = gate,
                   .up = up,
                   .out = written(c.out),
                   .cols = as_int(c.cols),
                   .kind = static_cast<int>(c.activation),
                   .clamp = c.clamp,
                   .has_gate = c.has_gate,
                   .quantized = quantized(c.quantized)};
  add_rows("activate", c.rows, c.cols, p);
}

void Lowering::operator()(const call::Norm& c) {
  const bool is_rms = c.kind == NormSpec::Kind::rms;
  const float part_of_mean = 1.0f / static_cast<float>(c.cols);
  const Matrix in = sum(c.in), added = sum(c.added), out = written(c.out);
  const bool in_place = c.in.at == c.out.at && c.in.stride == c.out.stride && !c.picked;
  if (is_rms && in_place && !c.added.at && !c.quantized.at && c.cols <= 128) {
    const HeadNorm p{in,          at<const float>(c.weight), as_int(c.groups), as_int(c.cols), c.epsilon,
                     part_of_mean};
    return add("head_norm", c.rows, div_up(c.groups, 4), 128, p);
  }
  const Norm p{.in = in,
               .added = added,
               .out = out,
               .weight = at<const float>(c.weight),
               .bias = at<const float>(c.bias),
               .picked = at<const int>(c.picked),
               .cols = as_int(c.cols),
               .epsilon = c.epsilon,
               .part_of_mean = part_of_mean,
               .is_rms = is_rms,
               .quantized = quantized(c.quantized)};
  const std::size_t quads = div_up(c.cols, 2048);
  add(quads <= 1   ? "norm_1"
      : quads <= 2 ? "norm_2"
      : quads <= 4 ? "norm_4"
                   : "norm_16",
      c.rows, c.groups, 512, p);
}

void add_launches(std::span<const call::AnyCall> calls, const ProductPlans& plans,
                  const AddressOf& address_of, std::vector<Launch>& launches) {
  Lowering lowering(plans, address_of, launches);
  for (const call::AnyCall& call : calls) std::visit(lowering, call.get());
}

}  // namespace spectr::cuda

#include "spectr/backend/vulkan/dispatch.h"

#include <algorithm>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/vulkan/lowering.h"

namespace spectr::vulkan {
namespace {

constexpr std::uint32_t none = 0xffffffff;

double megabytes(std::size_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

/// Operations of elementwise.comp.
enum class Operation { copy, add, scale, cap, gate, activate };
std::uint32_t operation(Operation of, Activation activation = Activation::silu) {
  return static_cast<std::uint32_t>(of) + static_cast<std::uint32_t>(activation);
}
static_assert(static_cast<int>(Activation::silu) == 0 && static_cast<int>(Activation::gelu_tanh) == 1 &&
              static_cast<int>(Activation::relu) == 2 && static_cast<int>(Activation::clamped_silu) == 3);

bool overlap(const Binding& a, const Binding& b) {
  return a.at.memory == b.at.memory && a.at.offset < b.at.offset + b.bytes &&
         b.at.offset < a.at.offset + a.bytes;
}

}  // namespace

void Lowering::begin(Kernel kernel) {
  dispatches_.push_back({.kernel = kernel});
  dispatches_.back().bindings.resize(code_of(kernel).bindings);
}

void Lowering::end(std::vector<std::uint32_t> parameters, std::size_t groups_x, std::size_t groups_y) {
  SPECTR_CHECK(groups_x <= max_groups && groups_y <= max_groups);
  Dispatch& dispatch = dispatches_.back();
  dispatch.parameters = std::move(parameters);
  dispatch.groups_x = as_uint(groups_x);
  dispatch.groups_y = as_uint(groups_y);
}

std::uint32_t Lowering::bind(std::size_t which, const Slice& at, std::size_t bytes, bool writes,
                             std::size_t unit) {
  if (!at || bytes == 0) return none;
  SPECTR_CHECK(at.offset + bytes <= at.memory->bytes());
  const std::size_t behind = at.offset % limits_.alignment;
  SPECTR_CHECK(behind % unit == 0);
  const Binding binding{
      .at = {at.memory, at.offset - behind}, .bytes = round_up(behind + bytes, word), .writes = writes};
  if (binding.bytes > limits_.bytes) {
    state_ = error("a kernel takes {:.3g} MB of memory in one piece, and the device binds {:.3g} MB at most",
                   megabytes(binding.bytes), megabytes(limits_.bytes));
  }
  dispatches_.back().bindings[which] = binding;
  return as_uint(behind / unit);
}

void Lowering::add_quantized(std::size_t which, const call::QuantizedRows& rows,
                             std::vector<std::uint32_t>& parameters, std::size_t heads) {
  if (!rows.at) return;
  const QuantizedLayout& layout = rows.layout;
  const std::uint32_t at = writes(which, rows.at, heads * layout.bytes());
  for (const std::uint32_t one :
       {at, at + as_uint(layout.scales_of(0) / word), at + as_uint(layout.sums_of(0) / word),
        as_uint(layout.codes_of(1) / word), as_uint(layout.tiles())})
    parameters.push_back(one);
}

void Lowering::add_elementwise(std::uint32_t operation, const call::Rows& a, const call::Rows& b,
                               const call::Rows& out, std::size_t rows, std::size_t cols, float factor,
                               std::size_t gates, const call::QuantizedRows& quantized) {
  begin(quantized.at ? Kernel::elementwise_quantized : Kernel::elementwise);
  std::vector<std::uint32_t> p = {operation,           reads(0, a, rows, cols),
                                  as_uint(a.stride),   reads(1, b, rows, gates == 0 ? cols : gates),
                                  as_uint(b.stride),   writes(2, out, rows, cols),
                                  as_uint(out.stride), as_uint(cols),
                                  as_uint(gates),      as_uint(factor)};
  add_quantized(3, quantized, p);
  end(std::move(p), rows, div_up(cols, columns_of_group));
}

void Lowering::operator()(const call::Move& c) {
  begin(Kernel::move);
  const std::uint32_t pool = writes(0, c.pool, rest_of(c.pool));
  const std::uint32_t lines = reads(1, c.lines, c.line_count * sizeof(MoveLine), sizeof(MoveLine));
  // The count precedes the moves in the same memory.
  SPECTR_CHECK(c.moves.memory == c.count.memory && c.count.offset < c.moves.offset);
  const std::uint32_t count = reads(2, c.count, rest_of(c.count));
  const std::uint32_t moves = count + as_uint((c.moves.offset - c.count.offset) / word);
  end({pool, as_uint(c.block_bytes / word), lines, as_uint(c.line_count), count, moves},
      div_up(c.line_count, 128));
}

void Lowering::operator()(const call::Copy& c) {
  if (c.heads == 1) return add_elementwise(operation(Operation::copy), c.from, {}, c.to, c.rows, c.cols);
  begin(Kernel::copy_heads);
  end({reads(0, c.from, c.rows, (c.heads - 1) * c.from_head_stride + c.cols), as_uint(c.from.stride),
       as_uint(c.from_head_stride), writes(1, c.to, c.rows, (c.heads - 1) * c.to_head_stride + c.cols),
       as_uint(c.to.stride), as_uint(c.to_head_stride), as_uint(c.cols), as_uint(c.heads)},
      c.rows, div_up(c.heads * c.cols, 128));
}

void Lowering::operator()(const call::Add& c) {
  add_elementwise(operation(Operation::add), c.to, c.from, c.to, c.rows, c.cols);
}

void Lowering::operator()(const call::Scale& c) {
  add_elementwise(operation(Operation::scale), c.x, {}, c.x, c.rows, c.cols, c.factor);
}

void Lowering::operator()(const call::Cap& c) {
  add_elementwise(operation(Operation::cap), c.x, {}, c.x, c.rows, c.cols, c.cap);
}

void Lowering::operator()(const call::Gate& c) {
  add_elementwise(operation(Operation::gate), c.x, c.by, c.x, c.rows, c.cols, 0, c.gates);
}

void Lowering::operator()(const call::Activate& c) {
  add_elementwise(operation(Operation::activate, c.activation), c.has_gate ? c.gate : c.up,
                  c.has_gate ? c.up : call::Rows(), c.out, c.rows, c.cols, c.clamp, 0, c.quantized);
}

void Lowering::add_quantize(const call::Quantize& c, std::size_t heads, std::size_t in_head_stride) {
  const std::size_t groups = div_up(c.cols, columns_of_group);
  begin(Kernel::quantize);
  std::vector<std::uint32_t> p = {
      reads(0, c.in.at, (heads - 1) * in_head_stride + numbers_of(c.rows, c.cols, c.in.stride) * word),
      as_uint(c.in.stride),
      as_uint(c.cols),
      as_uint(groups),
      as_uint(in_head_stride / word),
      as_uint(c.quantized.layout.bytes() / word)};
  add_quantized(1, c.quantized, p, heads);
  end(std::move(p), c.rows, heads * groups);
}

void Lowering::operator()(const call::Quantize& c) {
  add_quantize(c, 1, 0);
}

void Lowering::operator()(const call::QuantizeHeads& c) {
  add_quantize(c.first, c.heads, c.in_head_stride);
}

void Lowering::operator()(const call::Norm& c) {
  const bool quantizes = static_cast<bool>(c.quantized.at);
  const std::size_t cols = c.groups * c.cols;
  begin(quantizes ? Kernel::norm_quantized : Kernel::norm);
  // Any row can be picked.
  const std::size_t bytes = c.picked ? rest_of(c.in.at) : numbers_of(c.rows, cols, c.in.stride) * word;
  // The kernel only writes its input if something is added, but validation layers see that it can.
  std::vector<std::uint32_t> p = {writes(0, c.in.at, bytes),
                                  as_uint(c.in.stride),
                                  reads(1, c.added, c.rows, cols),
                                  as_uint(c.added.stride),
                                  writes(2, c.out, c.rows, cols),
                                  as_uint(c.out.stride),
                                  reads(3, c.weight, c.cols * word),
                                  reads(4, c.bias, c.cols * word),
                                  reads(5, c.picked, c.rows * word),
                                  as_uint(c.cols),
                                  c.kind == NormSpec::Kind::rms ? 1u : 0u,
                                  as_uint(c.epsilon),
                                  as_uint(1.0f / static_cast<float>(c.cols))};
  add_quantized(6, c.quantized, p);
  end(std::move(p), c.rows, c.groups);
}

Result<void> add_dispatches(const call::AnyCall& call, const DispatchLimits& limits,
                            std::vector<Dispatch>& dispatches) {
  Lowering lowering(limits, dispatches);
  std::visit(lowering, call.get());
  return lowering.state();
}

bool Hazards::need_barrier(const Dispatch& dispatch) {
  const bool needs = std::ranges::any_of(dispatch.bindings, [&](const Binding& next) {
    return next.bytes > 0 && std::ranges::any_of(since_, [&](const Binding& before) {
             return (before.writes || next.writes) && overlap(before, next);
           });
  });
  if (needs) since_.clear();
  for (const Binding& one : dispatch.bindings) {
    if (one.bytes > 0) since_.push_back(one);
  }
  return needs;
}

}  // namespace spectr::vulkan

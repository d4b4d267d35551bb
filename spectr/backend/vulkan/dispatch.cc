#include "spectr/backend/vulkan/dispatch.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/weight_panels.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr::vulkan {
namespace {

constexpr std::uint32_t none = 0xffffffff;
constexpr std::size_t columns_of_group = 512, most_groups = 65535, word = 4;

std::uint32_t as_uint(std::size_t n) {
  return static_cast<std::uint32_t>(n);
}
std::uint32_t as_uint(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

double megabytes(std::size_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

/// What elementwise.comp does.
enum class Operation { copy, add, scale, cap, gate, activate };
std::uint32_t operation(Operation of, Activation activation = Activation::silu) {
  return static_cast<std::uint32_t>(of) + static_cast<std::uint32_t>(activation);
}
static_assert(static_cast<int>(Activation::silu) == 0 && static_cast<int>(Activation::gelu_tanh) == 1 &&
              static_cast<int>(Activation::relu) == 2 && static_cast<int>(Activation::clamped_silu) == 3);

/// Requires: has_device_layout(type).
Kernel product_of(TensorType type) {
  switch (type) {
    case TensorType::q8_0:
      return Kernel::product_q8_0;
    case TensorType::q5_0:
      return Kernel::product_q5_0;
    case TensorType::q4_0:
      return Kernel::product_q4_0;
    case TensorType::q6_k:
      return Kernel::product_q6_k;
    case TensorType::q5_k:
      return Kernel::product_q5_k;
    case TensorType::q4_k:
      return Kernel::product_q4_k;
    default:
      broken_contract("a format with panels");
  }
}

std::size_t numbers_of(std::size_t rows, std::size_t cols, std::size_t stride) {
  return (rows - 1) * stride + cols;
}

/// Makes the dispatches of calls.
class Lowering {
 public:
  Lowering(const BindingLimits& limits, std::vector<Dispatch>& dispatches)
      : limits_(limits), dispatches_(dispatches) {}

  const Result<void>& state() const { return state_; }

  void operator()(const call::Move& c) {
    begin(Kernel::move);
    const std::uint32_t pool = writes(0, c.pool, rest_of(c.pool));
    const std::uint32_t lines = reads(1, c.lines, c.line_count * sizeof(MoveLine), sizeof(MoveLine));
    // The count stands before the moves, in the same memory.
    SPECTR_CHECK(c.moves.memory == c.count.memory && c.count.offset < c.moves.offset);
    const std::uint32_t count = reads(2, c.count, rest_of(c.count));
    const std::uint32_t moves = count + as_uint((c.moves.offset - c.count.offset) / word);
    end({pool, as_uint(c.block_bytes / word), as_uint(c.number_bytes), lines, as_uint(c.line_count), count,
         moves},
        div_up(c.line_count, 128));
  }
  void operator()(const call::Copy& c) {
    add_elementwise(operation(Operation::copy), c.from, {}, c.to, c.rows, c.cols);
  }
  void operator()(const call::Add& c) {
    add_elementwise(operation(Operation::add), c.to, c.from, c.to, c.rows, c.cols);
  }
  void operator()(const call::Scale& c) {
    add_elementwise(operation(Operation::scale), c.x, {}, c.x, c.rows, c.cols, c.factor);
  }
  void operator()(const call::Cap& c) {
    add_elementwise(operation(Operation::cap), c.x, {}, c.x, c.rows, c.cols, c.cap);
  }
  void operator()(const call::Gate& c) {
    add_elementwise(operation(Operation::gate), c.x, c.by, c.x, c.rows, c.cols, 0, c.gates);
  }
  void operator()(const call::Activate& c) {
    add_elementwise(operation(Operation::activate, c.activation), c.has_gate ? c.gate : c.up,
                    c.has_gate ? c.up : call::Rows(), c.out, c.rows, c.cols, c.clamp, 0, c.quantized);
  }
  void operator()(const call::Quantize& c) {
    begin(Kernel::quantize);
    std::vector<std::uint32_t> p = {reads(0, c.in, c.rows, c.cols), as_uint(c.in.stride), as_uint(c.cols)};
    add_quantized(1, c.quantized, p);
    end(std::move(p), c.rows, div_up(c.cols, columns_of_group));
  }
  void operator()(const call::Norm& c) {
    const bool quantizes = static_cast<bool>(c.quantized.at);
    const std::size_t cols = c.groups * c.cols;
    begin(quantizes ? Kernel::norm_quantized : Kernel::norm);
    // Rows are picked from anywhere.
    const std::size_t bytes = c.picked ? rest_of(c.in.at) : numbers_of(c.rows, cols, c.in.stride) * word;
    const bool adds = static_cast<bool>(c.added.at);
    std::vector<std::uint32_t> p = {adds ? writes(0, c.in.at, bytes) : reads(0, c.in.at, bytes),
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
  void operator()(const call::Product& c) {
    for (std::size_t slab = 0; slab < c.x.layout.slabs(); ++slab) add_product(c, slab);
  }
  void operator()(const call::FloatProduct& c) { add_float_product(c); }
  void operator()(const call::Turn& c) {
    const call::Cache& cache = c.cache;
    const std::size_t q_cols = c.heads * cache.dim, kv_cols = cache.kv_heads * cache.dim;
    const bool stores = static_cast<bool>(c.k.at);
    begin(Kernel::turn);
    end({reads(0, c.q, c.rows, q_cols),
         as_uint(c.q.stride),
         reads(1, c.k, c.rows, kv_cols),
         as_uint(c.k.stride),
         reads(2, c.v, c.rows, kv_cols),
         as_uint(c.v.stride),
         writes(3, c.turned, c.rows, q_cols),
         as_uint(c.turned.stride),
         reads(4, c.angles, c.rows * c.dims * word, 2 * word),
         reads(5, c.written, c.rows * sizeof(PoolSlot)),
         reads(6, c.scales, c.rows * word),
         writes(7, cache.pool, rest_of(cache.pool)) + as_uint(cache.layer / word),
         as_uint(cache.block_bytes / word),
         as_uint(cache.head_bytes() / word),
         cache.type == KvType::f16 ? 1u : 0u,
         as_uint(c.heads),
         as_uint(cache.dim),
         as_uint(c.first),
         as_uint(c.dims),
         c.interleaved ? 1u : 0u,
         as_uint(c.scale)},
        c.rows, c.heads + (stores ? cache.kv_heads : 0));
  }
  void operator()(const call::Attend& c) {
    const call::Cache& cache = c.cache;
    begin(Kernel::attend);
    dispatches_.back().constants = {as_uint(cache.dim), cache.type == KvType::f16 ? 1u : 0u};
    end({reads(0, c.q.at, rest_of(c.q.at)), as_uint(c.q.stride),
         reads(1, cache.pool, rest_of(cache.pool)) + as_uint(cache.layer / word),
         as_uint(cache.block_bytes / word), as_uint(cache.head_bytes() / word),
         reads(2, c.items, c.item_count * sizeof(AttentionItem)), reads(3, c.listed, rest_of(c.listed)),
         writes(4, c.parts, rest_of(c.parts)), as_uint(c.heads), as_uint(cache.kv_heads), as_uint(c.cap)},
        c.item_count, cache.kv_heads);
  }
  void operator()(const call::Merge& c) {
    const bool quantizes = static_cast<bool>(c.quantized.at);
    begin(quantizes ? Kernel::merge_quantized : Kernel::merge);
    std::vector<std::uint32_t> p = {reads(0, c.parts, rest_of(c.parts)),
                                    reads(1, c.plan, c.rows * sizeof(AttentionRow)),
                                    reads(2, c.sinks, c.heads * word),
                                    writes(3, c.out, c.rows, c.heads * c.dim),
                                    as_uint(c.out.stride),
                                    as_uint(c.heads),
                                    as_uint(c.kv_heads),
                                    as_uint(c.dim)};
    add_quantized(4, c.quantized, p);
    end(std::move(p), c.rows, div_up(c.heads * c.dim, 128));
  }
  void operator()(const call::Top& c) {
    const std::size_t segments = div_up(c.size, call::segment);
    begin(Kernel::top);
    end({reads(0, c.row, c.size * word), as_uint(c.size), as_uint(c.k),
         writes(1, c.out, segments * c.k * sizeof(call::Best), sizeof(call::Best))},
        segments);
  }
  void operator()(const call::SumExp& c) {
    const std::size_t segments = div_up(c.size, call::segment);
    begin(Kernel::sum_exp);
    end({reads(0, c.row, c.size * word), as_uint(c.size), writes(1, c.out, segments * 2 * word),
         as_uint(c.factor)},
        segments);
  }

 private:
  static std::size_t rest_of(const Slice& slice) { return slice ? slice.memory->bytes() - slice.offset : 0; }

  void begin(Kernel kernel) {
    dispatches_.push_back({.kernel = kernel});
    dispatches_.back().bindings.resize(code_of(kernel).bindings);
  }
  void end(std::vector<std::uint32_t> parameters, std::size_t groups_x, std::size_t groups_y = 1) {
    SPECTR_CHECK(groups_x <= most_groups && groups_y <= most_groups);
    Dispatch& dispatch = dispatches_.back();
    dispatch.parameters = std::move(parameters);
    dispatch.groups_x = as_uint(groups_x);
    dispatch.groups_y = as_uint(groups_y);
  }

  /// Binds a place. Gives where it begins behind what is bound, in units of `unit` bytes; `none` of no place.
  std::uint32_t bind(std::size_t which, const Slice& at, std::size_t bytes, bool writes, std::size_t unit) {
    if (!at || bytes == 0) return none;
    SPECTR_CHECK(at.offset + bytes <= at.memory->bytes());
    const std::size_t behind = at.offset % limits_.alignment;
    SPECTR_CHECK(behind % unit == 0);
    const Binding binding{
        .at = {at.memory, at.offset - behind}, .bytes = round_up(behind + bytes, word), .writes = writes};
    if (binding.bytes > limits_.bytes) {
      state_ =
          error("a kernel takes {:.3g} MB of memory in one piece, and the device binds {:.3g} MB at most",
                megabytes(binding.bytes), megabytes(limits_.bytes));
    }
    dispatches_.back().bindings[which] = binding;
    return as_uint(behind / unit);
  }
  std::uint32_t reads(std::size_t which, const Slice& at, std::size_t bytes, std::size_t unit = word) {
    return bind(which, at, bytes, false, unit);
  }
  std::uint32_t writes(std::size_t which, const Slice& at, std::size_t bytes, std::size_t unit = word) {
    return bind(which, at, bytes, true, unit);
  }
  std::uint32_t reads(std::size_t which, const call::Rows& rows, std::size_t count, std::size_t cols) {
    return reads(which, rows.at, numbers_of(count, cols, rows.stride) * word);
  }
  std::uint32_t writes(std::size_t which, const call::Rows& rows, std::size_t count, std::size_t cols) {
    return writes(which, rows.at, numbers_of(count, cols, rows.stride) * word);
  }

  /// Where quantized rows go, the last parameters of a kernel that has some.
  void add_quantized(std::size_t which, const call::QuantizedRows& rows,
                     std::vector<std::uint32_t>& parameters) {
    if (!rows.at) return;
    const QuantizedLayout& layout = rows.layout;
    const std::uint32_t at = writes(which, rows.at, layout.bytes());
    for (const std::uint32_t one :
         {at, at + as_uint(layout.scales_of(0) / word), at + as_uint(layout.sums_of(0) / word),
          as_uint(layout.codes_of(1) / word), as_uint(layout.tiles())})
      parameters.push_back(one);
  }

  void add_elementwise(std::uint32_t operation, const call::Rows& a, const call::Rows& b,
                       const call::Rows& out, std::size_t rows, std::size_t cols, float factor = 0,
                       std::size_t gates = 0, const call::QuantizedRows& quantized = {}) {
    begin(quantized.at ? Kernel::elementwise_quantized : Kernel::elementwise);
    std::vector<std::uint32_t> p = {operation,           reads(0, a, rows, cols),
                                    as_uint(a.stride),   reads(1, b, rows, gates == 0 ? cols : gates),
                                    as_uint(b.stride),   writes(2, out, rows, cols),
                                    as_uint(out.stride), as_uint(cols),
                                    as_uint(gates),      as_uint(factor)};
    add_quantized(3, quantized, p);
    end(std::move(p), rows, div_up(cols, columns_of_group));
  }

  /// Rows of x that a group has, up to 8: few pipelines, and hardly a row too many.
  static std::size_t rows_together(std::size_t n) { return std::bit_ceil(std::min<std::size_t>(n, 8)); }

  /// How many rows of W have `bytes` each fit into a binding, in whole panels.
  std::size_t rows_at_once(std::size_t rows, std::size_t bytes) const {
    const std::size_t fit = (limits_.bytes - std::min(limits_.bytes, limits_.alignment)) / bytes / 16;
    return std::min({rows, std::max<std::size_t>(fit, 1) * 16, most_groups * 16});
  }

  /// With a slab of x.
  void add_product(const call::Product& c, std::size_t slab) {
    const call::Weights& w = c.weights;
    const QuantizedLayout& layout = c.x.layout;
    const std::size_t blocks = layout.blocks(), n = layout.rows_of(slab), together = rows_together(n);
    const auto bits = static_cast<std::size_t>(quant_layout(w.type)->bits());
    const std::size_t codes = blocks * 128 * bits;  // of a panel
    const std::size_t scales = blocks * 16 * word, factors = w.factors ? blocks / 4 * 16 * word : 0;
    const std::size_t at_once = rows_at_once(w.rows, codes / 16);
    for (std::size_t row = 0; row < w.rows; row += at_once) {
      const std::size_t rows = std::min(at_once, w.rows - row), panel = row / 16, panels = div_up(rows, 16);
      begin(product_of(w.type));
      dispatches_.back().constants = {as_uint(together)};
      const std::size_t first = slab * QuantizedLayout::slab_rows;
      const std::uint32_t x_scales =
          reads(4, c.x.at.behind(layout.scales_of(slab)), blocks * layout.tiles() * 128);
      end({reads(0, w.codes.behind(panel * codes), panels * codes, 16),
           reads(1, w.scales.behind(panel * scales), panels * scales),
           reads(2, w.factors ? w.factors.behind(panel * factors) : Slice(), panels * factors),
           reads(3, c.x.at.behind(layout.codes_of(slab)), blocks * layout.tiles() * 512, 16), x_scales,
           x_scales + as_uint((layout.sums_of(slab) - layout.scales_of(slab)) / word),
           as_uint(layout.tiles()), as_uint(rows), as_uint(blocks), as_uint(n),
           writes(5, c.y.at.behind((first * c.y.stride + row) * word),
                  numbers_of(n, rows, c.y.stride) * word),
           as_uint(c.y.stride)},
          div_up(n, together), panels);
    }
  }

  void add_float_product(const call::FloatProduct& c) {
    const call::Weights& w = c.weights;
    const std::size_t together = rows_together(c.rows);
    const std::size_t bytes = w.type == TensorType::f32 ? 4 : 2,
                      at_once = rows_at_once(w.rows, w.cols * bytes);
    for (std::size_t row = 0; row < w.rows; row += at_once) {
      const std::size_t rows = std::min(at_once, w.rows - row);
      begin(Kernel::float_product);
      dispatches_.back().constants = {as_uint(together)};
      end({reads(0, w.codes.behind(row * w.cols * bytes), rows * w.cols * bytes, bytes),
           reads(1, c.x, c.rows, w.cols), as_uint(c.x.stride), as_uint(rows), as_uint(w.cols),
           as_uint(c.rows),
           w.type == TensorType::f32   ? 0u
           : w.type == TensorType::f16 ? 1u
                                       : 2u,
           writes(2, c.y.at.behind(row * word), numbers_of(c.rows, rows, c.y.stride) * word),
           as_uint(c.y.stride)},
          div_up(c.rows, together), div_up(rows, 16));
    }
  }

  const BindingLimits& limits_;
  std::vector<Dispatch>& dispatches_;
  Result<void> state_;
};

bool overlap(const Binding& a, const Binding& b) {
  return a.at.memory == b.at.memory && a.at.offset < b.at.offset + b.bytes &&
         b.at.offset < a.at.offset + a.bytes;
}

}  // namespace

Result<void> add_dispatches(const call::AnyCall& call, const BindingLimits& limits,
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

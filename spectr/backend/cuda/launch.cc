#include "spectr/backend/cuda/launch.h"

#include <algorithm>
#include <type_traits>

#include "spectr/backend/cuda/kernels/parameters.h"
#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/weight_panels.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr::cuda {
namespace {

constexpr int columns_of_group = 512;

int as_int(std::size_t n) {
  return static_cast<int>(n);
}

/// Makes the launches of calls.
class Lowering {
 public:
  Lowering(const Processors& processors, const AddressOf& address_of, std::vector<Launch>& launches)
      : processors_(processors), address_of_(address_of), launches_(launches) {}

  void operator()(const call::Move& c) {
    const Move p{at<std::uint8_t>(c.pool), as_long(c.block_bytes), at<const MoveLine>(c.lines),
                 as_int(c.line_count),     at<const int>(c.count), at<const PoolSlot>(c.moves)};
    add("move", div_up(c.line_count, 128), 1, 128, p);
  }
  void operator()(const call::Copy& c) {
    add_rows("copy", c.rows, c.cols, Copy{matrix(c.to), matrix(c.from), as_int(c.cols)});
  }
  void operator()(const call::Add& c) {
    add_rows("add", c.rows, c.cols, Add{matrix(c.to), matrix(c.from), as_int(c.cols)});
  }
  void operator()(const call::Scale& c) {
    add_rows("scale", c.rows, c.cols, Scale{matrix(c.x), as_int(c.cols), c.factor});
  }
  void operator()(const call::Cap& c) {
    add_rows("cap", c.rows, c.cols, Cap{matrix(c.x), as_int(c.cols), c.cap});
  }
  void operator()(const call::Gate& c) {
    add_rows("gate", c.rows, c.cols, Gate{matrix(c.x), matrix(c.by), as_int(c.cols), as_int(c.gates)});
  }
  void operator()(const call::Quantize& c) {
    add_rows("quantize", c.rows, c.cols, Quantize{matrix(c.in), as_int(c.cols), quantized(c.quantized)});
  }
  void operator()(const call::Activate& c) {
    const Activate p{.gate = matrix(c.gate),
                     .up = matrix(c.up),
                     .out = matrix(c.out),
                     .cols = as_int(c.cols),
                     .kind = static_cast<int>(c.activation),
                     .clamp = c.clamp,
                     .has_gate = c.has_gate,
                     .quantized = quantized(c.quantized)};
    add_rows("activate", c.rows, c.cols, p);
  }
  void operator()(const call::Norm& c) {
    const Norm p{.in = matrix(c.in),
                 .added = matrix(c.added),
                 .out = matrix(c.out),
                 .weight = at<const float>(c.weight),
                 .bias = at<const float>(c.bias),
                 .picked = at<const int>(c.picked),
                 .cols = as_int(c.cols),
                 .epsilon = c.epsilon,
                 .part_of_mean = 1.0f / static_cast<float>(c.cols),
                 .is_rms = c.kind == NormSpec::Kind::rms,
                 .quantized = quantized(c.quantized)};
    add("norm", c.rows, c.groups, 512, p);
  }
  void operator()(const call::Product& c) {
    const QuantizedLayout& layout = c.x.layout;
    for (std::size_t slab = 0; slab < layout.slabs(); ++slab) {
      if (!add_product(c, slab)) return add_any_product(c);
    }
  }
  void operator()(const call::FloatProduct& c) {
    const TensorType type = c.weights.type;
    const FloatProduct p{.weights = at<const std::uint8_t>(c.weights.codes),
                         .x = matrix(c.x),
                         .y = matrix(c.y),
                         .rows = as_int(c.weights.rows),
                         .cols = as_int(c.weights.cols),
                         .kind = type == TensorType::f32   ? 0
                                 : type == TensorType::f16 ? 1
                                                           : 2};
    add("float_product", div_up(c.weights.rows, 4), c.rows, 128, p);
  }
  void operator()(const call::Turn& c) {
    const bool stores = static_cast<bool>(c.k.at);
    const Rotate p{.q = matrix(c.q),
                   .k = matrix(c.k),
                   .v = matrix(c.v),
                   .turned = matrix(c.turned),
                   .angles = at<const float>(c.angles),
                   .to = at<const PoolSlot>(c.written),
                   .scales = at<const float>(c.scales),
                   .pool = at<std::uint8_t>(c.cache.pool),
                   .block_bytes = as_long(c.cache.block_bytes),
                   .layer = as_long(c.cache.layer),
                   .heads = as_int(c.heads),
                   .kv_heads = as_int(c.cache.kv_heads),
                   .dim = as_int(c.cache.dim),
                   .first = as_int(c.first),
                   .dims = as_int(c.dims),
                   .interleaved = c.interleaved,
                   .scale = c.scale};
    add("rotate", c.rows, c.heads + (stores ? c.cache.kv_heads : 0), 64, p);
  }
  void operator()(const call::Attend& c) {
    const std::size_t dim = c.cache.dim, group = c.heads / c.cache.kv_heads;
    SPECTR_CHECK(c.q.stride == c.heads * dim);
    const Attention p{.q = at<const float>(c.q.at),
                      .pool = at<const std::uint8_t>(c.cache.pool),
                      .items = at<const AttentionItem>(c.items),
                      .listed = at<const PoolSlot>(c.listed),
                      .parts = at<float>(c.parts),
                      .block_bytes = as_long(c.cache.block_bytes),
                      .layer = as_long(c.cache.layer),
                      .heads = as_int(c.heads),
                      .kv_heads = as_int(c.cache.kv_heads),
                      .cap = c.cap};
    const std::size_t shared = 256 * dim + c.rows_together * group * (dim + 64) * sizeof(float) + 16;
    add("attend_" + std::to_string(dim), c.item_count, c.cache.kv_heads, 128, p, as_int(shared));
  }
  void operator()(const call::Merge& c) {
    const Merge p{.parts = at<const float>(c.parts),
                  .rows = at<const AttentionRow>(c.plan),
                  .sinks = at<const float>(c.sinks),
                  .y = at<float>(c.out.at),
                  .stride = as_long(c.out.stride),
                  .out = quantized(c.quantized),
                  .heads = as_int(c.heads),
                  .kv_heads = as_int(c.kv_heads)};
    add("merge_" + std::to_string(c.dim), c.rows, div_up(c.heads * c.dim, 128), 256, p);
  }
  void operator()(const call::Top& c) {
    const Top p{at<const float>(c.row), as_int(c.size), as_int(c.k), at<Best>(c.out)};
    add("top", div_up(c.size, call::segment), 1, 512, p);
  }
  void operator()(const call::SumExp& c) {
    const SumExp p{at<const float>(c.row), as_int(c.size), c.factor, at<float>(c.out)};
    add("sum_exp", div_up(c.size, call::segment), 1, 512, p);
  }

 private:
  static long as_long(std::size_t n) { return static_cast<long>(n); }

  template <class T>
  T* at(const Slice& slice) const {
    const auto address = static_cast<std::uintptr_t>(address_of_(slice));
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  Matrix matrix(const call::Rows& rows) const { return {at<float>(rows.at), as_long(rows.stride)}; }
  QuantizedRows quantized(const call::QuantizedRows& rows) const {
    if (!rows.at) return {nullptr, nullptr, nullptr, 0, 0};
    const QuantizedLayout& layout = rows.layout;
    return {at<std::uint8_t>(rows.at.behind(layout.codes_of(0))),
            at<float>(rows.at.behind(layout.scales_of(0))), at<float>(rows.at.behind(layout.sums_of(0))),
            as_int(layout.tiles()), as_long(layout.codes_of(1))};
  }

  /// The tuned kernel for a slab of x; false where shared memory has no room for it.
  bool add_product(const call::Product& c, std::size_t slab) {
    const QuantizedLayout& layout = c.x.layout;
    const int tiles = as_int(layout.tiles()), blocks = as_int(layout.blocks()), rows = as_int(c.weights.rows);
    const std::optional<WholeProduct> plan = whole_product(c.weights.type, rows, blocks, tiles, processors_);
    if (!plan) return false;
    const QuantizedRows x = quantized(c.x);
    const std::size_t bytes = slab * layout.codes_of(1);
    const Product p{.codes = at<const std::uint8_t>(c.weights.codes),
                    .scales = at<const std::uint32_t>(c.weights.scales),
                    .factors = at<const std::uint32_t>(c.weights.factors),
                    .x = x.codes + bytes,
                    .x_scales = x.scales + bytes / sizeof(float),
                    .x_sums = x.sums + bytes / sizeof(float),
                    .y = at<float>(c.y.at) + slab * QuantizedLayout::slab_rows * c.y.stride,
                    .stride = as_long(c.y.stride),
                    .rows = rows,
                    .blocks = blocks,
                    .n = as_int(layout.rows_of(slab)),
                    .ring = plan->ring,
                    .late = false};
    add(plan->kernel, static_cast<std::size_t>(plan->groups), 1, plan->threads, p, plan->shared_bytes);
    return true;
  }

  void add_any_product(const call::Product& c) {
    const QuantLayout format = *quant_layout(c.weights.type);
    const AnyProduct p{.codes = at<const std::uint8_t>(c.weights.codes),
                       .scales = at<const std::uint32_t>(c.weights.scales),
                       .factors = at<const std::uint32_t>(c.weights.factors),
                       .x = quantized(c.x),
                       .y = matrix(c.y),
                       .rows = as_int(c.weights.rows),
                       .blocks = as_int(c.x.layout.blocks()),
                       .bits = format.bits(),
                       .offset = format.offset,
                       .has_small_scales = format.scale_bytes > 0,
                       .has_min = format.has_min};
    add("any_product", div_up(c.weights.rows, 4), c.rows, 128, p);
  }

  /// With a thread for four columns.
  template <class Parameters>
  void add_rows(const char* kernel, std::size_t rows, std::size_t cols, const Parameters& p) {
    add(kernel, rows, div_up(cols, columns_of_group), 128, p);
  }
  template <class Parameters>
  void add(std::string kernel, std::size_t groups_x, std::size_t groups_y, int threads, const Parameters& p,
           int shared_bytes = 0) {
    static_assert(std::is_trivially_copyable_v<Parameters>);
    const auto bytes = std::as_bytes(std::span(&p, 1));
    launches_.push_back({std::move(kernel), as_int(groups_x), as_int(groups_y), threads, shared_bytes,
                         std::vector<std::byte>(bytes.begin(), bytes.end())});
  }

  const Processors& processors_;
  const AddressOf& address_of_;
  std::vector<Launch>& launches_;
};

}  // namespace

void add_launches(const call::AnyCall& call, const Processors& processors, const AddressOf& address_of,
                  std::vector<Launch>& launches) {
  std::visit(Lowering(processors, address_of, launches), call.get());
}

}  // namespace spectr::cuda

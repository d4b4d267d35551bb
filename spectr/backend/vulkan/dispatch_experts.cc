#include <algorithm>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/backend/vulkan/lowering.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::vulkan {

void Lowering::operator()(const call::ChooseExperts& c) {
  SPECTR_CHECK(c.experts <= call::max_experts);
  const std::size_t slots = c.rows * c.used;
  begin(Kernel::choose_experts);
  end({reads(0, c.z, c.rows, c.experts), as_uint(c.z.stride), reads(1, c.bias, c.experts * word),
       reads(2, c.scales, c.experts * word), writes(3, c.chosen, slots * word),
       writes(4, c.weights, slots * word), static_cast<std::uint32_t>(c.gating), c.normalized ? 1u : 0u,
       as_uint(c.weights_scale), as_uint(c.experts), as_uint(c.used), as_uint(c.groups),
       as_uint(c.groups_used)},
      c.rows);
}

void Lowering::operator()(const call::GroupExperts& c) {
  const call::Choices& of = c.choices;
  begin(Kernel::group_experts);
  end({reads(0, of.chosen, of.slots * word), as_uint(of.slots), as_uint(of.first), as_uint(of.blocks),
       writes(1, c.lists.at, c.lists.bytes()), as_uint(c.lists.groups)},
      1);
}

/// Returns the number of experts with `bytes` of weights each that fit into a binding, at least 1.
std::size_t Lowering::experts_at_once(const call::ExpertWeights& weights, std::size_t bytes) const {
  const std::size_t fit = (limits_.bytes - std::min(limits_.bytes, limits_.alignment)) / bytes;
  return std::min(weights.blocks, std::max<std::size_t>(fit, 1));
}

/// Ends a dispatch: appends to the kernel's parameters those of product.glsl, for experts from `first` on.
void Lowering::end_of_experts(std::vector<std::uint32_t> parameters, std::size_t lists_binding,
                              const call::ExpertLists& lists, std::size_t sharers, std::size_t first,
                              std::size_t experts, std::size_t x_slab, std::size_t rows) {
  const std::size_t panels = div_up(rows, 16);
  const std::uint32_t at = reads(lists_binding, lists.at, lists.bytes());
  for (const std::uint32_t one : {as_uint(panels), 0u, 0u, at, at + as_uint(lists.slots_at() / word),
                                  as_uint(sharers), as_uint(first), as_uint(experts), as_uint(x_slab)})
    parameters.push_back(one);
  end(std::move(parameters), lists.groups, panels);
}

void Lowering::operator()(const call::ExpertProduct& c) {
  const call::Weights& w = c.weights.each;
  const QuantizedLayout& layout = c.x.layout;
  const PanelLayout of_each(w.type, w.rows, w.cols);
  const std::size_t at_once = experts_at_once(c.weights, of_each.code_bytes);
  for (std::size_t first = 0; first < c.weights.blocks; first += at_once) {
    const std::size_t experts = std::min(at_once, c.weights.blocks - first);
    const auto part = [&](std::size_t which, const Slice& at, std::size_t bytes, std::size_t unit) {
      return reads(which, at ? at.behind(first * bytes) : Slice(), experts * bytes, unit);
    };
    begin_product(w.type, div_up(c.lists.slots, c.lists.groups), true);
    const std::uint32_t x = reads(3, c.x.at, layout.bytes(), 16), numbers = reads(4, c.x.at, layout.bytes());
    end_of_experts({part(0, w.codes, of_each.code_bytes, 16), part(1, w.scales, of_each.scale_bytes, word),
                    part(2, w.factors, of_each.factor_bytes, word), x,
                    numbers + as_uint(layout.scales_of(0) / word), as_uint(layout.tiles()), as_uint(w.rows),
                    as_uint(layout.blocks()), 0, writes(5, c.y, c.lists.slots, w.rows), as_uint(c.y.stride)},
                   6, c.lists, c.sharers, first, experts, layout.codes_of(1), w.rows);
  }
}

void Lowering::operator()(const call::ExpertFloatProduct& c) {
  const call::Weights& w = c.weights.each;
  const std::size_t bytes = format_of(w.type).bytes, each = w.rows * w.cols * bytes;
  const std::size_t at_once = experts_at_once(c.weights, each);
  for (std::size_t first = 0; first < c.weights.blocks; first += at_once) {
    const std::size_t experts = std::min(at_once, c.weights.blocks - first);
    begin_float_product(div_up(c.lists.slots, c.lists.groups), true);
    end_of_experts(
        {reads(0, w.codes.behind(first * each), experts * each, bytes),
         reads(1, c.x, div_up(c.lists.slots, c.sharers), w.cols), as_uint(c.x.stride), as_uint(w.rows),
         as_uint(w.cols), 0, kind_of(w.type), writes(2, c.y, c.lists.slots, w.rows), as_uint(c.y.stride)},
        3, c.lists, c.sharers, first, experts, 0, w.rows);
  }
}

void Lowering::operator()(const call::AddChosen& c) {
  const call::Choices& of = c.choices;
  begin(Kernel::add_chosen);
  end({reads(0, of.chosen, of.slots * word), as_uint(of.first), as_uint(of.blocks),
       writes(1, c.to, of.slots, c.cols), as_uint(c.to.stride), reads(2, c.from, of.blocks * c.cols * word),
       as_uint(c.cols)},
      of.slots, div_up(c.cols, columns_of_group));
}

void Lowering::operator()(const call::Combine& c) {
  const call::Choices& of = c.choices;
  begin(Kernel::combine);
  end({reads(0, of.chosen, of.slots * word), as_uint(of.first), as_uint(of.blocks),
       reads(1, c.weights, of.slots * word), reads(2, c.in, of.slots, c.cols), as_uint(c.in.stride),
       writes(3, c.out, c.rows, c.cols), as_uint(c.out.stride), as_uint(of.slots / c.rows), as_uint(c.cols)},
      c.rows, div_up(c.cols, columns_of_group));
}

}  // namespace spectr::vulkan

#include "spectr/backend/cuda/lowering.h"
#include "spectr/base/check.h"

namespace spectr::cuda {

Choices Lowering::choices(const call::Choices& choices) const {
  return {at<const int>(choices.chosen), as_int(choices.slots), as_int(choices.first),
          as_int(choices.blocks)};
}

ExpertLists Lowering::lists(const call::ExpertLists& lists) const {
  return {at<ExpertGroup>(lists.at), at<int>(lists.at.behind(lists.slots_at()))};
}

void Lowering::operator()(const call::ChooseExperts& c) {
  SPECTR_CHECK(c.experts <= call::max_experts);
  const ChooseExperts p{.z = matrix(c.z),
                        .bias = at<const float>(c.bias),
                        .scales = at<const float>(c.scales),
                        .chosen = at<int>(c.chosen),
                        .weights = at<float>(c.weights),
                        .gating = static_cast<int>(c.gating),
                        .experts = as_int(c.experts),
                        .used = as_int(c.used),
                        .groups = as_int(c.groups),
                        .groups_used = as_int(c.groups_used),
                        .normalized = c.normalized,
                        .weights_scale = c.weights_scale};
  add("choose_experts", c.rows, 1, 32, p);
}

void Lowering::operator()(const call::GroupExperts& c) {
  add("group_experts", 1, 1, 256, GroupExperts{choices(c.choices), lists(c.lists), as_int(c.lists.groups)});
}

void Lowering::operator()(const call::ExpertProduct& c) {
  const call::Weights& w = c.weights.each;
  const ExpertProduct p{.w = panels(w),
                        .lists = lists(c.lists),
                        .x = quantized(c.x),
                        .sharers = as_int(c.sharers),
                        .y = written(c.y),
                        .rows = as_int(w.rows),
                        .blocks = as_int(c.x.layout.blocks())};
  const std::size_t slots = c.lists.slots, experts = c.lists.groups;
  if (const auto plan = expert_plan(w.type, as_int(slots), as_int(experts), plans_.device())) {
    const auto rows = 16 * static_cast<std::size_t>(plan->shape.lanes());
    add(plan->kernel, div_up(w.rows, rows), experts, 32 * plan->shape.warps, p, plan->shared_bytes);
    launches_.back().image = plan->image;
  } else {
    const bool are_alone = slots == experts;  // most groups have one slot
    add(are_alone ? "expert_product_1" : "expert_product_4", div_up(w.rows, 16), experts, 512, p);
  }
}

void Lowering::operator()(const call::ExpertFloatProduct& c) {
  const ExpertFloatProduct p{.product = float_product(c.weights.each, c.x, c.y),
                             .lists = lists(c.lists),
                             .sharers = as_int(c.sharers)};
  add("expert_float_product", div_up(c.weights.each.rows, 4), c.lists.groups, 128, p);
}

void Lowering::operator()(const call::AddChosen& c) {
  add_rows("add_chosen", c.choices.slots, c.cols,
           AddChosen{choices(c.choices), matrix(c.to), at<const float>(c.from), as_int(c.cols)});
}

void Lowering::operator()(const call::Combine& c) {
  const Combine p{.choices = choices(c.choices),
                  .weights = at<const float>(c.weights),
                  .in = matrix(c.in),
                  .out = written(c.out),
                  .used = as_int(c.choices.slots / c.rows),
                  .cols = as_int(c.cols)};
  add_rows("combine", c.rows, c.cols, p);
}

}  // namespace spectr::cuda

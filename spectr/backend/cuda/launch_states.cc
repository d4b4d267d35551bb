#include "spectr/backend/cuda/lowering.h"
#include "spectr/backend/device/state_rows.h"

namespace spectr::cuda {

States Lowering::states(const call::States& of) const {
  return {.pool = at<float>(of.pool),
          .channels = as_int(of.channels),
          .kernel = as_int(of.kernel),
          .inputs = as_long(of.inputs),
          .keys = as_long(of.keys),
          .values = as_long(of.values),
          .decays = as_long(of.decays),
          .frame_inputs = as_long(of.frame_inputs),
          .frame_state = as_long(of.frame_state)};
}

PlannedStates Lowering::planned(const call::PlannedStates& plan) const {
  return {.rows = at<const StateRow>(plan.rows),
          .steps = at<const StateStep>(plan.steps),
          .texts = at<const StateText>(plan.texts),
          .row_count = as_int(plan.row_count)};
}

void Lowering::operator()(const call::StoreInputs& c) {
  const StoreInputs p{states(c.states), planned(c.plan), matrix(c.in), matrix(c.by)};
  add("store_inputs", c.plan.row_count + c.plan.step_count, div_up(c.states.channels, 128), 128, p);
}

void Lowering::operator()(const call::Convolve& c) {
  const Convolve p{states(c.states), planned(c.plan), at<const float>(c.weight), matrix(c.factor),
                   written(c.out)};
  add("convolve", c.plan.row_count + c.plan.step_count, div_up(c.states.channels, 128), 128, p);
}

void Lowering::operator()(const call::PrepareHeads& c) {
  const PrepareHeads p{.states = states(c.states),
                       .plan = planned(c.plan),
                       .x = matrix(c.x),
                       .alpha = matrix(c.alpha),
                       .a = at<const float>(c.a),
                       .dt_bias = at<const float>(c.dt_bias),
                       .key_heads = as_int(c.key_heads),
                       .dim = as_int(c.dim),
                       .epsilon = c.epsilon,
                       .query_scale = c.query_scale};
  add("prepare_heads", c.plan.row_count, 2 * c.key_heads + c.value_heads, 128, p);
}

void Lowering::operator()(const call::MultiplyKeys& c) {
  const MultiplyKeys p{.states = states(c.states),
                       .plan = planned(c.plan),
                       .queries = matrix(c.queries),
                       .out = at<float>(c.out),
                       .key_heads = as_int(c.key_heads),
                       .dim = as_int(c.dim)};
  add("multiply_keys", c.plan.row_count, c.key_heads, 128, p);
}

void Lowering::operator()(const call::Recur& c) {
  const Recur p{.states = states(c.states),
                .plan = planned(c.plan),
                .products = at<const float>(c.products),
                .x = matrix(c.x),
                .beta = matrix(c.beta),
                .out = written(c.out),
                .key_heads = as_int(c.key_heads),
                .dim = as_int(c.dim)};
  add("recur", c.value_heads * div_up(c.dim, 32), c.plan.text_count, 128, p);
}

}  // namespace spectr::cuda

#include "spectr/backend/device/state_rows.h"
#include "spectr/backend/vulkan/lowering.h"

namespace spectr::vulkan {
namespace {

// The layouts that states.glsl assumes.
static_assert(sizeof(StateRow) == 36 * word && sizeof(StateStep) == 24 * word &&
              sizeof(StateText) == 4 * word);

}  // namespace

std::uint32_t Lowering::state_rows(std::size_t which, const call::PlannedStates& plan) {
  return reads(which, plan.rows, plan.row_count * sizeof(StateRow));
}

std::uint32_t Lowering::state_steps(std::size_t which, const call::PlannedStates& plan) {
  return reads(which, plan.steps, plan.step_count * sizeof(StateStep));
}

void Lowering::operator()(const call::StoreInputs& c) {
  const call::States& states = c.states;
  const std::size_t rows = c.plan.row_count;
  begin(Kernel::store_inputs);
  end({writes(0, states.pool, rest_of(states.pool)), as_uint(states.channels), as_uint(states.kernel),
       as_uint(states.inputs), as_uint(states.frame_inputs), state_rows(1, c.plan), as_uint(rows),
       state_steps(2, c.plan), reads(3, c.in, rows, states.channels), as_uint(c.in.stride),
       reads(4, c.by, rows, states.channels), as_uint(c.by.stride)},
      rows + c.plan.step_count, div_up(states.channels, 128));
}

void Lowering::operator()(const call::Convolve& c) {
  const call::States& states = c.states;
  const std::size_t rows = c.plan.row_count;
  begin(Kernel::convolve);
  end({writes(0, states.pool, rest_of(states.pool)), as_uint(states.channels), as_uint(states.kernel),
       as_uint(states.inputs), as_uint(states.frame_inputs), state_rows(1, c.plan), as_uint(rows),
       state_steps(2, c.plan), reads(3, c.weight, states.channels * states.kernel * word),
       reads(4, c.factor, rows, states.channels), as_uint(c.factor.stride),
       writes(5, c.out, rows, states.channels), as_uint(c.out.stride)},
      rows + c.plan.step_count, div_up(states.channels, 128));
}

void Lowering::operator()(const call::PrepareHeads& c) {
  const call::States& states = c.states;
  const std::size_t rows = c.plan.row_count, heads = 2 * c.key_heads + c.value_heads;
  begin(Kernel::prepare_heads);
  end({writes(0, states.pool, rest_of(states.pool)), as_uint(states.keys), as_uint(states.decays),
       state_rows(1, c.plan), writes(2, c.x, rows, heads * c.dim), as_uint(c.x.stride),
       reads(3, c.alpha, rows, c.value_heads), as_uint(c.alpha.stride), reads(4, c.a, c.value_heads * word),
       reads(5, c.dt_bias, c.value_heads * word), as_uint(c.key_heads), as_uint(c.dim), as_uint(c.epsilon),
       as_uint(c.query_scale)},
      rows, heads);
}

void Lowering::operator()(const call::MultiplyKeys& c) {
  const call::States& states = c.states;
  const std::size_t rows = c.plan.row_count;
  begin(Kernel::multiply_keys);
  end({reads(0, states.pool, rest_of(states.pool)), as_uint(states.keys), state_rows(1, c.plan),
       reads(2, c.queries, rows, c.key_heads * c.dim), as_uint(c.queries.stride),
       writes(3, c.out, rows * c.key_heads * 2 * grid_tokens * word), as_uint(c.key_heads), as_uint(c.dim)},
      rows, c.key_heads);
}

void Lowering::operator()(const call::Recur& c) {
  const call::States& states = c.states;
  const std::size_t rows = c.plan.row_count, columns = (2 * c.key_heads + c.value_heads) * c.dim;
  begin(Kernel::recur);
  end({writes(0, states.pool, rest_of(states.pool)), as_uint(states.keys), as_uint(states.values),
       as_uint(states.decays), as_uint(states.frame_state), state_rows(1, c.plan), state_steps(2, c.plan),
       reads(3, c.plan.texts, c.plan.text_count * sizeof(StateText), sizeof(StateText)),
       reads(4, c.products, rows * c.key_heads * 2 * grid_tokens * word), reads(5, c.x, rows, columns),
       as_uint(c.x.stride), reads(6, c.beta, rows, c.value_heads), as_uint(c.beta.stride),
       writes(7, c.out, rows, c.value_heads * c.dim), as_uint(c.out.stride), as_uint(c.key_heads),
       as_uint(c.dim)},
      c.value_heads * div_up(c.dim, 32), c.plan.text_count);
}

}  // namespace spectr::vulkan

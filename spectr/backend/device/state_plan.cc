#include "spectr/backend/device/state_plan.h"

#include <algorithm>
#include <cstddef>

#include "spectr/base/check.h"

namespace spectr {
namespace {

bool is_computed(const GridState& state) {
  return state.from >= 0;
}

bool needs_scratch(const GridState& state) {
  return is_computed(state) && state.keep < 0;
}

StateStep step_of(const PassBatch& batch, const GridState& state, const StateMemory& memory) {
  StateStep step{
      .at = {}, .before = {}, .is_new = is_computed(state), .restores = state.restores, .tokens = {}};
  const std::int32_t frame = is_computed(state) ? state.keep : state.frame;
  if (frame >= 0) step.at = {memory.frame(state.cache, static_cast<std::size_t>(frame)), 1};
  for (std::size_t i = 0; i < state_grid; ++i) {
    step.tokens[i] = -1;
    if (state.grid == 0) continue;
    const std::size_t position = static_cast<std::size_t>(state.grid) - state_grid + i;
    // Restored states belong to the sequence itself, whose slots equal its positions.
    const std::size_t slot =
        is_computed(state) ? batch.slot_at(static_cast<std::size_t>(state.row), position) : position;
    step.tokens[i] = memory.token(state.cache, slot);
  }
  return step;
}

StateRow row_of(const PassBatch& batch, std::size_t r, const StatePlan& plan, const StateMemory& memory) {
  const auto index = static_cast<std::size_t>(batch.row_states[r]);
  const std::int32_t grid = batch.states[index].grid, since = batch.positions[r] - grid;
  StateRow row{.since = since, .step = static_cast<int>(index), .state = plan.steps[index].at, .path = {}};
  for (int i = 0; i < 2 * grid_tokens; ++i) {
    const int position = grid - grid_tokens + i;
    const bool is_there = position >= 0 && position <= batch.positions[r];
    row.path[i] = -1;
    if (!is_there) continue;
    row.path[i] = memory.token(
        batch.caches[r], static_cast<std::size_t>(batch.slot_at(r, static_cast<std::size_t>(position))));
  }
  return row;
}

}  // namespace

void plan_states(const PassBatch& batch, StateMemory& memory, StatePlan& plan) {
  SPECTR_CHECK(batch.row_states.size() == batch.rows());
  memory.take_scratch(static_cast<std::size_t>(std::ranges::count_if(batch.states, needs_scratch)));
  plan.rows.clear();
  plan.steps.clear();
  plan.texts.clear();
  std::size_t scratch = 0;
  for (const GridState& state : batch.states) {
    StateStep step = step_of(batch, state, memory);
    if (needs_scratch(state)) step.at = {memory.scratch(scratch++), 0};
    if (is_computed(state)) step.before = plan.steps[static_cast<std::size_t>(state.from)].at;
    plan.steps.push_back(step);
  }
  for (std::size_t r = 0; r < batch.rows(); ++r) plan.rows.push_back(row_of(batch, r, plan, memory));
  std::size_t state = 0;
  for (std::size_t begin = 0, end; begin < batch.rows(); begin = end) {
    end = begin + 1;
    while (end < batch.rows() && batch.caches[end] == batch.caches[begin]) ++end;
    const std::size_t first = state;
    while (state < batch.states.size() && batch.states[state].cache == batch.caches[begin]) ++state;
    plan.texts.push_back({.first_row = static_cast<int>(begin),
                          .rows = static_cast<int>(end - begin),
                          .first_step = static_cast<int>(first),
                          .steps = static_cast<int>(state - first)});
  }
  SPECTR_CHECK(state == batch.states.size());
}

}  // namespace spectr

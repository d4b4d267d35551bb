#pragma once

#include <vector>

#include "spectr/backend/device/state_memory.h"
#include "spectr/backend/device/state_rows.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// A pass's states, planned on the host: where the tokens and the states are that its rows need.
struct StatePlan {
  std::vector<StateRow> rows;
  std::vector<StateStep> steps;
  std::vector<StateText> texts;
};

/// Takes scratch memory for the states that are computed and not kept. Throws std::bad_alloc.
void plan_states(const PassBatch& batch, StateMemory& memory, StatePlan& plan);

}  // namespace spectr

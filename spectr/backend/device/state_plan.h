#pragma once

#include <vector>

#include "spectr/backend/device/state_memory.h"
#include "spectr/backend/device/state_rows.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The host's plan of a pass's recurrent states: the locations of the tokens and states that its rows need.
struct StatePlan {
  std::vector<StateRow> rows;
  std::vector<StateStep> steps;
  std::vector<StateText> texts;
};

/// Plans a pass. Takes scratch memory for states that are computed but not kept. Throws std::bad_alloc.
void plan_states(const PassBatch& batch, StateMemory& memory, StatePlan& plan);

}  // namespace spectr

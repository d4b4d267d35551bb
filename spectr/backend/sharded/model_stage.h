#pragma once

#include <vector>

#include "spectr/backend/sharded/range.h"
#include "spectr/base/result.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// Returns each rank's consecutive range of layers, such that the weight bytes per rank are as equal as whole
/// layers allow; the leader also has the embedding and the head. Errors: fewer layers than ranks, counting
/// layers that share keys and values as one.
Result<std::vector<Range>> stages_of(const ModelSpec& spec, std::size_t ranks);

/// Reduces a model to one rank's pipeline stage; the leader also keeps the embedding and the head. Errors:
/// those of stages_of(), and unsupported features by name.
Result<void> take_stage(ModelSpec& spec, RankOf who);

}  // namespace spectr

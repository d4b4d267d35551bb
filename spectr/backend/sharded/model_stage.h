#pragma once

#include <vector>

#include "spectr/backend/sharded/range.h"
#include "spectr/base/result.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// The layers of each rank, where each has some that follow one another: so that all have as nearly the same
/// bytes of weights as whole layers allow, embedding and head being the leader's. Error: fewer layers than
/// ranks, or layers that share keys and values and would be parted.
Result<std::vector<Range>> stages_of(const ModelSpec& spec, std::size_t ranks);

/// Takes a rank's layers out of a model; the leader has the embedding and the head beside its own. Error: of
/// stages_of(), or what cannot be shared so, by name.
Result<void> take_stage(ModelSpec& spec, RankOf who);

}  // namespace spectr

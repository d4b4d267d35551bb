#pragma once

#include <initializer_list>

#include "spectr/backend/sharded/range.h"
#include "spectr/base/result.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// Takes a rank's part out of a model, each layer's matrices being shared: heads of attention with their
/// queries, keys and values, columns of feed-forward blocks, experts, tokens of the embedding and of the
/// head. What a rank computes of a block's output is a summand: the ranks' sum is the block's. Biases of
/// outputs and learned positions are rank 0's; norms and routers are everybody's. Error: heads that the ranks
/// do not divide, blocks of a format that would be cut, fewer things than ranks, or what cannot be shared so,
/// by name.
Result<void> take_part_of_layers(ModelSpec& spec, RankOf who);

/// Whether ranks can share a model of all features but these. Error: it has one, by the key that says so.
Result<void> check_sharing(const ModelSpec& spec, std::initializer_list<Feature> indivisible);

}  // namespace spectr

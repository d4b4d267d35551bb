#pragma once

#include <cstddef>

#include "spectr/base/result.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// Numbers from `first` on.
struct Range {
  std::size_t first, size;

  friend bool operator==(const Range&, const Range&) = default;
};

/// A rank among so many that share a model.
struct RankOf {
  std::size_t rank, ranks;
};

/// A rank's part of `count` things in pieces of `piece`: each rank has as many pieces as the others, or one
/// more. Requires: `piece` divides `count`.
Range part_of(std::size_t count, RankOf who, std::size_t piece = 1);

/// Takes a rank's part out of a model, each layer's matrices being shared: heads of attention with their
/// queries, keys and values, columns of feed-forward blocks, experts, tokens of the embedding and of the
/// head. What a rank computes of a block's output is a summand: the ranks' sum is the block's. Biases of
/// outputs and learned positions are rank 0's; norms and routers are everybody's. Error: heads that the ranks
/// do not divide, blocks of a format that would be cut, fewer things than ranks, or what cannot be shared so,
/// by name.
Result<void> take_part_of_layers(ModelSpec& spec, RankOf who);

}  // namespace spectr

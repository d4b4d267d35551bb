#pragma once

#include <initializer_list>

#include "spectr/backend/sharded/range.h"
#include "spectr/base/result.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// Reduces a model to one rank's tensor-parallel part. Ranks split the attention heads (queries, keys,
/// values), the columns of feed-forward blocks, the experts, and the vocabulary of the embedding and the
/// head. A block's output is the sum of the ranks' partial outputs. Output biases and learned positions
/// belong to rank 0; norms and routers are replicated. Errors, naming the cause: a number of heads not
/// divisible by the number of ranks, quantization blocks that would be cut, fewer pieces than ranks, or an
/// unsupported feature.
Result<void> take_part_of_layers(ModelSpec& spec, RankOf who);

/// Fails if a model has a feature that ranks cannot split; `indivisible` lists some. Error: names its key.
Result<void> check_sharing(const ModelSpec& spec, std::initializer_list<Feature> indivisible);

}  // namespace spectr

#pragma once

#include <cstdint>

#include "spectr/backend/sharded/model_part.h"
#include "spectr/backend/sharded/model_stage.h"

namespace spectr {

/// The ways in which ranks can split a model.
enum class Split : std::uint8_t {
  rows,    ///< tensor parallelism: each has a part of every layer, computed concurrently; two sums per layer
  layers,  ///< pipeline parallelism: each has some layers, computed in turn; the stream is sent on once
};

/// Reduces a model to one rank's part. Error: the model cannot be split this way; the message says why.
inline Result<void> take_part(ModelSpec& spec, RankOf who, Split split) {
  return split == Split::rows ? take_part_of_layers(spec, who) : take_stage(spec, who);
}

}  // namespace spectr

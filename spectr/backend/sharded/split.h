#pragma once

#include <cstdint>

#include "spectr/backend/sharded/model_part.h"
#include "spectr/backend/sharded/model_stage.h"

namespace spectr {

/// How ranks share a model.
enum class Split : std::uint8_t {
  rows,    ///< each has a part of every layer: they compute at the same time, and add twice a layer
  layers,  ///< each has some layers: they compute one after the other, and pass the stream on once
};

/// Takes a rank's part out of a model. Error: a model that cannot be shared so, by name.
inline Result<void> take_part(ModelSpec& spec, RankOf who, Split split) {
  return split == Split::rows ? take_part_of_layers(spec, who) : take_stage(spec, who);
}

}  // namespace spectr

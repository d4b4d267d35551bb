// The start of a pass, and the per-layer inputs.
#include <cmath>

#include "spectr/backend/device/device_ops.h"

namespace spectr {

void DeviceOps::embed(const EmbedSpec&) {
  call::Move move = blocks_.move();
  move.count = data_.move_count();
  move.moves = data_.moves();
  if (move.line_count > 0) record(move);
  record_state_moves();
  record(call::Copy{view(Buffer::stream), {data_.embedded(), spec_.width}, shape_.rows, spec_.width});
}

void DeviceOps::layer_inputs(const LayerEmbeddingSpec& spec) {
  const call::Rows inputs = view(Buffer::layer_inputs);
  const std::size_t all = cols(Buffer::layer_inputs);
  record_norm(spec.norm, {}, Buffer::layer_inputs, all / spec.dim, spec.dim);
  record(call::Add{inputs, {data_.layer_embedded(), all}, shape_.rows, all});
  record(call::Scale{inputs, shape_.rows, all, std::sqrt(0.5f)});
}

void DeviceOps::layer_input(std::size_t layer) {
  const LayerInputSpec& spec = *spec_.layers[layer].input;
  const std::size_t dim = spec.gate.out;
  const call::Rows gate = view(Buffer::gate);
  call::Rows own = view(Buffer::layer_inputs);
  own.at = own.at.behind(layer * dim * sizeof(float));
  record(call::Activate{.activation = spec.activation,
                        .clamp = 0,
                        .has_gate = true,
                        .gate = gate,
                        .up = own,
                        .out = gate,
                        .rows = shape_.rows,
                        .cols = dim});
}

}  // namespace spectr

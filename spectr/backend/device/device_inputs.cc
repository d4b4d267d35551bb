// The start of a pass, the inputs of drafters, the per-layer inputs, and states for drafters.
#include <cmath>

#include "spectr/backend/device/device_ops.h"

namespace spectr {

void DeviceOps::record_moves() {
  call::Move move = blocks_.move();
  move.count = data_.move_count();
  move.moves = data_.moves();
  if (move.line_count > 0) record(move);
  record_state_moves();
}

void DeviceOps::embed(const EmbedSpec&) {
  record_moves();
  record(call::Copy{view(Buffer::stream), {data_.embedded(), spec_.width}, shape_.rows, spec_.width});
}

void DeviceOps::load_features() {
  record_moves();
  const std::size_t cols = data_.feature_cols(shape_);
  record(call::Copy{view(Buffer::features), {data_.features(), cols}, shape_.rows, cols});
}

void DeviceOps::join(const PairSpec& pair, const EmbedSpec&, Buffer state) {
  const std::size_t rows = shape_.rows, width = pair.state_width;
  const call::Rows token = view(Buffer::pair), stream = view(Buffer::stream), from = view(state);
  const call::Rows rest{token.at.behind(pair.token_width * sizeof(float)), token.stride};
  record(call::Copy{token, {data_.embedded(), pair.token_width}, rows, pair.token_width});
  if (pair.token_norm) record_norm(*pair.token_norm, token, token);
  if (pair.state_norm) {
    record_norm(*pair.state_norm, from, rest);
  } else {
    record(call::Copy{rest, from, rows, width});
  }
  if (pair.projection) return;
  if (pair.normed_residual) {
    record(call::Copy{stream, rest, rows, width});
  } else if (state != Buffer::stream) {
    record(call::Copy{stream, from, rows, width});
  }
}

void DeviceOps::tap(Buffer from, std::size_t cols, std::size_t first) {
  call::Rows to = logits_[shape_.logits].feature_rows();
  to.at = to.at.behind(first * sizeof(float));
  record(call::Copy{to, view(from), shape_.rows, cols});
}

void DeviceOps::layer_inputs(const LayerEmbeddingSpec& spec) {
  const call::Rows inputs = view(Buffer::layer_inputs);
  const std::size_t all = cols(Buffer::layer_inputs);
  record_group_norm(spec.norm, {}, Buffer::layer_inputs, all / spec.dim, spec.dim);
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

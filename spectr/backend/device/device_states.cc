// The part of DeviceOps for recurrent layers and the states of sequences.
#include <cmath>

#include "spectr/backend/device/device_ops.h"

namespace spectr {

CacheId DeviceOps::open_cache(const CacheSize& size) {
  const CacheId cache = blocks_.open(size);
  try {
    states_.open(cache, size);
  } catch (...) {
    blocks_.close(cache);
    throw;
  }
  return cache;
}

void DeviceOps::close_cache(CacheId cache) {
  blocks_.close(cache);
  states_.close(cache);
}

void DeviceOps::copy_cache(const CacheCopy& copy) {
  blocks_.copy(copy);
  states_.copy(copy);
}

void DeviceOps::record_state_moves() {
  if (!states_.is_used()) return;
  call::Move move = states_.move();
  move.count = data_.state_move_count();
  move.moves = data_.state_moves();
  record(move);
}

void DeviceOps::store_and_convolve(std::size_t layer, WeightId weight, const call::Rows& in,
                                   const call::Rows& by, const call::Rows& factor, const call::Rows& out) {
  record(call::StoreInputs{.states = states_.of(layer), .plan = data_.states(), .in = in, .by = by});
  record(call::Convolve{.states = states_.of(layer),
                        .plan = data_.states(),
                        .weight = weights_.vector(weight),
                        .factor = factor,
                        .out = out});
}

void DeviceOps::delta_net(std::size_t layer) {
  const DeltaNetSpec& delta = *spec_.layers[layer].delta_net();
  const std::size_t dim = delta.head_dim;
  const call::Rows x = view(Buffer::query), out = view(Buffer::attended);
  store_and_convolve(layer, delta.convolution, x, {}, {}, x);
  record(call::PrepareHeads{.states = states_.of(layer),
                            .plan = data_.states(),
                            .x = x,
                            .alpha = view(Buffer::value),
                            .a = weights_.vector(delta.a),
                            .dt_bias = weights_.vector(delta.dt_bias),
                            .key_heads = delta.key_heads,
                            .value_heads = delta.value_heads,
                            .dim = dim,
                            .epsilon = delta.epsilon,
                            .query_scale = 1.0f / std::sqrt(static_cast<float>(dim))});
  record(call::MultiplyKeys{.states = states_.of(layer),
                            .plan = data_.states(),
                            .queries = x,
                            .key_heads = delta.key_heads,
                            .dim = dim,
                            .out = {key_products_.get()}});
  record(call::Recur{.states = states_.of(layer),
                     .plan = data_.states(),
                     .products = {key_products_.get()},
                     .x = x,
                     .beta = view(Buffer::key),
                     .out = out,
                     .key_heads = delta.key_heads,
                     .value_heads = delta.value_heads,
                     .dim = dim});
  record_group_norm(delta.norm, {}, Buffer::attended, delta.value_heads, dim);
  record(call::Activate{.activation = Activation::silu,
                        .clamp = 0,
                        .has_gate = true,
                        .gate = view(Buffer::gate),
                        .up = out,
                        .out = out,
                        .rows = shape_.rows,
                        .cols = delta.inner()});
}

void DeviceOps::short_convolution(std::size_t layer) {
  const ShortConvolutionSpec& convolution = *spec_.layers[layer].short_convolution();
  const call::Rows in = view(Buffer::query);
  const auto part = [&](std::size_t i) {
    return call::Rows{in.at.behind(i * convolution.out.in * sizeof(float)), in.stride};
  };
  store_and_convolve(layer, convolution.weight, part(0), part(2), part(1), view(Buffer::attended));
}

}  // namespace spectr

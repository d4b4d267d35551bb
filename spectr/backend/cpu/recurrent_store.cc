#include "spectr/backend/cpu/recurrent_store.h"

#include <algorithm>
#include <array>

namespace spectr {

RecurrentSizes::RecurrentSizes(const LayerSpec& layer) {
  if (const DeltaNetSpec* delta = layer.delta_net()) {
    inputs = delta->channels();
    keys = delta->key_heads * delta->head_dim;
    values = delta->inner();
    heads = delta->value_heads;
    kernel = delta->kernel;
    state = delta->inner() * delta->head_dim;
  } else if (const ShortConvolutionSpec* convolution = layer.short_convolution()) {
    inputs = convolution->out.in;
    kernel = convolution->kernel;
  }
}

RecurrentStore::RecurrentStore(std::span<const RecurrentSizes> layers, const CacheSize& size)
    : layers_(layers), recent_(size.recent) {
  for (const RecurrentSizes& layer : layers) {
    token_starts_.push_back(token_numbers_);
    frame_starts_.push_back(frame_numbers_);
    token_numbers_ += layer.of_token();
    frame_numbers_ += layer.of_frame();
  }
  tokens_ = std::make_unique<ZeroedPages>(recent_ * token_numbers_ * sizeof(float));
  frames_ = std::make_unique<ZeroedPages>(size.frames * frame_numbers_ * sizeof(float));
}

std::size_t RecurrentStore::bytes(std::span<const RecurrentSizes> layers, const CacheSize& size) {
  std::size_t numbers = 0;
  for (const RecurrentSizes& layer : layers)
    numbers += size.recent * layer.of_token() + size.frames * layer.of_frame();
  return numbers * sizeof(float);
}

std::span<float> RecurrentStore::part(std::size_t layer, std::size_t slot, std::size_t which) {
  const RecurrentSizes& sizes = layers_[layer];
  const std::array numbers = {sizes.inputs, sizes.keys, sizes.values, sizes.heads};
  std::size_t at = slot % recent_ * token_numbers_ + token_starts_[layer];
  for (std::size_t i = 0; i < which; ++i) at += numbers[i];
  return {reinterpret_cast<float*>(tokens_->data()) + at, numbers[which]};
}

std::span<float> RecurrentStore::frame_inputs(std::size_t layer, std::size_t frame, std::size_t i) {
  const std::size_t at = frame * frame_numbers_ + frame_starts_[layer] + i * layers_[layer].inputs;
  return {reinterpret_cast<float*>(frames_->data()) + at, layers_[layer].inputs};
}

std::span<float> RecurrentStore::frame_state(std::size_t layer, std::size_t frame) {
  const RecurrentSizes& sizes = layers_[layer];
  const std::size_t at = frame * frame_numbers_ + frame_starts_[layer] + (sizes.kernel - 1) * sizes.inputs;
  return {reinterpret_cast<float*>(frames_->data()) + at, sizes.state};
}

void RecurrentStore::move(std::size_t from, std::size_t to) {
  const auto* const all = reinterpret_cast<const float*>(tokens_->data());
  auto* const target = reinterpret_cast<float*>(tokens_->data());
  std::copy_n(all + from % recent_ * token_numbers_, token_numbers_, target + to % recent_ * token_numbers_);
}

void RecurrentStore::append_memory(std::size_t slots, std::span<const std::int32_t> frames,
                                   std::vector<std::span<std::byte>>& memory) const {
  const std::size_t frame_bytes = frame_numbers_ * sizeof(float);
  if (token_numbers_ > 0)
    memory.emplace_back(tokens_->data(), std::min(slots, recent_) * token_numbers_ * sizeof(float));
  for (const std::int32_t frame : frames)
    memory.emplace_back(frames_->data() + static_cast<std::size_t>(frame) * frame_bytes, frame_bytes);
}

}  // namespace spectr

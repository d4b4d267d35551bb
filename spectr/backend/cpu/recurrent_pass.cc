#include "spectr/backend/cpu/recurrent_pass.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "spectr/backend/cpu/for_each_row.h"
#include "spectr/backend/cpu/kernels/state_ops.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

// Numbers convolved in about the time of a thread barrier.
constexpr std::size_t convolved_numbers = 1024;

constexpr std::size_t max_head_dim = 1024;

float softplus(float x) {
  return x > 20.0f ? x : std::log1p(std::exp(x));
}

/// x = x / max(‖x‖, epsilon)
void make_unit(std::span<float> x, float epsilon) {
  scale(x, 1.0f / std::max(std::sqrt(dot(x, x)), epsilon));
}

void apply_silu(std::span<float> x) {
  static const std::vector<float> ones(max_head_dim, 1.0f);
  swiglu(x, std::span(ones).first(x.size()));
}

}  // namespace

RecurrentPass::RecurrentPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool)
    : weights_(weights), pool_(pool) {
  for (const LayerSpec& layer : spec.layers) {
    const RecurrentSizes& sizes = sizes_.emplace_back(layer);
    is_recurrent_ = is_recurrent_ || sizes.of_token() > 0;
    max_keys_ = std::max(max_keys_, sizes.keys);
    if (const DeltaNetSpec* delta = layer.delta_net())
      max_head_state_ = std::max(max_head_state_, delta->head_dim * delta->head_dim);
  }
}

void RecurrentPass::reserve(std::size_t rows) {
  if (max_keys_ > 0) queries_ = std::make_unique_for_overwrite<float[]>(rows * max_keys_);
}

void RecurrentPass::open(CacheId cache, const CacheSize& size) {
  if (!is_recurrent_) return;
  stores_.resize(std::max<std::size_t>(stores_.size(), cache + 1));
  stores_[cache] = std::make_unique<RecurrentStore>(sizes_, size);
}

void RecurrentPass::close(CacheId cache) {
  if (is_recurrent_) stores_[cache].reset();
}

void RecurrentPass::append_memory(CacheId cache, std::size_t slots, std::span<const std::int32_t> frames,
                                  std::vector<std::span<std::byte>>& memory) const {
  if (is_recurrent_) store_of(cache).append_memory(slots, frames, memory);
}

std::size_t RecurrentPass::bytes(const CacheSize& size) const {
  return RecurrentStore::bytes(sizes_, size);
}

void RecurrentPass::move(const SlotMove& move) {
  if (!is_recurrent_) return;
  store_of(move.cache).move(static_cast<std::size_t>(move.from), static_cast<std::size_t>(move.to));
}

void RecurrentPass::begin(const PassBatch& batch) {
  batch_ = &batch;
  if (!is_recurrent_) return;
  SPECTR_CHECK(batch.row_states.size() == batch.rows());
  if (batch.states.size() <= states_) return;
  scratch_.resize(batch.states.size() * static_cast<std::size_t>(pool_.threads()) * max_head_state_);
  states_ = batch.states.size();
}

/// Restores the convolution inputs of frames to the slots before their states.
void RecurrentPass::read_frame_inputs(std::size_t layer) {
  for (const GridState& state : batch_->states) {
    if (!state.restores) continue;
    RecurrentStore& store = store_of(state.cache);
    for (std::size_t i = 0; i + 1 < sizes_[layer].kernel; ++i) {
      const std::size_t position = static_cast<std::size_t>(state.grid) - i - 1;
      std::ranges::copy(store.frame_inputs(layer, static_cast<std::size_t>(state.frame), i),
                        store.inputs(layer, position).begin());
    }
  }
}

void RecurrentPass::keep_frame_inputs(std::size_t layer) {
  for (const GridState& state : batch_->states) {
    if (state.keep < 0) continue;
    RecurrentStore& store = store_of(state.cache);
    for (std::size_t i = 0; i + 1 < sizes_[layer].kernel; ++i) {
      const std::size_t slot =
          batch_->slot_at(static_cast<std::size_t>(state.row), static_cast<std::size_t>(state.grid) - i - 1);
      std::ranges::copy(store.inputs(layer, slot),
                        store.frame_inputs(layer, static_cast<std::size_t>(state.keep), i).begin());
    }
  }
}

/// Computes out[c] = Σ_j w[c][j] input[t − kernel + 1 + j][c] for the channels from `begin` on, where t is
/// the row's position. Inputs before the first token are zero.
void RecurrentPass::convolve(std::size_t layer, WeightId weight, std::size_t row, std::size_t begin,
                             std::span<float> out) const {
  const std::size_t kernel = sizes_[layer].kernel;
  const std::span<const float> w = weights_.vector(weight).subspan(begin * kernel, out.size() * kernel);
  const auto position = static_cast<std::size_t>(batch_->positions[row]);
  std::ranges::fill(out, 0.0f);
  for (std::size_t j = 0; j < kernel; ++j) {
    if (position + j + 1 < kernel) continue;
    const std::size_t slot = batch_->slot_at(row, position + j + 1 - kernel);
    const float* const input = store_of_row(row).inputs(layer, slot).data() + begin;
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += w[c * kernel + j] * input[c];
  }
}

void RecurrentPass::run(std::size_t layer, const ShortConvolutionSpec& spec, Span2d<float> in,
                        Span2d<float> out) {
  const std::size_t width = out.cols();
  read_frame_inputs(layer);
  for_each_row(in.rows(), 2 * width, pool_, [&](std::size_t r) {
    const std::span<float> kept = store_of_row(r).inputs(layer, static_cast<std::size_t>(batch_->slots[r]));
    const std::span<const float> b = in[r].first(width), u = in[r].subspan(2 * width, width);
    for (std::size_t c = 0; c < width; ++c) kept[c] = b[c] * u[c];
  });
  // Rows read the kept inputs of other rows, all of which are written by now.
  for_each_row(in.rows(), sizes_[layer].kernel * width, pool_, [&](std::size_t r) {
    convolve(layer, spec.weight, r, 0, out[r]);
    const std::span<const float> factor = in[r].subspan(width, width);
    for (std::size_t c = 0; c < width; ++c) out[r][c] *= factor[c];
  });
  keep_frame_inputs(layer);
}

/// Prepares all rows' heads: stores keys in their slots, queries in queries_, and values back in qkv.
void RecurrentPass::prepare_heads(std::size_t layer, const DeltaNetSpec& spec,
                                  const DeltaNetBuffers& buffers) {
  const std::size_t rows = batch_->rows(), dim = spec.head_dim;
  for_each_row(rows, buffers.qkv.cols(), pool_, [&](std::size_t r) {
    std::ranges::copy(buffers.qkv[r],
                      store_of_row(r).inputs(layer, static_cast<std::size_t>(batch_->slots[r])).begin());
  });
  const std::size_t heads = 2 * spec.key_heads + spec.value_heads;
  const float query_scale = 1.0f / std::sqrt(static_cast<float>(dim));
  pool_.parallel_for(heads, div_up(convolved_numbers, rows * dim), [&](std::size_t begin, std::size_t end) {
    for (std::size_t h = begin; h < end; ++h) {
      for (std::size_t r = 0; r < rows; ++r) {
        const std::span<float> head = buffers.qkv[r].subspan(h * dim, dim);
        convolve(layer, spec.convolution, r, h * dim, head);
        apply_silu(head);
        if (h >= 2 * spec.key_heads) continue;
        make_unit(head, spec.epsilon);
        if (h < spec.key_heads) {
          scale(head, query_scale);
          std::ranges::copy(head, queries_.get() + r * max_keys_ + h * dim);
        } else {
          const std::span<float> keys =
              store_of_row(r).keys(layer, static_cast<std::size_t>(batch_->slots[r]));
          std::ranges::copy(head, keys.begin() + static_cast<std::ptrdiff_t>((h - spec.key_heads) * dim));
        }
      }
    }
  });
}

/// Returns a head's matrix in one of the batch's states, [values, keys]; empty for the zero state.
std::span<float> RecurrentPass::state_of(std::size_t layer, std::size_t index, std::size_t head,
                                         std::size_t thread) const {
  const GridState& state = batch_->states[index];
  if (state.grid == 0) return {};
  const std::size_t numbers = sizes_[layer].state / sizes_[layer].heads;
  const std::int32_t frame = state.frame >= 0 ? state.frame : state.keep;
  if (frame >= 0) {
    return store_of(state.cache)
        .frame_state(layer, static_cast<std::size_t>(frame))
        .subspan(head * numbers, numbers);
  }
  return {const_cast<float*>(scratch_.data()) + (thread * states_ + index) * max_head_state_, numbers};
}

/// Computes a head's matrix in a state from the preceding state.
void RecurrentPass::advance(std::size_t layer, const DeltaNetSpec& spec, std::size_t head, std::size_t index,
                            std::size_t thread) const {
  const GridState& state = batch_->states[index];
  RecurrentStore& store = store_of(state.cache);
  const std::size_t dim = spec.head_dim, key_head = head % spec.key_heads;
  const auto slot = [&](std::size_t i) {  // tokens since the preceding state
    return batch_->slot_at(static_cast<std::size_t>(state.row),
                           static_cast<std::size_t>(state.grid) - state_grid + i);
  };
  const std::span<float> out = state_of(layer, index, head, thread);
  const std::span<const float> before = state_of(layer, static_cast<std::size_t>(state.from), head, thread);
  const float total = store.decays(layer, slot(state_grid - 1))[head];
  if (before.empty()) {
    std::ranges::fill(out, 0.0f);
  } else {
    std::ranges::copy(before, out.begin());
    scale(out, std::exp(total));
  }
  std::array<float, max_head_dim> scaled;
  for (std::size_t i = 0; i < state_grid; ++i) {
    const std::span<float> u = std::span(scaled).first(dim);
    std::ranges::copy(store.values(layer, slot(i)).subspan(head * dim, dim), u.begin());
    scale(u, std::exp(total - store.decays(layer, slot(i))[head]));
    add_outer_product(out, u, store.keys(layer, slot(i)).subspan(key_head * dim, dim));
  }
}

void RecurrentPass::run_head(std::size_t layer, const DeltaNetSpec& spec, const DeltaNetBuffers& buffers,
                             std::size_t head, std::size_t thread) {
  const std::size_t dim = spec.head_dim, key_head = head % spec.key_heads;
  const float a = weights_.vector(spec.a)[head], dt_bias = weights_.vector(spec.dt_bias)[head];
  const NormNumbers norm = weights_.numbers_of(spec.norm);
  std::array<float, max_head_dim> numbers;
  std::size_t advanced = 0;  // states of the batch
  for (std::size_t r = 0; r < batch_->rows(); ++r) {
    const auto index = static_cast<std::size_t>(batch_->row_states[r]);
    // States are in topological order, and the tokens that they need belong to preceding rows.
    for (; advanced <= index; ++advanced) {
      if (batch_->states[advanced].from >= 0) advance(layer, spec, head, advanced, thread);
    }
    RecurrentStore& store = store_of_row(r);
    const auto position = static_cast<std::size_t>(batch_->positions[r]);
    const auto grid = static_cast<std::size_t>(batch_->states[index].grid);
    const std::size_t own = static_cast<std::size_t>(batch_->slots[r]);
    const std::span<const float> k = store.keys(layer, own).subspan(key_head * dim, dim);
    const std::span<const float> q{queries_.get() + r * max_keys_ + key_head * dim, dim};
    const std::span<const float> v = buffers.qkv[r].subspan((2 * spec.key_heads + head) * dim, dim);
    const std::span<float> u = store.values(layer, own).subspan(head * dim, dim);
    const std::span<float> o = buffers.out[r].subspan(head * dim, dim);

    float decay = softplus(buffers.alpha[r][head] + dt_bias) * a;
    if (position > grid) decay += store.decays(layer, batch_->slot_at(r, position - 1))[head];
    store.decays(layer, own)[head] = decay;
    if (const std::span<const float> state = state_of(layer, index, head, thread); state.empty()) {
      std::ranges::copy(v, u.begin());
      std::ranges::fill(o, 0.0f);
    } else {
      const std::span<float> seen = std::span(numbers).first(dim);
      two_products(state, k, q, seen, o);
      const float factor = std::exp(decay);
      std::ranges::copy(v, u.begin());
      add_scaled(u, -factor, seen);
      scale(o, factor);
    }
    for (std::size_t p = grid; p < position; ++p) {
      const std::size_t slot = batch_->slot_at(r, p);
      const std::span<const float> before = store.keys(layer, slot).subspan(key_head * dim, dim);
      const std::span<const float> added = store.values(layer, slot).subspan(head * dim, dim);
      const float factor = std::exp(decay - store.decays(layer, slot)[head]);
      add_scaled(u, -factor * dot(before, k), added);
      add_scaled(o, factor * dot(before, q), added);
    }
    scale(u, sigmoid(buffers.beta[r][head]));
    add_scaled(o, dot(k, q), u);

    normalize(spec.norm.kind, norm, o, o);
    const std::span<float> gate = std::span(numbers).first(dim);
    std::ranges::copy(buffers.z[r].subspan(head * dim, dim), gate.begin());
    swiglu(gate, o);
    std::ranges::copy(gate, o.begin());
  }
  // Compute states that are kept for later passes, after all rows.
  for (; advanced < batch_->states.size(); ++advanced) {
    if (batch_->states[advanced].from >= 0) advance(layer, spec, head, advanced, thread);
  }
}

void RecurrentPass::run(std::size_t layer, const DeltaNetSpec& spec, const DeltaNetBuffers& buffers) {
  SPECTR_CHECK(spec.head_dim <= max_head_dim);
  read_frame_inputs(layer);
  prepare_heads(layer, spec, buffers);
  pool_.parallel_for(spec.value_heads, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    for (std::size_t h = begin; h < end; ++h) run_head(layer, spec, buffers, h, thread);
  });
  keep_frame_inputs(layer);
}

}  // namespace spectr

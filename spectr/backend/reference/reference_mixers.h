#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "spectr/backend/reference/reference_weights.h"
#include "spectr/gguf/f16.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// Attention and recurrent layers by definition: every row attends to all slots of its path. A recurrent
/// layer keeps the inputs of all tokens; it recomputes its state from the first token for every row that does
/// not continue the preceding row. There is neither grid nor frames.
template <class Number>
class ReferenceMixers {
 public:
  /// All arguments must outlive it.
  ReferenceMixers(const ModelSpec& spec, const KvTypes& kv, const ReferenceWeights<Number>& weights)
      : spec_(spec), kv_(kv), weights_(weights) {}

  void open(CacheId cache, const CacheSize& size) {
    contexts_[cache] = size.context;
    for (std::size_t layer = 0; layer < spec_.layers.size(); ++layer) {
      caches_[cache].push_back({std::vector<Number>(size.slots * key_numbers(layer)),
                                std::vector<Number>(size.slots * value_numbers(layer))});
    }
  }
  void close(CacheId cache) { caches_.erase(cache); }
  void copy(const CacheCopy& copy) {
    for (std::size_t layer = 0; layer < spec_.layers.size(); ++layer) {
      const Cache& from = caches_[copy.from][layer];
      Cache& to = caches_[copy.to][layer];
      std::ranges::copy(std::span(from.keys).first(copy.slots * key_numbers(layer)), to.keys.begin());
      std::ranges::copy(std::span(from.values).first(copy.slots * value_numbers(layer)), to.values.begin());
    }
  }
  std::size_t bytes(const CacheSize& size) const {
    std::size_t numbers = 0;
    for (std::size_t layer = 0; layer < spec_.layers.size(); ++layer)
      numbers += key_numbers(layer) + value_numbers(layer);
    return size.slots * numbers * sizeof(Number);
  }
  void move(const SlotMove& move) {
    for (std::size_t layer = 0; layer < spec_.layers.size(); ++layer) {
      Cache& cache = caches_[move.cache][layer];
      std::ranges::copy(keys(cache, layer, move.from), keys(cache, layer, move.to).begin());
      std::ranges::copy(values(cache, layer, move.from), values(cache, layer, move.to).begin());
    }
  }
  void begin(const PassBatch& batch) { batch_ = &batch; }
  /// See Ops::read_caches_of().
  void read_caches_of(const ReferenceMixers& target) { target_ = &target; }

  /// Stores a row's key and value, and prepares its query; see Ops::attention.
  void prepare(std::size_t layer, std::size_t row, std::span<Number> query, std::span<Number> key,
               std::span<Number> value) {
    const AttentionSpec& spec = *spec_.layers[layer].attention();
    const std::size_t dim = spec.head_dim;
    prepare_heads(spec, spec.q_norm, row, query.first(spec.heads * dim));
    if (spec.temperature) {
      const auto periods = batch_->positions[row] / static_cast<std::int32_t>(spec.temperature->period);
      const Number factor =
          Number(spec.temperature->scale) * std::log(static_cast<Number>(periods + 1)) + Number(1);
      for (Number& number : query.first(spec.heads * dim)) number *= factor;
    }
    if (!spec.kv_from) store_keys(layer, row, key, value);
  }

  /// Stores a row's key and value; see Ops::store_keys.
  void store_keys(std::size_t layer, std::size_t row, std::span<Number> key, std::span<Number> value) {
    const AttentionSpec& spec = *spec_.layers[layer].attention();
    const std::size_t dim = spec.head_dim;
    key = key.first(spec.kv_heads * dim);
    value = value.first(spec.kv_heads * dim);
    for (std::size_t h = 0; spec.value_epsilon && h < spec.kv_heads; ++h) {
      const std::span<Number> head = value.subspan(h * dim, dim);
      weights_.normalize(NormSpec::Kind::rms, *spec.value_epsilon, nullptr, nullptr, head, head);
    }
    if (spec.latent) weights_.normalize(spec.latent->norm, key, key);
    prepare_heads(spec, spec.k_norm, row, key);
    Cache& cache = cache_of(row, layer);
    store(kv_.keys, dim, key, keys(cache, layer, batch_->slots[row]));
    if (!spec.latent) store(kv_.values, dim, value, values(cache, layer, batch_->slots[row]));
  }

  void attend(std::size_t layer, std::size_t row, std::span<const Number> query, std::span<Number> out) {
    const AttentionSpec& spec = *spec_.layers[layer].attention();
    const std::size_t from = spec.kv_from.value_or(layer), dim = spec.head_dim;
    const std::size_t value_dim = spec.latent ? spec.latent->rank : dim;
    const ReferenceMixers& owner = spec.kv_of_target ? *target_ : *this;
    const Cache& cache = owner.caches_.at(batch_->caches[row])[from];
    const std::size_t seen = batch_->attended(row);
    const std::size_t first = batch_->window_begin(row, spec.window);
    for (std::size_t h = 0; h < spec.heads; ++h) {
      const std::size_t at = h / (spec.heads / spec.kv_heads) * dim;
      const std::span<const Number> q = query.subspan(h * dim, dim);
      std::vector<Number> scores;
      for (std::size_t p = first; p < seen; ++p) {
        const std::span<const Number> key = owner.keys(cache, from, batch_->slot_at(row, p)).subspan(at, dim);
        scores.push_back(capped(spec.score_cap, product(q, key) * Number(spec.scale)));
      }
      Number max = std::ranges::max(scores), sum = 0;
      if (spec.sinks) max = std::max(max, Number(weights_[*spec.sinks][h]));
      for (Number& score : scores) sum += score = std::exp(score - max);
      if (spec.sinks) sum += std::exp(Number(weights_[*spec.sinks][h]) - max);
      const std::span<Number> head = out.subspan(h * dim, dim);
      std::ranges::fill(head, Number(0));
      for (std::size_t p = first; p < seen; ++p) {
        const std::int32_t slot = batch_->slot_at(row, p);
        const std::span<const Number> value =
            (spec.latent ? owner.keys(cache, from, slot) : owner.values(cache, from, slot))
                .subspan(at, value_dim);
        for (std::size_t j = 0; j < value_dim; ++j) head[j] += scores[p - first] / sum * value[j];
      }
    }
  }

  /// Stores b ⊙ u of a row, and computes c ⊙ (its convolution).
  void convolve(std::size_t layer, std::size_t row, std::span<const Number> in, std::span<Number> out) {
    const ShortConvolutionSpec& spec = *spec_.layers[layer].short_convolution();
    const std::size_t width = spec.out.in;
    const std::span<Number> kept = keys(cache_of(row, layer), layer, batch_->slots[row]);
    for (std::size_t c = 0; c < width; ++c) kept[c] = in[c] * in[2 * width + c];
    const std::vector<Number> sums =
        convolution(layer, row, batch_->attended(row) - 1, spec.weight, spec.kernel);
    for (std::size_t c = 0; c < width; ++c) out[c] = in[width + c] * sums[c];
  }

  /// Stores a row's convolution inputs and gates, and runs the recurrence over its path. Must be called for
  /// all rows of a layer in order.
  void run_delta_net(std::size_t layer, std::size_t row, std::span<const Number> qkv,
                     std::span<const Number> z, std::span<const Number> beta, std::span<const Number> alpha,
                     std::span<Number> out) {
    const DeltaNetSpec& spec = *spec_.layers[layer].delta_net();
    const std::size_t dim = spec.head_dim;
    Cache& cache = cache_of(row, layer);
    std::ranges::copy(qkv.first(spec.channels()), keys(cache, layer, batch_->slots[row]).begin());
    const std::span<Number> gates = values(cache, layer, batch_->slots[row]);
    for (std::size_t h = 0; h < spec.value_heads; ++h) {
      gates[h] = sigmoid_of(beta[h]);
      const Number x = alpha[h] + Number(weights_[spec.dt_bias][h]);
      gates[spec.value_heads + h] =
          std::exp(Number(weights_[spec.a][h]) * (x > 30 ? x : std::log1p(std::exp(x))));
    }
    std::vector<Number>& states = states_[layer];
    const bool goes_on = follows(row);
    if (!goes_on) states.assign(spec.inner() * dim, Number(0));
    std::vector<Number> x, added(dim);
    const auto head_of_x = [&](std::size_t h) { return std::span<Number>(x).subspan(h * dim, dim); };
    const auto values_of = [&](std::size_t h, std::size_t i) {
      return std::span(states).subspan((h * dim + i) * dim, dim);
    };
    for (std::size_t p = goes_on ? batch_->attended(row) - 1 : 0; p < batch_->attended(row); ++p) {
      const std::span<const Number> of_token = values(cache, layer, batch_->slot_at(row, p));
      x = convolution(layer, row, p, spec.convolution, spec.kernel);
      for (Number& number : x) number *= sigmoid_of(number);
      for (std::size_t h = 0; h < 2 * spec.key_heads; ++h) {
        const std::span<Number> head = head_of_x(h);
        const Number size = std::max(std::sqrt(product(head, head)), Number(spec.epsilon));
        for (Number& number : head) number /= size;
      }
      for (std::size_t h = 0; h < spec.value_heads; ++h) {
        const std::span<const Number> k = head_of_x(spec.key_heads + h % spec.key_heads);
        const std::span<const Number> v = head_of_x(2 * spec.key_heads + h);
        const Number rate = of_token[h], decay = of_token[spec.value_heads + h];
        std::ranges::fill(added, Number(0));
        for (std::size_t i = 0; i < dim; ++i) {
          for (Number& number : values_of(h, i)) number *= decay;
          add(k[i], values_of(h, i), added);
        }
        for (std::size_t j = 0; j < dim; ++j) added[j] = rate * (v[j] - added[j]);
        for (std::size_t i = 0; i < dim; ++i) add(k[i], added, values_of(h, i));
      }
    }
    std::ranges::fill(out.first(spec.inner()), Number(0));
    for (std::size_t h = 0; h < spec.value_heads; ++h) {
      const std::span<const Number> q = head_of_x(h % spec.key_heads);
      for (std::size_t i = 0; i < dim; ++i)
        add(q[i] / std::sqrt(static_cast<Number>(dim)), values_of(h, i), out.subspan(h * dim, dim));
    }
    for (std::size_t h = 0; h < spec.value_heads; ++h) {
      const std::span<Number> head = out.subspan(h * dim, dim);
      weights_.normalize(spec.norm, head, head);
      for (std::size_t j = 0; j < dim; ++j) head[j] *= z[h * dim + j] * sigmoid_of(z[h * dim + j]);
    }
  }

 private:
  /// Indexed by slot: [slots, key_numbers] and [slots, value_numbers].
  struct Cache {
    std::vector<Number> keys, values;
  };

  std::size_t key_numbers(std::size_t layer) const {
    const LayerSpec& spec = spec_.layers[layer];
    if (const auto* delta = spec.delta_net()) return delta->channels();
    if (const auto* convolution = spec.short_convolution()) return convolution->out.in;
    return spec.attention()->kv_heads * spec.attention()->head_dim;
  }
  std::size_t value_numbers(std::size_t layer) const {
    const LayerSpec& spec = spec_.layers[layer];
    if (const auto* delta = spec.delta_net()) return 2 * delta->value_heads;
    const AttentionSpec* attention = spec.attention();
    return attention != nullptr && !attention->latent ? key_numbers(layer) : 0;
  }
  template <class OfCache, class Slot>
  auto keys(OfCache& cache, std::size_t layer, Slot slot) const {
    return std::span(cache.keys)
        .subspan(static_cast<std::size_t>(slot) * key_numbers(layer), key_numbers(layer));
  }
  template <class OfCache, class Slot>
  auto values(OfCache& cache, std::size_t layer, Slot slot) const {
    return std::span(cache.values)
        .subspan(static_cast<std::size_t>(slot) * value_numbers(layer), value_numbers(layer));
  }
  Cache& cache_of(std::size_t row, std::size_t layer) { return caches_[batch_->caches[row]][layer]; }

  /// Returns true if the row's path is that of the preceding row plus the row itself.
  bool follows(std::size_t row) const {
    if (row == 0 || batch_->caches[row] != batch_->caches[row - 1]) return false;
    const std::size_t before = batch_->attended(row - 1);
    bool same = batch_->attended(row) == before + 1;
    for (std::size_t p = 0; same && p < before; ++p)
      same = batch_->slot_at(row, p) == batch_->slot_at(row - 1, p);
    return same;
  }

  static Number product(std::span<const Number> x, std::span<const Number> y) {
    const Number* of_y = y.data();
    Number sum = 0;
    for (const Number number : x) sum += number * *of_y++;
    return sum;
  }

  /// y += a x.
  static void add(Number a, std::span<const Number> x, std::span<Number> y) {
    const Number* of_x = x.data();
    for (Number& number : y) number += a * *of_x++;
  }

  /// Rounds the numbers of contiguous heads to a KV type.
  static void store(KvType type, std::size_t head_dim, std::span<const Number> x, std::span<Number> out) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      out[j] = type == KvType::f16 ? Number(f16_to_float(round_to_f16(static_cast<float>(x[j])).bits)) : x[j];
    }
    if (type != KvType::q8_0) return;
    for (std::size_t j = 0, count; j < x.size(); j += count) {
      count = std::min(q8_dims, head_dim - j % head_dim);
      std::array<std::int8_t, q8_dims> quants;
      std::array<float, q8_dims> numbers;
      for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(x[j + i]);
      const float scale = round_to_q8(std::span(numbers).first(count), std::span(quants).first(count));
      for (std::size_t i = 0; i < count; ++i) out[j + i] = Number(static_cast<float>(quants[i]) * scale);
    }
  }

  /// Computes Σ_j w[c][j] input[p − kernel + 1 + j][c] at position p of a row's path.
  std::vector<Number> convolution(std::size_t layer, std::size_t row, std::size_t position, WeightId weight,
                                  std::size_t kernel) {
    std::vector<Number> sums(key_numbers(layer));
    for (std::size_t j = 0; j < kernel; ++j) {
      if (position + j + 1 < kernel) continue;
      const std::span<const Number> input =
          keys(cache_of(row, layer), layer, batch_->slot_at(row, position + j + 1 - kernel));
      for (std::size_t c = 0; c < sums.size(); ++c)
        sums[c] += Number(weights_[weight][c * kernel + j]) * input[c];
    }
    return sums;
  }

  /// Normalizes and rotates the vectors of all heads, which are contiguous.
  void prepare_heads(const AttentionSpec& spec, const std::optional<NormSpec>& norm, std::size_t row,
                     std::span<Number> heads) const {
    if (norm && spec.norms_whole_vector) weights_.normalize(*norm, heads, heads);
    for (; !heads.empty(); heads = heads.subspan(spec.head_dim)) {
      const std::span<Number> head = heads.first(spec.head_dim);
      if (norm && !spec.norms_whole_vector) weights_.normalize(*norm, head, head);
      rotate(spec.rope, row, head.subspan(spec.rope.first));
    }
  }

  void rotate(const RopeSpec& rope, std::size_t row, std::span<Number> head) const {
    const auto& contexts = target_ != nullptr ? target_->contexts_ : contexts_;
    const std::vector<float>& frequencies = rope.frequencies_in(contexts.at(batch_->caches[row]));
    const std::size_t half = rope.dims / 2;
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = batch_->positions[row] * static_cast<double>(frequencies[i]);
      const auto c = static_cast<Number>(std::cos(angle)) * Number(rope.magnitude);
      const auto s = static_cast<Number>(std::sin(angle)) * Number(rope.magnitude);
      Number& a = head[rope.interleaved ? 2 * i : i];
      Number& b = head[rope.interleaved ? 2 * i + 1 : i + half];
      const Number rotated = a * c - b * s;
      b = a * s + b * c;
      a = rotated;
    }
  }

  const ModelSpec& spec_;
  KvTypes kv_;
  const ReferenceWeights<Number>& weights_;
  std::map<CacheId, std::vector<Cache>> caches_;  // by layer
  std::map<CacheId, std::size_t> contexts_;
  std::map<std::size_t, std::vector<Number>> states_;  // by layer, after the last row: [heads, keys, values]
  const PassBatch* batch_ = nullptr;
  const ReferenceMixers* target_ = nullptr;  // the caches that layers with kv_of_target read
};

}  // namespace spectr

#include "spectr/backend/reference/reference_backend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/span2d.h"
#include "spectr/gguf/dequantize.h"
#include "spectr/gguf/f16.h"

namespace spectr {
namespace {

class ReferenceLogits final : public PassLogits {
 public:
  explicit ReferenceLogits(std::vector<std::vector<double>> rows) : rows_(std::move(rows)) {}
  Logits row(std::size_t i) const override { return std::span<const double>(rows_[i]); }

 private:
  std::vector<std::vector<double>> rows_;
};

template <class Number>
class ReferenceOps final : public Ops {
 public:
  ReferenceOps(const ModelSpec& spec, const KvTypes& kv)
      : spec_(spec), kv_(kv), weights_(spec.weights.size()) {}

  bool upload(WeightId id, std::span<const std::byte> bytes) override {
    const WeightSpec& weight = spec_.weight(id);
    weights_[id].resize(weight.rows * weight.cols);
    dequantize(weight.type, bytes, weights_[id]);
    return false;
  }
  void reserve(std::size_t) override {}
  std::size_t bytes_of(WeightId id) const override { return weights_[id].size() * sizeof(float); }

  /// Layers with a window keep all slots.
  CacheId open_cache(const CacheSize& size) override {
    const CacheId id = next_cache_++;
    for (const LayerSpec& layer : spec_.layers) {
      const std::size_t numbers = size.slots * layer.attention.kv_heads * layer.attention.head_dim;
      caches_[id].push_back({std::vector<Number>(numbers), std::vector<Number>(numbers)});
    }
    return id;
  }
  void close_cache(CacheId cache) override { caches_.erase(cache); }
  std::size_t cache_bytes(const CacheSize& size) const override {
    std::size_t numbers = 0;
    for (const LayerSpec& layer : spec_.layers)
      numbers += layer.attention.kv_heads * layer.attention.head_dim;
    return 2 * size.slots * numbers * sizeof(Number);
  }

  void begin(const PassBatch& batch) override {
    for (const auto& [cache, from, to] : batch.moves) {
      for (std::size_t l = 0; l < spec_.layers.size(); ++l) {
        const std::size_t width = kv_width(l);
        for (auto* numbers : {&caches_[cache][l].keys, &caches_[cache][l].values}) {
          std::copy_n(numbers->begin() + from * static_cast<std::ptrdiff_t>(width), width,
                      numbers->begin() + to * static_cast<std::ptrdiff_t>(width));
        }
      }
    }
    batch_ = &batch;
    for (std::size_t i = 0; i < buffer_count; ++i) {
      buffers_[i].assign(batch.rows() * cols_of(spec_, static_cast<Buffer>(i)), Number(0));
    }
  }

  void embed(const EmbedSpec& spec) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      const std::span<Number> x = row(Buffer::stream, r);
      const std::span<const float> token = weight_row(spec.tokens, batch_->tokens[r]);
      for (std::size_t j = 0; j < x.size(); ++j) x[j] = Number(spec.scale) * Number(token[j]);
      if (!spec.positions) continue;
      const std::span<const float> position = weight_row(*spec.positions, batch_->positions[r]);
      for (std::size_t j = 0; j < x.size(); ++j) x[j] += Number(position[j]);
    }
  }

  void norm(const NormSpec& spec, Buffer in, Buffer out) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) normalize(spec, row(in, r), row(out, r));
  }

  void scale(Buffer buffer, float factor) override {
    for (Number& number : buffers_[static_cast<std::size_t>(buffer)]) number *= Number(factor);
  }

  void add() override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      const std::span<Number> x = row(Buffer::stream, r), branch = row(Buffer::branch, r);
      for (std::size_t j = 0; j < x.size(); ++j) x[j] += branch[j];
    }
  }

  void add_norm(const NormSpec& spec) override {
    add();
    norm(spec, Buffer::stream, Buffer::normed);
  }

  void linear(LinearRole, std::span<const LinearTarget> targets, Buffer in) override {
    for (const auto& [linear, out] : targets) {
      for (std::size_t r = 0; r < batch_->rows(); ++r) multiply(*linear, row(in, r), row(out, r));
    }
  }

  void attention(std::size_t layer) override {
    const AttentionSpec& spec = spec_.layers[layer].attention;
    const std::size_t dim = spec.head_dim, group = spec.heads / spec.kv_heads;
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      prepare(spec, spec.q_norm, row(Buffer::query, r).first(spec.heads * dim), batch_->positions[r]);
      const std::span<Number> key = row(Buffer::key, r), value = row(Buffer::value, r);
      prepare(spec, spec.k_norm, key.first(kv_width(layer)), batch_->positions[r]);
      Cache& cache = caches_[batch_->caches[r]][layer];
      const auto at = static_cast<std::size_t>(batch_->slots[r]) * kv_width(layer);
      for (std::size_t j = 0; j < kv_width(layer); ++j) {
        cache.keys[at + j] = stored(kv_.keys, key[j]);
        cache.values[at + j] = stored(kv_.values, value[j]);
      }
    }
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      for (std::size_t h = 0; h < spec.heads; ++h) {
        attend(spec, caches_[batch_->caches[r]][layer], kv_width(layer), h / group * dim, r,
               row(Buffer::query, r).subspan(h * dim, dim), row(Buffer::attended, r).subspan(h * dim, dim));
      }
    }
  }

  void activate(const DenseSpec& spec) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) activate(spec, row(Buffer::gate, r), row(Buffer::up, r));
  }

  std::size_t experts(const ExpertsSpec& spec, Buffer in) override {
    std::set<std::size_t> chosen;
    std::vector<Number> z(spec.blocks.size()), y(spec_.width);
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      const std::span<const Number> x = row(in, r);
      const std::span<Number> branch = row(Buffer::branch, r);
      std::ranges::fill(branch, Number(0));
      multiply(spec.router, x, z);
      for (const auto& [expert, weight] : choose(spec, z)) {
        chosen.insert(expert);
        const DenseSpec& block = spec.blocks[expert];
        std::vector<Number> gate(block.width), up(block.width);
        if (block.gate) multiply(*block.gate, x, gate);
        multiply(block.up, x, up);
        activate(block, gate, up);
        multiply(block.down, block.gate ? gate : up, y);
        for (std::size_t j = 0; j < y.size(); ++j) branch[j] += weight * y[j];
      }
    }
    return chosen.size();
  }

  void head(const HeadSpec& spec) override {
    std::vector<std::vector<double>> rows;
    std::vector<Number> normed(spec_.width), y(spec.output.out);
    for (const std::int32_t wanted : batch_->wanted) {
      normalize(spec.norm, row(Buffer::stream, static_cast<std::size_t>(wanted)), normed);
      multiply(spec.output, normed, y);
      for (Number& logit : y) logit = capped(spec.cap, logit * Number(spec.scale));
      if (spec.shortlist.empty()) {
        rows.emplace_back(y.begin(), y.end());
      } else {
        rows.push_back(spread(spec, normed, y, *batch_->own_words[rows.size()]));
      }
    }
    std::erase_if(logits_, [](const auto& one) { return !one->is_held(); });
    logits_.push_back(std::make_unique<ReferenceLogits>(std::move(rows)));
  }

  Result<HeldLogits> finish() override { return HeldLogits(*logits_.back()); }

 private:
  struct Cache {
    std::vector<Number> keys, values;  // [slots, kv_heads · head_dim]
  };

  std::size_t kv_width(std::size_t layer) const {
    return spec_.layers[layer].attention.kv_heads * spec_.layers[layer].attention.head_dim;
  }

  std::span<Number> row(Buffer buffer, std::size_t r) {
    const std::size_t cols = cols_of(spec_, buffer);
    return std::span(buffers_[static_cast<std::size_t>(buffer)]).subspan(r * cols, cols);
  }

  template <class Index>
  std::span<const float> weight_row(WeightId id, Index i) const {
    const std::size_t cols = spec_.weight(id).cols;
    return std::span(weights_[id]).subspan(static_cast<std::size_t>(i) * cols, cols);
  }

  void multiply(const LinearSpec& linear, std::span<const Number> x, std::span<Number> y) const {
    for (std::size_t i = 0; i < linear.out; ++i) {
      const std::span<const float> w = weight_row(linear.weight, i);
      Number sum = 0;
      for (std::size_t j = 0; j < linear.in; ++j) sum += Number(w[j]) * x[j];
      y[i] = linear.bias ? sum + Number(weights_[*linear.bias][i]) : sum;
    }
  }

  /// The logits of all tokens.
  std::vector<double> spread(const HeadSpec& spec, std::span<const Number> normed,
                             std::span<const Number> shortlist, const OwnWords& own) const {
    std::vector<double> row(spec_.vocabulary, -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < shortlist.size(); ++i)
      row[static_cast<std::size_t>(spec.shortlist[i])] = static_cast<double>(shortlist[i]);
    for (std::size_t i = 0; i < own.tokens.size(); ++i) {
      Number sum = own.biases.empty() ? Number(0) : Number(own.biases[i]);
      for (std::size_t j = 0; j < normed.size(); ++j)
        sum += Number(own.rows[i * normed.size() + j]) * normed[j];
      row[static_cast<std::size_t>(own.tokens[i])] =
          static_cast<double>(capped(spec.cap, sum * Number(spec.scale)));
    }
    return row;
  }

  void normalize(const NormSpec& spec, std::span<const Number> x, std::span<Number> out) const {
    const auto n = static_cast<Number>(x.size());
    Number mean = 0, squares = 0;
    if (spec.kind == NormSpec::Kind::layer) {
      for (const Number v : x) mean += v / n;
    }
    for (const Number v : x) squares += (v - mean) * (v - mean) / n;
    const Number factor = 1 / std::sqrt(squares + Number(spec.epsilon));
    for (std::size_t j = 0; j < x.size(); ++j) {
      out[j] = (x[j] - mean) * factor * Number(weights_[spec.weight][j]);
      if (spec.bias) out[j] += Number(weights_[*spec.bias][j]);
    }
  }

  /// Normalizes and turns the vectors of all heads, side by side.
  void prepare(const AttentionSpec& spec, const std::optional<NormSpec>& norm, std::span<Number> heads,
               int position) const {
    if (norm && spec.norms_whole_vector) normalize(*norm, heads, heads);
    for (; !heads.empty(); heads = heads.subspan(spec.head_dim)) {
      const std::span<Number> head = heads.first(spec.head_dim);
      if (norm && !spec.norms_whole_vector) normalize(*norm, head, head);
      turn(spec, head, position);
    }
  }

  void turn(const AttentionSpec& spec, std::span<Number> head, int position) const {
    const std::size_t half = spec.rope.dims / 2;
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = position * static_cast<double>(spec.rope.frequencies[i]);
      const auto c = static_cast<Number>(std::cos(angle)), s = static_cast<Number>(std::sin(angle));
      Number& a = head[spec.rope.interleaved ? 2 * i : i];
      Number& b = head[spec.rope.interleaved ? 2 * i + 1 : i + half];
      const Number turned = a * c - b * s;
      b = a * s + b * c;
      a = turned;
    }
  }

  static Number stored(KvType type, Number x) {
    if (type == KvType::f16) return Number(f16_to_float(round_to_f16(static_cast<float>(x)).bits));
    return x;
  }

  static Number capped(float cap, Number x) { return cap > 0 ? Number(cap) * std::tanh(x / Number(cap)) : x; }

  static Number activated(Activation activation, Number z) {
    if (activation == Activation::silu) return z / (1 + std::exp(-z));
    const Number u =
        std::sqrt(Number(2) / Number(3.14159265358979323846)) * (z + Number(0.044715) * z * z * z);
    return z / 2 * (1 + std::tanh(u));
  }

  static void activate(const DenseSpec& spec, std::span<Number> gate, std::span<Number> up) {
    for (std::size_t j = 0; j < spec.width; ++j) {
      if (spec.gate) {
        gate[j] = activated(spec.activation, gate[j]) * up[j];
      } else {
        up[j] = activated(spec.activation, up[j]);
      }
    }
  }

  /// Experts and their weights, by the router's outputs.
  std::vector<std::pair<std::size_t, Number>> choose(const ExpertsSpec& spec, std::vector<Number> z) const {
    using Gating = ExpertsSpec::Gating;
    const auto softmax = [](std::vector<Number>& numbers) {
      const Number max = std::ranges::max(numbers);
      Number sum = 0;
      for (Number& number : numbers) sum += number = std::exp(number - max);
      for (Number& number : numbers) number /= sum;
    };
    if (spec.gating == Gating::softmax) softmax(z);
    if (spec.gating == Gating::sigmoid) {
      for (Number& number : z) number = 1 / (1 + std::exp(-number));
    }
    std::vector<std::size_t> order(z.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t e) {
      return spec.selection_bias ? z[e] + Number(weights_[*spec.selection_bias][e]) : z[e];
    });
    order.resize(spec.used);
    std::vector<Number> weights;
    for (const std::size_t e : order) weights.push_back(z[e]);
    if (spec.gating == Gating::softmax_of_chosen) softmax(weights);
    const Number sum =
        spec.normalized ? std::accumulate(weights.begin(), weights.end(), Number(0)) : Number(1);
    std::vector<std::pair<std::size_t, Number>> chosen;
    for (std::size_t i = 0; i < order.size(); ++i)
      chosen.emplace_back(order[i], weights[i] / sum * Number(spec.weights_scale));
    return chosen;
  }

  void attend(const AttentionSpec& spec, const Cache& cache, std::size_t width, std::size_t at, std::size_t r,
              std::span<const Number> q, std::span<Number> out) const {
    std::vector<std::size_t> slots;
    for (std::int32_t s = 0; s < batch_->prefixes[r]; ++s) slots.push_back(static_cast<std::size_t>(s));
    for (const std::int32_t s : batch_->ancestors(r)) slots.push_back(static_cast<std::size_t>(s));
    if (spec.window > 0 && slots.size() > spec.window)
      slots.erase(slots.begin(), slots.end() - static_cast<std::ptrdiff_t>(spec.window));
    std::vector<Number> scores;
    for (const std::size_t slot : slots) {
      Number score = 0;
      for (std::size_t j = 0; j < q.size(); ++j) score += q[j] * cache.keys[slot * width + at + j];
      scores.push_back(capped(spec.score_cap, score * Number(spec.scale)));
    }
    const Number max = *std::ranges::max_element(scores);
    Number sum = 0;
    for (Number& score : scores) sum += score = std::exp(score - max);
    std::ranges::fill(out, Number(0));
    for (std::size_t i = 0; i < slots.size(); ++i) {
      for (std::size_t j = 0; j < out.size(); ++j)
        out[j] += scores[i] / sum * cache.values[slots[i] * width + at + j];
    }
  }

  const ModelSpec& spec_;
  KvTypes kv_;
  std::vector<std::vector<float>> weights_;
  std::map<CacheId, std::vector<Cache>> caches_;  // by layer
  CacheId next_cache_ = 0;
  std::array<std::vector<Number>, buffer_count> buffers_;
  const PassBatch* batch_ = nullptr;
  std::vector<std::unique_ptr<const PassLogits>> logits_;  // of the current pass, and those that are held
};

}  // namespace

const Caps& ReferenceBackend::caps() const {
  static const Caps caps =
      host_caps("reference", {Feature::embedding_scale, Feature::residual_scale, Feature::logit_scale,
                              Feature::whole_vector_norms, Feature::shortlist, Feature::experts,
                              Feature::sliding_window, Feature::score_cap, Feature::logit_cap});
  return caps;
}

Result<std::unique_ptr<Ops>> ReferenceBackend::make(const ModelSpec& spec, const KvTypes& kv) const {
  if (precision_ == Precision::f32) return std::make_unique<ReferenceOps<float>>(spec, kv);
  return std::make_unique<ReferenceOps<double>>(spec, kv);
}

}  // namespace spectr

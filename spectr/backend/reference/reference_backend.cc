#include "spectr/backend/reference/reference_backend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "spectr/backend/reference/reference_experts.h"
#include "spectr/backend/reference/reference_mixers.h"
#include "spectr/backend/reference/reference_weights.h"

namespace spectr {
namespace {

class ReferenceLogits final : public PassLogits {
 public:
  ReferenceLogits(std::vector<std::vector<double>> rows, std::vector<float> features, std::size_t width)
      : rows_(std::move(rows)), features_(std::move(features)), width_(width) {}
  Logits row(std::size_t i) const override { return std::span<const double>(rows_[i]); }
  std::span<const float> features(std::size_t row) const override {
    return std::span(features_).subspan(row * width_, width_);
  }

 private:
  std::vector<std::vector<double>> rows_;
  std::vector<float> features_;
  std::size_t width_;  // per row
};

template <class Number>
class ReferenceOps final : public Ops {
 public:
  ReferenceOps(const ModelSpec& spec, const KvTypes& kv)
      : spec_(spec), weights_(spec), mixers_(spec, kv, weights_) {}

  bool upload(WeightId id, std::span<const std::byte> bytes) override {
    weights_.upload(id, bytes);
    return false;
  }
  void reserve(std::size_t) override {}
  std::size_t bytes_of(WeightId id) const override { return weights_[id].size() * sizeof(float); }

  CacheId open_cache(const CacheSize& size) override {
    mixers_.open(next_cache_, size);
    return next_cache_++;
  }
  void close_cache(CacheId cache) override { mixers_.close(cache); }
  void copy_cache(const CacheCopy& copy) override { mixers_.copy(copy); }
  std::size_t cache_bytes(const CacheSize& size) const override { return mixers_.bytes(size); }

  void begin(const PassBatch& batch) override {
    for (const SlotMove& move : batch.moves) mixers_.move(move);
    mixers_.begin(batch);
    batch_ = &batch;
    rows_.clear();
    features_.assign(batch.rows() * spec_.feature_width(), 0.0F);
    for (std::size_t i = 0; i < buffer_count; ++i) {
      buffers_[i].assign(batch.rows() * cols_of(spec_, static_cast<Buffer>(i)), Number(0));
    }
  }

  void embed(const EmbedSpec& spec) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      const std::span<Number> x = row(Buffer::stream, r);
      const auto token = static_cast<std::size_t>(batch_->tokens[r]);
      if (token >= spec.first && token - spec.first < spec_.weight(spec.tokens).rows) {
        const std::span<const float> numbers = weights_.row(spec.tokens, token - spec.first);
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = Number(spec.scale) * Number(numbers[j]);
      }
      const auto add_row = [&](WeightId table, std::int32_t of) {
        const std::span<const float> numbers = weights_.row(table, of);
        for (std::size_t j = 0; j < x.size(); ++j) x[j] += Number(numbers[j]);
      };
      if (spec.segments) add_row(*spec.segments, batch_->segment(r));
      if (spec.positions) add_row(*spec.positions, batch_->positions[r]);
    }
  }

  void norm(const NormSpec& spec, Buffer in, Buffer out) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) weights_.normalize(spec, row(in, r), row(out, r));
  }

  void scale(Buffer buffer, float factor) override {
    for (Number& number : buffers_[static_cast<std::size_t>(buffer)]) number *= Number(factor);
  }

  void add(Buffer to, Buffer from) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      const std::span<Number> x = row(to, r), y = row(from, r);
      for (std::size_t j = 0; j < spec_.width; ++j) x[j] += y[j];
    }
  }

  void add_norm(const NormSpec& spec) override {
    add(Buffer::stream, Buffer::branch);
    norm(spec, Buffer::stream, Buffer::normed);
  }

  void gate(Buffer buffer, std::size_t cols, std::size_t gates) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      for (std::size_t j = 0; j < cols; ++j)
        row(buffer, r)[j] *= sigmoid_of(row(Buffer::gate, r)[gates == 1 ? 0 : j]);
    }
  }

  void linear(LinearRole, std::span<const LinearTarget> targets, Buffer in) override {
    for (const auto& [linear, out] : targets) {
      for (std::size_t r = 0; r < batch_->rows(); ++r) weights_.multiply(*linear, row(in, r), row(out, r));
    }
  }

  void attention(std::size_t layer) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r)
      mixers_.prepare(layer, r, row(Buffer::query, r), row(Buffer::key, r), row(Buffer::value, r));
    for (std::size_t r = 0; r < batch_->rows(); ++r)
      mixers_.attend(layer, r, row(Buffer::query, r), row(Buffer::attended, r));
  }

  void latent_queries(std::size_t layer) override {
    const AttentionSpec& spec = *spec_.layers[layer].attention();
    const LatentSpec& latent = *spec.latent;
    const std::size_t stride = spec.q.out / spec.heads;
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      for (std::size_t h = 0; h < spec.heads; ++h) {
        const std::span<const Number> in = row(Buffer::up, r).subspan(h * stride, stride);
        const std::span<Number> out = row(Buffer::query, r).subspan(h * spec.head_dim, spec.head_dim);
        weights_.multiply(latent.keys_up[h], in, out);
        std::ranges::copy(in.subspan(latent.q_dim), out.subspan(latent.rank).begin());
      }
    }
  }

  void latent_values(std::size_t layer) override {
    const AttentionSpec& spec = *spec_.layers[layer].attention();
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      for (std::size_t h = 0; h < spec.heads; ++h) {
        weights_.multiply(spec.latent->values_up[h], row(Buffer::attended, r).subspan(h * spec.head_dim),
                          row(Buffer::up, r).subspan(h * spec.latent->value_dim));
      }
    }
  }

  void delta_net(std::size_t layer) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      mixers_.run_delta_net(layer, r, row(Buffer::query, r), row(Buffer::gate, r), row(Buffer::key, r),
                            row(Buffer::value, r), row(Buffer::attended, r));
    }
  }

  void short_convolution(std::size_t layer) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r)
      mixers_.convolve(layer, r, row(Buffer::query, r), row(Buffer::attended, r));
  }

  void activate(const DenseSpec& spec) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) activate(spec, row(Buffer::gate, r), row(Buffer::up, r));
  }

  std::size_t experts(const ExpertsSpec& spec, Buffer in) override {
    std::set<std::size_t> chosen;
    std::vector<Number> z(spec.router.out), y(spec_.width), normed(spec_.width);
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      const std::span<const Number> x = row(in, r);
      const std::span<Number> branch = row(Buffer::branch, r);
      std::ranges::fill(branch, Number(0));
      if (spec.router_norm) weights_.normalize(*spec.router_norm, row(Buffer::stream, r), normed);
      weights_.multiply(spec.router, spec.router_norm ? std::span<const Number>(normed) : x, z);
      for (const auto& [expert, weight] : choose_by_definition(spec, weights_, z)) {
        if (expert < spec.first || expert - spec.first >= spec.blocks.size()) continue;
        chosen.insert(expert);
        const DenseSpec& block = spec.blocks[expert - spec.first];
        std::vector<Number> gate(block.width), up(block.width);
        if (block.gate) weights_.multiply(*block.gate, x, gate);
        weights_.multiply(block.up, x, up);
        activate(block, gate, up);
        weights_.multiply(block.down, block.gate ? gate : up, y);
        for (std::size_t j = 0; j < y.size(); ++j) branch[j] += weight * y[j];
      }
    }
    return chosen.size();
  }

  void layer_inputs(const LayerEmbeddingSpec& spec) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      const std::span<Number> inputs = row(Buffer::layer_inputs, r);
      const std::span<const float> own = weights_.row(spec.tokens, batch_->tokens[r]);
      for (std::size_t at = 0; at < inputs.size(); at += spec.dim)
        weights_.normalize(spec.norm, inputs.subspan(at, spec.dim), inputs.subspan(at, spec.dim));
      for (std::size_t j = 0; j < inputs.size(); ++j) {
        const Number embedding = std::sqrt(static_cast<Number>(spec.dim)) * Number(own[j]);
        inputs[j] = (inputs[j] + embedding) / std::sqrt(Number(2));
      }
    }
  }

  void layer_input(std::size_t layer) override {
    const LayerInputSpec& spec = *spec_.layers[layer].input;
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      for (std::size_t j = 0; j < spec.gate.out; ++j) {
        Number& gate = row(Buffer::gate, r)[j];
        gate = activated(spec.activation, 0, gate, row(Buffer::layer_inputs, r)[layer * spec.gate.out + j]);
      }
    }
  }

  std::span<float> numbers(Buffer buffer) override {
    if constexpr (std::is_same_v<Number, float>) return buffers_[static_cast<std::size_t>(buffer)];
    return {};
  }

  void head(const HeadSpec& spec) override {
    std::vector<std::vector<double>>& rows = rows_;
    std::vector<Number> normed(spec_.width), y(spec.output.out);
    for (const std::int32_t wanted : batch_->wanted) {
      const std::span<const Number> x = row(Buffer::stream, static_cast<std::size_t>(wanted));
      if (spec.norm) {
        weights_.normalize(*spec.norm, x, normed);
      } else {
        std::ranges::copy(x.first(normed.size()), normed.begin());
      }
      weights_.multiply(spec.output, normed, y);
      for (Number& logit : y) logit = capped(spec.cap, logit * Number(spec.scale));
      if (spec.shortlist.empty()) {
        rows.emplace_back(y.begin(), y.end());
      } else {
        rows.push_back(spread(spec, normed, y, *batch_->extra_tokens[rows.size()]));
      }
      for (const Token token : spec.forbidden)
        rows.back()[static_cast<std::size_t>(token)] = -std::numeric_limits<double>::infinity();
    }
  }

  Result<HeldLogits> finish() override {
    std::erase_if(logits_, [](const auto& one) { return !one->is_held(); });
    logits_.push_back(
        std::make_unique<ReferenceLogits>(std::move(rows_), std::move(features_), spec_.feature_width()));
    return HeldLogits(*logits_.back());
  }

  bool read_caches_of(const Ops& target) override {
    const auto* ops = dynamic_cast<const ReferenceOps*>(&target);
    if (ops == nullptr) return false;
    mixers_.read_caches_of(ops->mixers_);
    return true;
  }

  void tap(Buffer from, std::size_t cols, std::size_t first) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      for (std::size_t j = 0; j < cols; ++j)
        features_[r * spec_.feature_width() + first + j] = static_cast<float>(row(from, r)[j]);
    }
  }

  void load_features() override {
    const std::size_t cols = batch_->features.size() / batch_->rows();
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      for (std::size_t j = 0; j < cols; ++j)
        row(Buffer::features, r)[j] = Number(batch_->features[r * cols + j]);
    }
  }

  void join(const PairSpec& pair, const EmbedSpec& embed, Buffer state) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r) {
      const std::span<Number> token = row(Buffer::pair, r).first(pair.token_width);
      const std::span<Number> rest = row(Buffer::pair, r).subspan(pair.token_width, pair.state_width);
      const std::span<const float> numbers = weights_.row(embed.tokens, batch_->tokens[r]);
      for (std::size_t j = 0; j < token.size(); ++j) token[j] = Number(embed.scale) * Number(numbers[j]);
      if (pair.token_norm) weights_.normalize(*pair.token_norm, token, token);
      std::ranges::copy(row(state, r).first(pair.state_width), rest.begin());
      if (!pair.projection && !pair.normed_residual) std::ranges::copy(rest, row(Buffer::stream, r).begin());
      if (pair.state_norm) weights_.normalize(*pair.state_norm, rest, rest);
      if (!pair.projection && pair.normed_residual) std::ranges::copy(rest, row(Buffer::stream, r).begin());
    }
  }

  void store_keys(std::size_t layer) override {
    for (std::size_t r = 0; r < batch_->rows(); ++r)
      mixers_.store_keys(layer, r, row(Buffer::key, r), row(Buffer::value, r));
  }

  void convolve(const BlockConvolutionSpec& spec, std::size_t side, Buffer buffer) override {
    const std::size_t groups = spec_.width / spec.group;
    const std::vector<Number> z = buffers_[static_cast<std::size_t>(buffer)];
    std::size_t t = 0;  // position of the row in its block
    for (std::size_t r = 0; r < batch_->rows(); ++r, ++t) {
      if (r == 0 || batch_->caches[r] != batch_->caches[r - 1]) t = 0;
      const std::span<const Number> factors = row(Buffer::factors, r);
      for (std::size_t c = 0; c < spec_.width; ++c) {
        Number sum = 0;
        for (std::size_t lag = 0; lag < spec.kernel && lag <= t; ++lag) {
          const std::size_t at = side * spec.kernel + lag;
          const Number factor =
              Number(weights_[spec.base][at * spec_.width + c]) + factors[at * groups + c / spec.group];
          sum += factor * z[(r - lag) * spec_.width + c];
        }
        row(buffer, r)[c] = sum;
      }
    }
  }

 private:
  std::span<Number> row(Buffer buffer, std::size_t r) {
    const std::size_t cols = cols_of(spec_, buffer);
    return std::span(buffers_[static_cast<std::size_t>(buffer)]).subspan(r * cols, cols);
  }

  static void activate(const DenseSpec& spec, std::span<Number> gate, std::span<Number> up) {
    for (std::size_t j = 0; j < spec.width; ++j) {
      if (spec.gate) {
        gate[j] = activated(spec.activation, spec.clamp, gate[j], up[j]);
      } else {
        up[j] = activated(spec.activation, spec.clamp, up[j], Number(1));
      }
    }
  }

  /// Returns the logits of all tokens.
  std::vector<double> spread(const HeadSpec& spec, std::span<const Number> normed,
                             std::span<const Number> shortlist, const ExtraTokens& own) const {
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

  const ModelSpec& spec_;
  ReferenceWeights<Number> weights_;
  ReferenceMixers<Number> mixers_;
  CacheId next_cache_ = 0;
  std::array<std::vector<Number>, buffer_count> buffers_;
  const PassBatch* batch_ = nullptr;
  std::vector<std::vector<double>> rows_;                  // logits of the current pass
  std::vector<float> features_;                            // features of the pass's rows
  std::vector<std::unique_ptr<const PassLogits>> logits_;  // of the last pass, and all that are held
};

}  // namespace

const Caps& ReferenceBackend::caps() const {
  static const Caps caps = host_caps("reference", all_features());
  return caps;
}

Result<std::unique_ptr<Ops>> ReferenceBackend::make(const ModelSpec& spec, const KvTypes& kv) const {
  if (precision_ == Precision::f32) return std::make_unique<ReferenceOps<float>>(spec, kv);
  return std::make_unique<ReferenceOps<double>>(spec, kv);
}

}  // namespace spectr

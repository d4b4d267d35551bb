#include "spectr/backend/sharded/model_part.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/nn/ops.h"
#include "spectr/nn/part_weights.h"

namespace spectr {

Result<void> check_sharing(const ModelSpec& spec, std::initializer_list<Feature> indivisible) {
  std::vector<Feature> features = all_features();
  for (const Feature one :
       {Feature::taps, Feature::drafter_inputs, Feature::block_convolutions, Feature::head_without_norm})
    std::erase(features, one);
  for (const Feature one : indivisible) std::erase(features, one);
  return check(spec, {KvType::f32, KvType::f32}, host_caps("of several ranks", std::move(features)));
}

namespace {

/// Replaces a model's weights by one rank's part of each layer.
class PartOfLayers {
 public:
  PartOfLayers(ModelSpec& spec, RankOf who) : spec_(spec), who_(who), kept_(spec) {}

  Result<void> take_all() {
    // Features that need a whole row, or keep one state for all heads, cannot be split.
    SPECTR_TRY_VOID(check_sharing(
        spec_, {Feature::whole_vector_norms, Feature::latent_attention, Feature::recurrent_mixer,
                Feature::short_convolution, Feature::layer_embeddings, Feature::shortlist}));
    SPECTR_TRY(const Range tokens, part("the vocabulary", spec_.vocabulary));
    spec_.embed.tokens = rows(spec_.embed.tokens, tokens);
    spec_.embed.first = tokens.first;
    if (who_.rank > 0) spec_.embed.positions.reset();
    kept_.keep(spec_.embed.positions);
    for (LayerSpec& layer : spec_.layers) SPECTR_TRY_VOID(take(layer));
    kept_.keep(spec_.head.norm);
    take_rows(spec_.head.output, tokens);
    take_forbidden(tokens);
    spec_.weights = kept_.take();
    return {};
  }

 private:
  /// Keeps the forbidden tokens of the rank's range, relative to its first token.
  void take_forbidden(const Range& tokens) {
    std::vector<Token> own;
    for (const Token token : spec_.head.forbidden) {
      const auto id = static_cast<std::size_t>(token);
      if (id >= tokens.first && id < tokens.first + tokens.size)
        own.push_back(static_cast<Token>(id - tokens.first));
    }
    spec_.head.forbidden = std::move(own);
  }

  Result<void> take(LayerSpec& layer) {
    kept_.keep_norms(layer);
    SPECTR_TRY_VOID(take(*layer.attention()));
    if (layer.ffn) SPECTR_TRY_VOID(take(*layer.ffn));
    kept_.keep(layer.ffn_gate);
    if (layer.experts) SPECTR_TRY_VOID(take(*layer.experts));
    return {};
  }

  Result<void> take(AttentionSpec& a) {
    SPECTR_TRY(const Range heads, equal_part("heads of attention", a.heads));
    SPECTR_TRY(const Range kv_heads, equal_part("heads of keys and values", a.kv_heads));
    const Range queries{heads.first * a.head_dim, heads.size * a.head_dim};
    const Range keys{kv_heads.first * a.head_dim, kv_heads.size * a.head_dim};
    a.heads = heads.size;
    a.kv_heads = kv_heads.size;
    kept_.keep(a.q_norm);
    kept_.keep(a.k_norm);
    take_rows(a.q, queries);
    if (!a.kv_from) {
      take_rows(a.k, keys);
      take_rows(a.v, keys);
    }
    if (a.gate) take_rows(*a.gate, queries);
    if (a.sinks) a.sinks = rows(*a.sinks, heads);
    return take_cols(a.out, queries);
  }

  Result<void> take(DenseSpec& block) {
    const std::size_t piece = format_of(spec_.weight(block.down.weight).type).elements;
    SPECTR_TRY(const Range hidden,
               part("the columns of " + spec_.weight(block.down.weight).name, block.width, piece));
    if (block.gate) take_rows(*block.gate, hidden);
    take_rows(block.up, hidden);
    block.width = hidden.size;
    return take_cols(block.down, hidden);
  }

  Result<void> take(ExpertsSpec& experts) {
    SPECTR_TRY(const Range mine, part("the experts", experts.blocks.size()));
    experts.first = mine.first;
    experts.blocks = {experts.blocks.begin() + static_cast<std::ptrdiff_t>(mine.first),
                      experts.blocks.begin() + static_cast<std::ptrdiff_t>(mine.first + mine.size)};
    kept_.keep(experts);
    return {};
  }

  Result<Range> part(std::string_view what, std::size_t count, std::size_t piece = 1) const {
    if (count % piece != 0 || count / piece < who_.ranks) {
      return error(ErrorCode::unsupported, "{}: {}, {} in pieces of {}, cannot be shared by {} ranks",
                   spec_.file, what, count, piece, who_.ranks);
    }
    return part_of(count, who_, piece);
  }
  Result<Range> equal_part(std::string_view what, std::size_t count) const {
    if (count % who_.ranks == 0) return part_of(count, who_);
    return error(ErrorCode::unsupported, "{}: {} {} cannot be shared by {} ranks", spec_.file, count, what,
                 who_.ranks);
  }

  /// Returns a range of a matrix's rows, or of a vector's elements.
  WeightId rows(WeightId id, Range range) {
    WeightSpec weight = spec_.weight(id);
    (weight.is_vector ? weight.cols : weight.rows) = range.size;
    if (weight.chosen.empty()) {
      weight.first += range.first;
    } else {
      const auto begin = weight.chosen.begin() + static_cast<std::ptrdiff_t>(range.first);
      weight.chosen = {begin, begin + static_cast<std::ptrdiff_t>(range.size)};
    }
    return kept_.place_of(std::move(weight));
  }

  void take_rows(LinearSpec& linear, Range range) {
    linear.weight = rows(linear.weight, range);
    if (linear.bias) linear.bias = rows(*linear.bias, range);
    linear.out = range.size;
  }
  Result<void> take_cols(LinearSpec& linear, Range range) {
    WeightSpec weight = spec_.weight(linear.weight);
    const TensorFormat& format = format_of(weight.type);
    if (range.first % format.elements != 0 || range.size % format.elements != 0) {
      return error(ErrorCode::unsupported,
                   "{}: the {} columns of {} are blocks of {} ({}), which {} ranks would cut", spec_.file,
                   weight.cols, weight.name, format.elements, format.name, who_.ranks);
    }
    if (weight.stored_cols == 0) weight.stored_cols = weight.cols;
    weight.first_col += range.first;
    weight.cols = range.size;
    linear.weight = kept_.place_of(std::move(weight));
    linear.in = range.size;
    if (who_.rank > 0) linear.bias.reset();
    kept_.keep(linear.bias);
    return {};
  }

  ModelSpec& spec_;
  RankOf who_;
  PartWeights kept_;
};

}  // namespace

Result<void> take_part_of_layers(ModelSpec& spec, RankOf who) {
  return PartOfLayers(spec, who).take_all();
}

}  // namespace spectr

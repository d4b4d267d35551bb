#include "spectr/backend/sharded/model_part.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/nn/ops.h"

namespace spectr {
namespace {

/// What ranks can share: all but what reads the whole of a row, or keeps one state for all heads.
Caps sharing_caps() {
  std::vector<Feature> features = all_features();
  for (const Feature indivisible :
       {Feature::whole_vector_norms, Feature::latent_attention, Feature::recurrent_mixer,
        Feature::short_convolution, Feature::layer_embeddings, Feature::shortlist})
    std::erase(features, indivisible);
  return host_caps("of several ranks", std::move(features));
}

/// Replaces a model's weights by a rank's, those of one layer after the other.
class Taking {
 public:
  Taking(ModelSpec& spec, RankOf who) : spec_(spec), who_(who) {}

  Result<void> take_all() {
    SPECTR_TRY_VOID(check(spec_, {KvType::f32, KvType::f32}, sharing_caps()));
    SPECTR_TRY(const Range tokens, part("the vocabulary", spec_.vocabulary));
    spec_.embed.tokens = rows(spec_.embed.tokens, tokens);
    spec_.embed.first = tokens.first;
    if (who_.rank > 0) spec_.embed.positions.reset();
    if (spec_.embed.positions) keep(*spec_.embed.positions);
    for (LayerSpec& layer : spec_.layers) SPECTR_TRY_VOID(take(layer));
    keep(spec_.head.norm);
    take_rows(spec_.head.output, tokens);
    take_forbidden(tokens);
    spec_.weights = std::move(weights_);
    return {};
  }

 private:
  /// The tokens that never come, counted from the rank's first one on.
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
    for (auto* norm : {&layer.mixer_norm, &layer.ffn_norm, &layer.mixer_post_norm, &layer.ffn_post_norm,
                       &layer.experts_norm, &layer.dense_post_norm, &layer.experts_post_norm})
      keep(*norm);
    SPECTR_TRY_VOID(take(*layer.attention()));
    if (layer.ffn) SPECTR_TRY_VOID(take(*layer.ffn));
    if (layer.ffn_gate) keep(*layer.ffn_gate);
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
    keep(a.q_norm);
    keep(a.k_norm);
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
    keep(experts.router);
    keep(experts.router_norm);
    for (std::optional<WeightId>* vector : {&experts.selection_bias, &experts.scales}) {
      if (*vector) keep(**vector);
    }
    experts.first = mine.first;
    experts.blocks = {experts.blocks.begin() + static_cast<std::ptrdiff_t>(mine.first),
                      experts.blocks.begin() + static_cast<std::ptrdiff_t>(mine.first + mine.size)};
    for (DenseSpec& block : experts.blocks) {
      if (block.gate) keep(*block.gate);
      keep(block.up);
      keep(block.down);
    }
    return {};
  }

  Result<Range> part(std::string_view what, std::size_t count, std::size_t piece = 1) const {
    if (count % piece != 0 || count / piece < who_.ranks) {
      return error("{}: {}, {} in pieces of {}, cannot be shared by {} ranks", spec_.file, what, count, piece,
                   who_.ranks);
    }
    return part_of(count, who_, piece);
  }
  Result<Range> equal_part(std::string_view what, std::size_t count) const {
    if (count % who_.ranks == 0) return part_of(count, who_);
    return error("{}: {} {} cannot be shared by {} ranks", spec_.file, count, what, who_.ranks);
  }

  /// The weight's place among those that are left.
  WeightId place_of(WeightSpec weight) {
    std::vector<WeightId>& of_tensor = places_[weight.name];
    for (const WeightId id : of_tensor) {
      if (weights_[id] == weight) return id;
    }
    of_tensor.push_back(static_cast<WeightId>(weights_.size()));
    weights_.push_back(std::move(weight));
    return of_tensor.back();
  }
  /// Some of a matrix's rows, or of a vector's numbers.
  WeightId rows(WeightId id, Range range) {
    WeightSpec weight = spec_.weight(id);
    (weight.is_vector ? weight.cols : weight.rows) = range.size;
    if (weight.chosen.empty()) {
      weight.first += range.first;
    } else {
      const auto begin = weight.chosen.begin() + static_cast<std::ptrdiff_t>(range.first);
      weight.chosen = {begin, begin + static_cast<std::ptrdiff_t>(range.size)};
    }
    return place_of(std::move(weight));
  }

  void keep(WeightId& id) { id = place_of(spec_.weight(id)); }
  void keep(NormSpec& norm) {
    keep(norm.weight);
    if (norm.bias) keep(*norm.bias);
  }
  void keep(std::optional<NormSpec>& norm) {
    if (norm) keep(*norm);
  }
  void keep(LinearSpec& linear) {
    keep(linear.weight);
    if (linear.bias) keep(*linear.bias);
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
      return error("{}: the {} columns of {} are blocks of {} ({}), which {} ranks would cut", spec_.file,
                   weight.cols, weight.name, format.elements, format.name, who_.ranks);
    }
    if (weight.stored_cols == 0) weight.stored_cols = weight.cols;
    weight.first_col += range.first;
    weight.cols = range.size;
    linear.weight = place_of(std::move(weight));
    linear.in = range.size;
    if (who_.rank > 0) linear.bias.reset();
    if (linear.bias) keep(*linear.bias);
    return {};
  }

  ModelSpec& spec_;
  RankOf who_;
  std::vector<WeightSpec> weights_;
  std::map<std::string, std::vector<WeightId>> places_;  // by tensor
};

}  // namespace

Range part_of(std::size_t count, RankOf who, std::size_t piece) {
  SPECTR_CHECK(who.rank < who.ranks && count % piece == 0);
  const std::size_t pieces = count / piece;
  const std::size_t first = pieces * who.rank / who.ranks, end = pieces * (who.rank + 1) / who.ranks;
  return {first * piece, (end - first) * piece};
}

Result<void> take_part_of_layers(ModelSpec& spec, RankOf who) {
  return Taking(spec, who).take_all();
}

}  // namespace spectr

#include "spectr/backend/sharded/model_stage.h"

#include <cstdint>
#include <span>
#include <utility>

#include "spectr/backend/sharded/model_part.h"
#include "spectr/nn/part_weights.h"

namespace spectr {
namespace {

std::uint64_t bytes_of(std::span<const WeightSpec> weights) {
  std::uint64_t bytes = 0;
  for (const WeightSpec& weight : weights) {
    const TensorFormat& format = format_of(weight.type);
    bytes += weight.rows * weight.cols / format.elements * format.bytes;
  }
  return bytes;
}

/// Keeps the weights that the leader has in addition to its layers.
void keep_outer(ModelSpec& spec, PartWeights& kept) {
  kept.keep(spec.embed.tokens);
  kept.keep(spec.embed.positions);
  kept.keep(spec.head.norm);
  kept.keep(spec.head.output);
}

std::uint64_t outer_bytes(ModelSpec spec) {
  PartWeights kept(spec);
  keep_outer(spec, kept);
  return bytes_of(kept.take());
}

std::uint64_t layer_bytes(const ModelSpec& spec, LayerSpec layer) {
  PartWeights kept(spec);
  kept.keep(layer);
  return bytes_of(kept.take());
}

/// Consecutive layers that must stay together: a single layer, or all from one that computes keys and values
/// to the last one that reuses them.
struct Group {
  std::size_t layers = 0;
  std::uint64_t bytes = 0;
};

std::vector<Group> groups_of(const ModelSpec& spec) {
  std::vector<bool> begins(spec.layers.size(), true);
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const AttentionSpec* attention = spec.layers[i].attention();
    if (attention == nullptr || !attention->kv_from) continue;
    for (std::size_t between = *attention->kv_from + 1; between <= i; ++between) begins[between] = false;
  }
  std::vector<Group> groups;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    if (begins[i]) groups.emplace_back();
    ++groups.back().layers;
    groups.back().bytes += layer_bytes(spec, spec.layers[i]);
  }
  return groups;
}

}  // namespace

Result<std::vector<Range>> stages_of(const ModelSpec& spec, std::size_t ranks) {
  const std::vector<Group> groups = groups_of(spec);
  if (groups.size() < ranks) {
    return error(ErrorCode::unsupported, "{}: {} layers{} cannot be shared by {} ranks", spec.file,
                 spec.layers.size(),
                 groups.size() < spec.layers.size() ? ", of which some share keys and values," : "", ranks);
  }
  std::uint64_t before = outer_bytes(spec);
  std::uint64_t all = before;
  for (const Group& group : groups) all += group.bytes;

  std::vector<Range> stages;
  std::size_t next = 0, layers = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    // Take a group if that brings the rank closer to its share, but leave one for each later rank.
    const std::size_t behind = ranks - rank - 1;
    Range stage{layers, 0};
    const auto takes_next = [&] {
      if (stage.size == 0 || behind == 0) return true;
      return before + groups[next].bytes / 2 <= all / ranks * (rank + 1) && next + behind < groups.size();
    };
    for (; next < groups.size() && takes_next(); ++next) {
      stage.size += groups[next].layers;
      before += groups[next].bytes;
    }
    layers += stage.size;
    stages.push_back(stage);
  }
  return stages;
}

Result<void> take_stage(ModelSpec& spec, RankOf who) {
  SPECTR_TRY_VOID(check_sharing(spec, {Feature::layer_embeddings, Feature::shortlist}));
  SPECTR_TRY(const std::vector<Range> stages, stages_of(spec, who.ranks));
  const auto [first, size] = stages[who.rank];
  const auto begin = spec.layers.begin() + static_cast<std::ptrdiff_t>(first);
  spec.layers = {begin, begin + static_cast<std::ptrdiff_t>(size)};

  PartWeights kept(spec);
  for (LayerSpec& layer : spec.layers) {
    kept.keep(layer);
    if (AttentionSpec* attention = layer.attention(); attention != nullptr && attention->kv_from)
      *attention->kv_from -= first;
  }
  if (who.rank == 0) {
    keep_outer(spec, kept);
  } else {
    spec.embed = {};
    spec.head = {};
  }
  spec.weights = kept.take();
  return {};
}

}  // namespace spectr

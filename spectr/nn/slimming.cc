#include "spectr/nn/slimming.h"

#include <algorithm>
#include <string>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/gguf/quantize.h"

namespace spectr {
namespace {

Result<void> change_type(ModelSpec& spec, WeightId id, TensorType type) {
  WeightSpec& weight = spec.weights[id];
  const TensorFormat& format = format_of(type);
  if (weight.cols % format.elements != 0) {
    return error("{}: tensor {} has {} columns: it can't be made {}, whose blocks have {}", spec.file,
                 weight.name, weight.cols, format.name, format.elements);
  }
  weight.type = type;
  return {};
}

}  // namespace

Result<void> slim(ModelSpec& spec, const Slimming& how) {
  if (!how.shortlist.empty()) {
    SPECTR_CHECK(std::ranges::is_sorted(how.shortlist) && how.shortlist.front() >= 0);
    SPECTR_CHECK(static_cast<std::size_t>(how.shortlist.back()) < spec.vocabulary);
    LinearSpec& output = spec.head.output;
    const auto choose = [&](WeightId id) {
      WeightSpec chosen = spec.weights[id];
      (chosen.is_vector ? chosen.cols : chosen.rows) = how.shortlist.size();
      chosen.chosen = how.shortlist;
      if (id == spec.embed.tokens) {  // the embedding itself stays as it is
        spec.weights.push_back(std::move(chosen));
        return static_cast<WeightId>(spec.weights.size() - 1);
      }
      spec.weights[id] = std::move(chosen);
      return id;
    };
    output.weight = choose(output.weight);
    if (output.bias) output.bias = choose(*output.bias);
    output.out = how.shortlist.size();
    spec.head.shortlist = how.shortlist;
    spec.requirements.push_back({Feature::shortlist, fmt::format("{} of {} tokens are chosen for the head",
                                                                 output.out, spec.vocabulary)});
  }
  if (!how.type) return {};
  if (std::ranges::find(quantizable_types(), *how.type) == quantizable_types().end()) {
    std::string names;
    for (const TensorType type : quantizable_types())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", format_of(type).name);
    return error("{}: matrices can't be made {}, but {}", spec.file, format_of(*how.type).name, names);
  }
  std::vector<WeightId> ids;
  for_each_linear(spec, [&ids](const LinearSpec& linear, double) { ids.push_back(linear.weight); });
  for (const LayerSpec& layer :
       spec.layers) {  // routers stay as they are: they are small, and they decide which experts run
    if (layer.experts) std::erase(ids, layer.experts->router.weight);
  }
  for (const WeightId id : ids) SPECTR_TRY_VOID(change_type(spec, id, *how.type));
  return {};
}

}  // namespace spectr

#include "apps/cli/flags/spec_type.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "spectr/base/names.h"
#include "spectr/engine/model_caches.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/drafters/drafters.h"

namespace spectr::cli {
namespace {

/// A value of --spec-type.
struct SpecType {
  std::string_view name;
  std::string_view method;  ///< its counterpart; empty: none. Drafts of all kinds go with several methods
  std::string_view prefix = {};  ///< the beginning of the name of a drafter's file next to the target

  bool drafts() const { return name.starts_with("draft-"); }
};

constexpr std::string_view next_token_type = "draft-mtp";
constexpr SpecType spec_types[] = {
    {"none", "plain"},
    {"draft-simple", "auto"},
    {"draft-eagle3", "auto", "eagle3-"},
    {next_token_type, "auto", "mtp-"},
    {"draft-dflash", "auto", "dflash-"},
    {"draft-dspark", "auto", "dspark-"},
    {"ngram-simple", "ngram"},
    {"ngram-map-k", "suffix"},
    {"ngram-map-k4v", "suffix"},
    {"ngram-mod", ""},
    {"ngram-cache", ""},
};

/// Returns the type of a draft: that of a trained drafter, or draft-simple for a model.
std::string_view type_of(const Gguf& file, bool is_target) {
  if (!is_trained_drafter(file) && !(is_target && has_next_token_layer(file))) return "draft-simple";
  const std::string_view architecture = need(file.string("general.architecture"));
  if (architecture == "eagle3") return "draft-eagle3";
  if (architecture != "dflash") return next_token_type;
  return file.tensor("markov_w1.weight") == nullptr ? "draft-dflash" : "draft-dspark";
}

std::vector<const SpecType*> read_types(const std::vector<std::string>& given) {
  std::vector<const SpecType*> types;
  for (const std::string& name : entries_of(given)) {
    types.push_back(need(find_named(spec_types, "speculation type", name)));
    if (!types.back()->method.empty()) continue;
    throw Failure(
        Status::usage,
        fmt::format("--spec-type {} is not supported: use --method suffix, which drafts from the text "
                    "and, with --suffix-corpus FILE, from another one",
                    name));
  }
  return types;
}

/// A drafter in the target's file or next to it.
struct FoundDrafter {
  std::string file;
  std::string_view type;
};

/// Returns the drafters next to the target, then the target itself if it has a layer for drafting. Files that
/// are no drafters are left out.
std::vector<FoundDrafter> find_drafters(const std::string& target) {
  std::vector<FoundDrafter> found;
  const auto add = [&](const std::filesystem::path& path, bool is_target) {
    const auto file = Gguf::open(path);
    const bool drafts = file && (is_target ? has_next_token_layer(*file) : is_trained_drafter(*file));
    if (drafts && taps_of(*file)) found.push_back({path.string(), type_of(*file, is_target)});
  };
  for (const std::filesystem::path& path : drafters_next_to(target)) add(path, false);
  add(target, true);
  return found;
}

/// Makes a drafter the draft of the target, and says so.
void draft_by(const FoundDrafter& drafter, ModelFlags& model) {
  model.drafts = {drafter.file};
  fmt::print(stderr, "drafts by {} ({}); --spec-type none: no drafts\n",
             drafter.file == model.model ? "a layer of the model" : drafter.file, drafter.type);
}

/// Uses a drafter where method auto decides. Otherwise only names one that a method could use.
void use_if_automatic(ModelFlags& model, const MethodRequest& request) {
  const MethodRule& with_draft = *need(request.rule(1));
  if (with_draft.models.max == 0) return;
  const std::vector<FoundDrafter> found = find_drafters(model.model);
  if (found.empty()) return;
  if (with_draft.reads(Setting::costs)) {
    draft_by(found.front(), model);
  } else if (with_draft.models.min > 0) {
    fmt::print(stderr, "{} can draft for this model: give it with -md\n", found.front().file);
  }
}

/// Sets the method of types that are no drafts. With `none`, there are no drafts either.
void set_method(const std::vector<const SpecType*>& types, MethodRequest& request, ModelFlags& model) {
  const SpecType& first = *types.front();
  for (const SpecType* type : types) {
    if (type->method == first.method) continue;
    throw Failure(Status::usage, fmt::format("--spec-type {} and {} are different methods: give one",
                                             first.name, type->name));
  }
  if (request.method && *request.method != first.method) {
    throw Failure(Status::usage, fmt::format("--spec-type {} is method {}, but --method {} is given",
                                             first.name, first.method, *request.method));
  }
  request.method = first.method;
  if (first.name != "none") return;
  if (!model.drafts.empty() && !model.bundled) fmt::print(stderr, "-md is not used: --spec-type is none\n");
  model.drafts.clear();
}

/// Throws Failure if a draft is of a type that was not given.
void check_types(const ModelFlags& model, const std::vector<const SpecType*>& types) {
  for (const std::string& draft : model.drafts) {
    const std::string_view type = type_of(need(Gguf::open(draft)), draft == model.model);
    const auto is_given = [type](const SpecType* one) { return one->name == type; };
    if (std::ranges::any_of(types, is_given)) continue;
    throw Failure(Status::usage, fmt::format("{}: is of type {}, but --spec-type names {}", draft, type,
                                             types.front()->name));
  }
}

/// Uses the first drafter of one of the types. Throws Failure if there is none.
void use_of_types(ModelFlags& model, const std::vector<const SpecType*>& types) {
  const std::vector<FoundDrafter> found = find_drafters(model.model);
  for (const SpecType* type : types) {
    const auto one = std::ranges::find(found, type->name, &FoundDrafter::type);
    if (one == found.end()) continue;
    draft_by(*one, model);
    return;
  }
  const SpecType& first = **std::ranges::find_if(types, &SpecType::drafts);
  throw Failure(
      Status::usage,
      first.prefix.empty()
          ? fmt::format("--spec-type {} needs a draft model: give -md FILE", first.name)
          : fmt::format("--spec-type {} needs a drafter: give -md FILE (no file {}* next to {} is one "
                        "for it)",
                        first.name, first.prefix, model.model));
}

}  // namespace

void add_spec_type(CLI::App& app, std::vector<std::string>& types) {
  repeatable(app.add_option("--spec-type", types,
                            "what drafts, by llama.cpp's names; comma-separated; none: no speculation: " +
                                names_of(spec_types, " ")))
      ->envname("LLAMA_ARG_SPEC_TYPE")
      ->group("Speculation");
}

void choose_speculation(ModelFlags& model, MethodFlags& method, bool may_draft) {
  const std::vector<const SpecType*> types = read_types(model.spec_types);
  MethodRequest& request = method.request;
  if (types.empty()) {
    const bool is_shared = model.ranks.shard || model.ranks.here > 1;
    if (may_draft && model.drafts.empty() && !model.device.any() && !is_shared)
      use_if_automatic(model, request);
    return;
  }
  if (std::ranges::none_of(types, &SpecType::drafts)) {
    set_method(types, request, model);
    return;
  }
  // Drafts from the text in addition to those of a drafter are a choice of auto.
  if (!std::ranges::all_of(types, &SpecType::drafts)) {
    const bool has_none = std::ranges::find(types, &spec_types[0]) != types.end();
    if (has_none || request.method.value_or("auto") != "auto") {
      throw Failure(Status::usage,
                    fmt::format("--spec-type names drafts and {}: only method auto chooses among "
                                "several types",
                                has_none ? "none" : "others"));
    }
    request.method = "auto";
  }
  if (model.drafts.empty()) {
    use_of_types(model, types);
  } else {
    check_types(model, types);
  }
}

}  // namespace spectr::cli

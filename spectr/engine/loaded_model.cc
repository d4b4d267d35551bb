#include "spectr/engine/loaded_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "spectr/base/stopwatch.h"
#include "spectr/engine/backends.h"
#include "spectr/engine/devices.h"
#include "spectr/nn/drafters/drafters.h"
#include "spectr/text/token_frequencies.h"
#include "spectr/text/vocabulary_match.h"

namespace spectr {
namespace {

/// Number of first tokens of a shortlist by the context. A byte-level vocabulary begins with 256 bytes,
/// followed by the most frequent merges.
std::size_t frequent_tokens(const Vocabulary& vocabulary) {
  return 256 + vocabulary.size() / 4;
}

std::vector<Token> first_tokens(std::size_t count, const Vocabulary& vocabulary) {
  std::vector<Token> tokens(std::min(count, vocabulary.size()));
  std::iota(tokens.begin(), tokens.end(), Token{0});
  return tokens;
}

Result<std::vector<Token>> shortlist_for(const SlimOptions& options, const Vocabulary& vocabulary) {
  std::vector<Token> tokens;
  if (const auto* count = std::get_if<std::size_t>(&options.words)) {
    if (*count < min_shortlist) {
      return error("{}: a draft of the first {} tokens is of no use, at least {} are needed",
                   vocabulary.source(), *count, min_shortlist);
    }
    tokens = first_tokens(*count, vocabulary);
  } else if (std::holds_alternative<SlimOptions::Context>(options.words)) {
    tokens = first_tokens(frequent_tokens(vocabulary), vocabulary);
  } else if (const auto* path = std::get_if<std::filesystem::path>(&options.words)) {
    SPECTR_TRY(tokens, TokenFrequencies::read(path->string(), vocabulary));
    if (tokens.size() < min_shortlist) {
      return error("{}: a draft of {} tokens is of no use, at least {} are needed", path->string(),
                   tokens.size(), min_shortlist);
    }
  } else {
    return tokens;
  }
  tokens = shortlist_of(std::move(tokens), vocabulary);
  if (tokens.size() == vocabulary.size()) tokens.clear();  // empty: all
  return tokens;
}

Result<std::shared_ptr<const Backend>> backend_of(const std::string& device, ThreadPool& pool) {
  if (!device.empty()) return device_backend(device, &pool);
  return backends().front().make(pool);
}

Result<LoadedModel> load(const std::filesystem::path& path, const Vocabulary* target, ThreadPool& pool,
                         const LoadOptions& options) {
  Stopwatch watch;
  LoadedModel model;
  SPECTR_TRY(Gguf file, Gguf::open(path));
  SPECTR_TRY(model.tokenizer, Tokenizer::load(file));
  if (target != nullptr) SPECTR_TRY_VOID(same_vocabulary(*target, model.tokenizer->vocabulary()));
  LoadSettings settings{.kv = options.kv, .pool = &pool, .rope = options.rope};
  if (target == nullptr) {
    settings.taps = options.taps;
    settings.embeds = options.embeds;
  }
  if (target != nullptr) {
    settings.slimming.type = options.draft.type;
    SPECTR_TRY(settings.slimming.shortlist, shortlist_for(options.draft, model.tokenizer->vocabulary()));
  }
  if (options.progress) {
    settings.progress = [&](std::uint64_t done, std::uint64_t all) { options.progress(path, done, all); };
  }
  std::shared_ptr<const Backend> backend;
  if (target == nullptr && options.sharing) {
    if (!options.device.empty()) {
      return error(ErrorCode::unsupported, "--device {}: ranks share a model on the processor",
                   options.device);
    }
    SPECTR_TRY(model.ranks, call_ranks(*options.sharing, path, file, options.kv, options.rope, pool));
    backend = model.ranks;
  } else {
    SPECTR_TRY(backend, backend_of(target == nullptr ? options.device : options.draft_device, pool));
  }
  SPECTR_TRY(model.transformer, Transformer::load(std::move(file), std::move(backend), settings));
  if (model.ranks) SPECTR_TRY_VOID(model.ranks->all_loaded());
  model.seconds = watch.lap();
  return model;
}

}  // namespace

Result<LoadedModel> load_model(const std::filesystem::path& path, ThreadPool& pool,
                               const LoadOptions& options) {
  return load(path, nullptr, pool, options);
}

Result<LoadedModel> load_draft(const std::filesystem::path& path, const Transformer& target,
                               const Tokenizer& tokenizer, ThreadPool& pool, const LoadOptions& options) {
  if (!options.choose_draft) return load(path, &tokenizer.vocabulary(), pool, options);
  SPECTR_TRY(ChosenDraft chosen, options.choose_draft(target, tokenizer, path, pool));
  if (chosen.model) return std::move(*chosen.model);
  LoadOptions as_chosen = options;
  as_chosen.draft = std::move(chosen.options);
  return load(path, &tokenizer.vocabulary(), pool, as_chosen);
}

Result<std::optional<DrafterFile>> find_trained_drafter(const std::filesystem::path& target,
                                                        std::span<const std::filesystem::path> drafts) {
  std::optional<DrafterFile> found;
  for (const std::filesystem::path& path : drafts) {
    SPECTR_TRY(Gguf file, Gguf::open(path));
    const bool is_own_layer = path == target && has_next_token_layer(file);
    if (!is_own_layer && !is_trained_drafter(file)) continue;
    if (found) {
      return error("{}: one trained drafter can draft for a target, and {} is one, too", file.name(),
                   found->file.name());
    }
    found = DrafterFile{path, std::move(file)};
  }
  return found;
}

Result<std::unique_ptr<TrainedDrafter>> load_trained_drafter(Gguf file, const Transformer& target,
                                                             const Tokenizer& tokenizer, ThreadPool& pool,
                                                             const LoadOptions& options) {
  SPECTR_TRY(const std::unique_ptr<Tokenizer> own, Tokenizer::load(file));
  SPECTR_TRY_VOID(same_vocabulary(tokenizer.vocabulary(), own->vocabulary()));
  SPECTR_TRY(std::shared_ptr<const Backend> backend, backend_of(options.draft_device, pool));
  Slimming slimming{.type = options.draft.type};
  SPECTR_TRY(slimming.shortlist, shortlist_for(options.draft, tokenizer.vocabulary()));
  return TrainedDrafter::load(std::move(file), target, std::move(backend), &pool, slimming);
}

}  // namespace spectr

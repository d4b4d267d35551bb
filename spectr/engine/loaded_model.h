#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/engine/rank_team.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/drafters/trained_drafter.h"
#include "spectr/nn/transformer.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// A transformer and the tokenizer of its file.
struct LoadedModel {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Transformer> transformer;
  std::shared_ptr<ShardedBackend> ranks = {};  ///< ranks that compute it; null: only this process
  double seconds = 0.0;                        ///< duration of loading
};

/// How a draft model or a trained drafter is reduced while it is loaded. See Slimming.
struct SlimOptions {
  std::optional<TensorType> type = {};  ///< format of the matrices of products; none: as in the file
  struct All {
    friend bool operator==(All, All) = default;
  };
  struct Context {
    friend bool operator==(Context, Context) = default;
  };
  /// The tokens whose logits it computes, in addition to end tokens and the sequence's own: all tokens, the
  /// first N, those of a file of token frequencies, or, by the context, the most frequent ones: the first 256
  /// and a quarter of the vocabulary.
  std::variant<All, std::size_t, std::filesystem::path, Context> words = All();

  friend bool operator==(const SlimOptions&, const SlimOptions&) = default;
};

/// The chosen reduction of a draft model, with the reduced model if the choice has loaded it.
struct ChosenDraft {
  SlimOptions options = {};
  std::optional<LoadedModel> model = {};
};

/// How to load a model.
struct LoadOptions {
  KvChoice kv = {};        ///< storage types of keys and values
  SlimOptions draft = {};  ///< draft models only
  RopeChoice rope = {};    ///< overrides of the file's positions
  /// Devices of the model and of draft models, see list_devices(); empty: the CPU.
  std::string device = {}, draft_device = {};
  /// For models other than drafts, on the CPU only; none: this process computes all of it.
  std::optional<Sharing> sharing = {};
  TapSettings taps = {};  ///< states that the target's passes return for a trained drafter
  bool embeds = false;    ///< the target supports Transformer::embed(), as encoders always do
  /// Receives the progress of each model: bytes of its file's weights that were read and packed.
  std::function<void(const std::filesystem::path& file, std::uint64_t done, std::uint64_t all)> progress = {};
  /// Chooses `draft` for a target and the file of a draft; none: `draft` as given.
  std::function<Result<ChosenDraft>(const Transformer& target, const Tokenizer& tokenizer,
                                    const std::filesystem::path& draft, ThreadPool& pool)>
      choose_draft = {};
};

/// Loads the model of a GGUF file on the CPU or a device. The pool must outlive it. Fails if the file cannot
/// be read or used, there is no memory for its weights, or the device cannot be used.
Result<LoadedModel> load_model(const std::filesystem::path& path, ThreadPool& pool,
                               const LoadOptions& options = {});

/// Loads a draft model for a target. Also fails if it cannot draft for the target, see same_vocabulary(), or
/// cannot be reduced as asked: to fewer than min_shortlist tokens, or to those of another vocabulary.
Result<LoadedModel> load_draft(const std::filesystem::path& path, const Transformer& target,
                               const Tokenizer& tokenizer, ThreadPool& pool, const LoadOptions& options = {});

/// The file of a trained drafter.
struct DrafterFile {
  std::filesystem::path path;
  Gguf file;
};

/// Returns the file that is a trained drafter, whose states the target's passes have to return; none if all
/// are models. The target's own file is one if it has a layer for drafting. Fails if there are several, or if
/// a file cannot be read.
Result<std::optional<DrafterFile>> find_trained_drafter(const std::filesystem::path& target,
                                                        std::span<const std::filesystem::path> drafts);

/// Loads a trained drafter for a target that was loaded with its taps_of(). Fails if the file does not fit
/// the target or its tokenizer, or cannot be reduced as options.draft asks.
Result<std::unique_ptr<TrainedDrafter>> load_trained_drafter(Gguf file, const Transformer& target,
                                                             const Tokenizer& tokenizer, ThreadPool& pool,
                                                             const LoadOptions& options = {});

}  // namespace spectr

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
  std::shared_ptr<ShardedBackend> ranks = {};  ///< that compute it; null: this process alone does
  double seconds = 0.0;                        ///< that loading took
};

/// How a draft model is made smaller while it is loaded. See Slimming.
struct SlimOptions {
  std::optional<TensorType> type = {};  ///< of the matrices of products; none: the file's
  /// The tokens that it knows, beside those that end texts: all, the first so many, or those of a file of
  /// token frequencies.
  struct All {
    friend bool operator==(All, All) = default;
  };
  std::variant<All, std::size_t, std::filesystem::path> words = All();

  friend bool operator==(const SlimOptions&, const SlimOptions&) = default;
};

/// How small a draft model shall be, and that model where choosing has loaded it.
struct ChosenDraft {
  SlimOptions options = {};
  std::optional<LoadedModel> model = {};
};

/// How a model is loaded.
struct LoadOptions {
  KvChoice kv = {};        ///< what keys and values are stored as
  SlimOptions draft = {};  ///< of draft models only
  RopeChoice rope = {};    ///< of positions, instead of what the file says
  /// The devices that a model and draft models are computed on, see list_devices(); empty: the processor.
  std::string device = {}, draft_device = {};
  /// Of models that do not draft, on the processor alone; none: this process computes all.
  std::optional<Sharing> sharing = {};
  TapSettings taps = {};  ///< what the target's passes hand out for a trained drafter
  bool embeds = false;    ///< the target gives embeddings, see Transformer::embed(); encoders always do
  /// Told how far each model has come: bytes of its file's weights that have been read and packed.
  std::function<void(const std::filesystem::path& file, std::uint64_t done, std::uint64_t all)> progress = {};
  /// Chooses `draft` for a target and the file of a draft; none: as stated above.
  std::function<Result<ChosenDraft>(const Transformer& target, const Tokenizer& tokenizer,
                                    const std::filesystem::path& draft, ThreadPool& pool)>
      choose_draft = {};
};

/// The model of a GGUF file on the processor or a device. The pool must outlive it. Error: a file that cannot
/// be read or used, no memory for its weights, or a device that cannot be used.
Result<LoadedModel> load_model(const std::filesystem::path& path, ThreadPool& pool,
                               const LoadOptions& options = {});

/// The same for a model that is to draft for a target. Error, too: it cannot, see same_vocabulary(), or
/// cannot be made so small: of fewer than min_shortlist tokens, or of those of another vocabulary.
Result<LoadedModel> load_draft(const std::filesystem::path& path, const Transformer& target,
                               const Tokenizer& tokenizer, ThreadPool& pool, const LoadOptions& options = {});

/// Returns which of the files is a trained drafter, whose states the target's passes have to hand out; none
/// if all are models. The target's own file is one if it has a layer that drafts. Fails if one of them is and
/// there are others, or a file cannot be read.
Result<std::optional<Gguf>> find_trained_drafter(const std::filesystem::path& target,
                                                 std::span<const std::filesystem::path> drafts);

/// Loads a trained drafter for a target that was loaded with its taps_of(). Fails if the file cannot be used
/// with the target or its tokenizer, or `options` change draft models.
Result<std::unique_ptr<TrainedDrafter>> load_trained_drafter(Gguf file, const Transformer& target,
                                                             const Tokenizer& tokenizer, ThreadPool& pool,
                                                             const LoadOptions& options = {});

}  // namespace spectr

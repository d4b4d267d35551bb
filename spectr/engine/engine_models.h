#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spectr/backend/sharded/sharded_backend.h"
#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/decode/suffix_automaton.h"
#include "spectr/engine/loaded_model.h"
#include "spectr/engine/request.h"
#include "spectr/text/chat/chat_template.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// Which chat template renders conversations, and how answers are read.
struct ChatOptions {
  std::optional<std::string> source = {};  ///< replaces the template of the model's file
  ChatTemplateOptions rendering = {};
  bool splits_reasoning =
      true;  ///< answers are split into reasoning and content unless a request says otherwise
};

/// The files of an engine's models and how they are loaded.
struct ModelOptions {
  std::filesystem::path target = {};
  std::vector<std::filesystem::path> drafts = {};
  int threads = 1;
  /// Tokens of prompt and completion together; 0: the target's own limit. A larger number than the model was
  /// trained for extends its positions, and is a warning.
  std::size_t context = 0;
  LoadOptions load = {};
  ChatOptions chat = {};
  std::filesystem::path suffix_corpus = {};  ///< a text file that method suffix drafts from; empty: none
};

/// A target, its draft models and what belongs to them. Immutable once loaded; thread-safe.
struct EngineModels {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Tokenizer> tokenizer;  ///< the target's
  std::unique_ptr<Transformer> target;
  std::vector<std::unique_ptr<Transformer>> drafts;
  std::unique_ptr<TrainedDrafter> trained;        ///< reads states of the target; null: there is none
  std::shared_ptr<ShardedBackend> ranks;          ///< that compute the target; null: this process alone does
  std::string path;                               ///< of the target's file
  std::size_t context = 0;                        ///< as in ModelOptions, resolved
  std::string template_source;                    ///< of the chat template
  std::shared_ptr<const SuffixAutomaton> corpus;  ///< of ModelOptions::suffix_corpus; null: none
  bool has_template = false;     ///< false: a plain template that prints one message a line stands in
  bool splits_reasoning = true;  ///< as in ChatOptions
  Result<ChatTemplate> chat_template = error("no model is loaded");
  std::vector<double> load_seconds;   ///< per model, the target's first: reading files and packing weights
  std::vector<std::string> warnings;  ///< about the files, for people

  /// Loads the models. A template of the file that cannot be used is reported by `chat_template`; one of
  /// `options.chat` fails here. Fails if a file cannot be used, a draft cannot draft for the target, or the
  /// corpus is not text (UTF-8 without zero bytes).
  static Result<EngineModels> load(const ModelOptions& options);

  std::vector<const Transformer*> draft_models() const;
  /// Draft models that methods can work with, a trained drafter included.
  std::size_t draft_count() const { return drafts.size() + (trained ? 1 : 0); }
  /// Fails if a device that computes one of the models has been lost.
  Result<void> check_alive() const;
};

/// Returns how reasoning is split from the answer to a prompt that the chat template of these models has
/// rendered.
ReasoningSplit reasoning_split(const MarkedText& prompt, const EngineModels& models);

/// Allows sequences of `context` tokens; 0: as many as the model was trained for. Returns a warning, for
/// people, if it was trained for fewer. Fails if the model cannot have so many.
Result<std::optional<std::string>> extend_context(Transformer& model, std::size_t context);

/// Returns the template of a model's file, or the one that replaces it; one for plain text if there is none.
Result<std::string> chat_template_source(const Gguf& file, const ChatOptions& chat);

}  // namespace spectr

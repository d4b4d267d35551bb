#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// The chat template of conversations, and how answers are parsed.
struct ChatOptions {
  std::optional<std::string> source = {};  ///< replaces the template of the model's file
  ChatTemplateOptions rendering = {};
  bool splits_reasoning =
      true;  ///< answers are split into reasoning and content unless a request says otherwise
};

/// The files of an engine's models, and how to load them.
struct ModelOptions {
  std::filesystem::path target = {};
  std::vector<std::filesystem::path> drafts = {};
  int threads = 1;
  /// Maximum tokens of prompt and completion together; 0: the target's own limit. A value above the trained
  /// context extends its positions, with a warning.
  std::size_t context = 0;
  LoadOptions load = {};
  ChatOptions chat = {};
  std::filesystem::path suffix_corpus = {};  ///< text file that the method suffix drafts from; empty: none
};

/// A target, its draft models and related objects. Immutable once loaded; thread-safe.
struct EngineModels {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Tokenizer> tokenizer;  ///< the target's
  std::unique_ptr<Transformer> target;
  std::vector<std::unique_ptr<Transformer>> drafts;
  std::unique_ptr<TrainedDrafter> trained;        ///< drafter that reads states of the target; null: none
  std::shared_ptr<ShardedBackend> ranks;          ///< ranks that compute the target; null: only this process
  std::string path;                               ///< path of the target's file
  std::size_t context = 0;                        ///< see ModelOptions; resolved
  std::string template_source;                    ///< source of the chat template
  std::shared_ptr<const SuffixAutomaton> corpus;  ///< see ModelOptions::suffix_corpus; null: none
  bool has_template = false;     ///< false: a plain template that prints one message per line is used
  bool splits_reasoning = true;  ///< see ChatOptions
  Result<ChatTemplate> chat_template = error("no model is loaded");
  std::vector<double> load_seconds;   ///< per model, the target's first: reading files and packing weights
  std::vector<std::string> warnings;  ///< about the files, for people

  /// Loads the models. An unusable template of the file is reported by `chat_template`; one of `options.chat`
  /// is an error. Fails if a file cannot be used, a draft cannot draft for the target, or the corpus is not
  /// text (UTF-8 without zero bytes).
  static Result<EngineModels> load(const ModelOptions& options);

  std::vector<const Transformer*> draft_models() const;
  /// Returns the number of draft models that methods can use, including a trained drafter, which is the last.
  std::size_t draft_count() const { return drafts.size() + (trained ? 1 : 0); }
  /// Returns the name of a draft model.
  std::string_view draft_name(std::size_t draft) const {
    return draft < drafts.size() ? drafts[draft]->spec().name : trained->name();
  }
  /// Fails if a device that computes one of the models is lost.
  Result<void> check_alive() const;
};

/// Returns how to split reasoning from the answer to a prompt that was rendered with the chat template of
/// these models.
ReasoningSplit reasoning_split(const MarkedText& prompt, const EngineModels& models);

/// Sets the maximum sequence length to `context` tokens; 0: the trained context. Returns a warning for people
/// if the model was trained for fewer. Fails if the model does not support so many.
Result<std::optional<std::string>> extend_context(Transformer& model, std::size_t context);

/// Returns the template of a model's file or its replacement; without one, a template of plain text.
Result<std::string> chat_template_source(const Gguf& file, const ChatOptions& chat);

}  // namespace spectr

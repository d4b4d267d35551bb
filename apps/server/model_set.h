#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/chat_template.h"
#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/engine/loaded_model.h"
#include "spectr/text/tokenizer.h"

namespace spectr::server {

/// Which chat template a model is talked to by, and what is believed of its conversations.
struct ChatOptions {
  std::optional<std::string> source = {};  ///< instead of the file's own
  bool special_in_content = false;         ///< control tokens in messages are tokens, not text
  bool splits_reasoning = true;  ///< an answer's thoughts are told apart, unless a request says otherwise
  JsonInput values = JsonInput::object();  ///< variables of the template, unless a request sets them
  std::optional<bool> thinks = {};  ///< whether answers begin with thoughts; none: as the template does

  ChatTemplateOptions rendering() const { return {special_in_content, values, thinks}; }
};

/// The template that a model's file brings, or that was given instead; one for plain text where there is
/// neither.
Result<std::string> chat_template_source(const Gguf& file, const ChatOptions& chat);

/// What to say where a context is longer than the model knows from its training.
std::string longer_than_trained(const Transformer& model, std::size_t context);

/// The models that a server works with. Immutable once loaded.
struct ModelSet {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Tokenizer> tokenizer;  ///< the target's
  std::unique_ptr<Transformer> target;
  std::vector<std::unique_ptr<Transformer>> drafts;
  std::string path;             ///< of the target's file
  std::string name;             ///< by which clients call the target
  std::string template_source;  ///< of the chat template
  bool has_template = false;    ///< else that of texts line by line stands in
  Result<ChatTemplate> chat_template = error("no model is loaded");
  std::shared_ptr<const Costs> costs;  ///< of passes; none: method auto is not offered

  std::vector<const Transformer*> draft_models() const;

  /// A file without a chat template is talked to in plain text. That a file's own template cannot be used is
  /// known to those who ask for it only; one that was given is an error.
  /// Error: a file that cannot be used, or a draft that cannot draft for the target.
  static Result<ModelSet> load(const std::filesystem::path& target,
                               const std::vector<std::filesystem::path>& drafts, int threads,
                               const LoadOptions& options = {}, const ChatOptions& chat = {});
};

}  // namespace spectr::server

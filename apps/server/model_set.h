#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/engine/loaded_model.h"
#include "spectr/text/jinja/template.h"
#include "spectr/text/tokenizer.h"

namespace spectr::server {

/// The models that a server works with. Immutable once loaded.
struct ModelSet {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Tokenizer> tokenizer;  ///< the target's
  std::unique_ptr<Transformer> target;
  std::vector<std::unique_ptr<Transformer>> drafts;
  std::string name;             ///< by which clients call the target
  std::string template_source;  ///< of the chat template
  Result<jinja::Template> chat_template = error("no model is loaded");
  std::shared_ptr<const Costs> costs;  ///< of passes; none: method auto is not offered

  std::vector<const Transformer*> draft_models() const;

  /// chat_template: instead of the file's own. A file without one is talked to in plain text. That a template
  /// cannot be used is known to those who ask for it only.
  /// Error: a file that cannot be used, or a draft that cannot draft for the target.
  static Result<ModelSet> load(const std::filesystem::path& target,
                               const std::vector<std::filesystem::path>& drafts, int threads,
                               const LoadOptions& options = {},
                               std::optional<std::string> chat_template = {});
};

}  // namespace spectr::server

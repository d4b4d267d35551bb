#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lab/experiment.h"
#include "spectr/engine/engine_models.h"

namespace spectr::lab {

/// The models of an experiment on stories.
struct StoryModels {
  EngineModels pair;                   ///< the target and one draft model
  std::optional<EngineModels> scorer;  ///< nullopt: no additional model judges

  const Tokenizer& tokenizer() const { return *pair.tokenizer; }
  const Transformer& target() const { return *pair.target; }
  const Transformer& draft() const { return *pair.drafts.front(); }
};

/// Loads the models of the stories. Fails if there are no prompts, if a file is missing or malformed, or if
/// the draft's vocabulary differs from the target's.
Result<StoryModels> load_stories(const Context& context);

/// Scores a whole sequence in one pass: node i has the logits of token i + 1. Fails if it is longer than the
/// session's context.
Result<std::vector<NodeId>> score_chain(Session& session, std::span<const Token> text);

}  // namespace spectr::lab

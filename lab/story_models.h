#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lab/experiment.h"
#include "spectr/nn/transformer.h"
#include "spectr/text/tokenizer.h"

namespace spectr::lab {

/// The models of an experiment on stories.
struct StoryModels {
  std::unique_ptr<Tokenizer> tokenizer;  ///< of target and draft
  std::unique_ptr<Transformer> target, draft;
  std::unique_ptr<Tokenizer> scorer_tokenizer;  ///< null: no other model judges
  std::unique_ptr<Transformer> scorer;
};

/// Error: a file is missing or malformed, or the draft's vocabulary is not the target's.
Result<StoryModels> load_stories(const StoryInputs& inputs, ThreadPool& pool);

/// Scores a whole text in one pass of its own: node i has the logits of token i + 1. Error: the text is
/// longer than the session's context.
Result<std::vector<NodeId>> score_chain(Session& session, std::span<const Token> text);

}  // namespace spectr::lab

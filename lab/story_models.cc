#include "lab/story_models.h"

#include <utility>

#include "spectr/engine/loaded_model.h"

namespace spectr::lab {

Result<StoryModels> load_stories(const StoryInputs& inputs, ThreadPool& pool) {
  StoryModels models;
  if (inputs.prompts.empty()) return error("no prompts are given");
  SPECTR_TRY(LoadedModel target, load_model(inputs.target, pool));
  SPECTR_TRY(LoadedModel draft, load_draft(inputs.draft, *target.transformer, *target.tokenizer, pool));
  models.tokenizer = std::move(target.tokenizer);
  models.target = std::move(target.transformer);
  models.draft = std::move(draft.transformer);
  if (inputs.scorer) {
    SPECTR_TRY(LoadedModel scorer, load_model(*inputs.scorer, pool));
    models.scorer_tokenizer = std::move(scorer.tokenizer);
    models.scorer = std::move(scorer.transformer);
  }
  return models;
}

Result<std::vector<NodeId>> score_chain(Session& session, std::span<const Token> text) {
  if (text.size() > session.context()) {
    return error("a text of {} tokens is too long to be scored, at most {}", text.size(), session.context());
  }
  TokenTree chain(text.front());
  std::vector<NodeId> nodes = {TokenTree::root};
  for (std::size_t i = 1; i + 1 < text.size(); ++i) nodes.push_back(chain.child(nodes.back(), text[i]));
  session.rewind(0);
  SPECTR_TRY_VOID(session.score(text.first(1), chain));
  return nodes;
}

}  // namespace spectr::lab

#include "lab/story_models.h"

#include <utility>

namespace spectr::lab {

Result<StoryModels> load_stories(const Context& context) {
  const StoryInputs& inputs = context.stories;
  if (inputs.prompts.empty()) return error("no prompts are given");
  StoryModels models;
  SPECTR_TRY(
      models.pair,
      EngineModels::load({.target = inputs.target, .drafts = {inputs.draft}, .threads = context.threads}));
  if (inputs.scorer) {
    SPECTR_TRY(models.scorer, EngineModels::load({.target = *inputs.scorer, .threads = context.threads}));
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

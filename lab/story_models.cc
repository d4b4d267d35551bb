#include "lab/story_models.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "spectr/model/loaded_model.h"

namespace spectr::lab {
namespace {

Result<std::vector<std::string>> read_prompts(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) return error("{}: the file of prompts cannot be read", path.string());
  std::vector<std::string> prompts;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    const auto prompt = json.is_object() ? json.find("prompt") : json.end();
    if (!json.is_object() || prompt == json.end() || !prompt->is_string()) {
      return error("{}: line {} is not a JSON object with a text \"prompt\"", path.string(), number);
    }
    prompts.push_back(prompt->get<std::string>());
  }
  if (in.bad()) return error("{}: cannot be read", path.string());
  if (prompts.empty()) return error("{}: there is no prompt", path.string());
  return prompts;
}

}  // namespace

Result<StoryModels> load_stories(const StoryFiles& files, ThreadPool& pool) {
  StoryModels models;
  if (files.target.empty() || files.draft.empty()) return error("no target and draft model are given");
  if (files.prompts.empty()) return error("no file of prompts is given");
  SPECTR_TRY(models.prompts, read_prompts(files.prompts));
  SPECTR_TRY(LoadedModel target, load_model(files.target, pool));
  SPECTR_TRY(LoadedModel draft, load_draft(files.draft, target.tokenizer->vocabulary(), pool));
  models.tokenizer = std::move(target.tokenizer);
  models.target = std::move(target.transformer);
  models.draft = std::move(draft.transformer);
  if (files.scorer) {
    SPECTR_TRY(LoadedModel scorer, load_model(*files.scorer, pool));
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

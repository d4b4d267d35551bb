#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/report/output.h"
#include "spectr/nn/drafters/drafter_session.h"

namespace spectr::cli {
namespace {

constexpr std::size_t chain_steps = 4;

struct DraftLogitsFlags {
  ModelFlags model;
  std::string tokens, path;
  std::optional<std::size_t> length, block_rows;
  bool json = false;
};

/// One step of a draft: the drafter's logits and the token with which the draft continues.
struct DraftStep {
  std::vector<double> logits;
  Token greedy;
  double log_q;
  std::optional<double> confidence;
};

/// Returns the tokens of the rows of the drafter's logits; empty if they are all tokens in order.
const std::vector<Token>& row_tokens(const TrainedDrafter& drafter) {
  return drafter.spec().model.head.shortlist;
}

DraftStep read_step(const DrafterSession& session, NodeId node, const std::vector<Token>& rows) {
  const Logits logits = session.logits(node), row = session.row_logits(node);
  DraftStep step{{}, logits.top(1).front().token, 0.0, session.confidence(node)};
  if (rows.empty()) {
    for (std::size_t i = 0; i < row.size(); ++i) step.logits.push_back(row.at(static_cast<Token>(i)));
  } else {
    for (const Token token : rows) step.logits.push_back(row.at(token));
  }
  return step;
}

/// Drafts along `path`, or greedily if it is empty.
std::vector<DraftStep> draft_steps(const TrainedDrafter& drafter, const Transformer& target,
                                   const std::vector<Token>& tokens, const std::vector<Token>& path,
                                   const DraftLogitsFlags& flags) {
  const std::size_t asked = path.empty() ? flags.length.value_or(0) : path.size();
  const std::size_t block_rows = flags.block_rows.value_or(0), limit = drafter.max_depth(block_rows);
  const std::size_t steps = asked > 0 ? asked : drafter.spec().block ? limit : chain_steps;
  if (steps > limit)
    throw Failure(Status::usage, fmt::format("{}: {} steps are asked for, but a block has {}",
                                             drafter.file().name(), steps, limit));
  const auto target_session = need(target.start(std::min(tokens.size() + steps, target.context()), 1));
  const auto session = need(drafter.follow(*target_session, {.nodes = steps + 1, .block_rows = block_rows}));
  TokenTree tree(tokens.back());
  NodeId node = TokenTree::root;
  std::vector<DraftStep> drafted;
  for (std::size_t i = 0; i < steps; ++i) {
    need(session->score(tokens, tree));
    DraftStep step = read_step(*session, node, row_tokens(drafter));
    const Token next = path.empty() ? step.greedy : path[i];
    const Logits logits = session->logits(node);
    step.log_q = logits.at(next) - logits.log_sum_exp();
    drafted.push_back(std::move(step));
    node = tree.child(node, next);
  }
  return drafted;
}

void print_steps(const TrainedDrafter& drafter, const std::vector<DraftStep>& steps, bool as_json) {
  const std::vector<Token>& rows = row_tokens(drafter);
  Json ids = Json::array(), all = Json::array();
  for (const DraftStep& step : steps) {
    ids.push_back(step.greedy);
    all.push_back({{"logits", step.logits},
                   {"log_q", std::isfinite(step.log_q) ? Json(step.log_q) : Json()},
                   {"confidence", step.confidence ? Json(*step.confidence) : Json()}});
  }
  if (as_json) {
    print_json({{"kind", drafter.spec().kind},
                {"rows", rows.empty() ? Json() : Json(rows)},
                {"ids", std::move(ids)},
                {"steps", std::move(all)}});
    return;
  }
  fmt::print("{:>4}  {:>8}  {:>10}\n", "step", "id", "log q");
  for (std::size_t i = 0; i < steps.size(); ++i)
    fmt::print("{:>4}  {:>8}  {:>10.4f}\n", i, steps[i].greedy, steps[i].log_q);
}

void draft_logits(DraftLogitsFlags& flags) {
  ModelOptions options = flags.model.model_options();
  if (options.drafts.empty()) options.drafts = {options.target};
  const EngineModels models = need(EngineModels::load(options));
  if (!models.trained)
    throw Failure(Status::usage,
                  fmt::format("{}: is no trained drafter: its logits are those of spectr logits",
                              options.drafts.front().string()));
  const std::size_t vocabulary = models.target->vocabulary();
  const auto tokens = parse_tokens(flags.tokens, vocabulary);
  const auto path =
      flags.path.empty() ? std::vector<Token>() : parse_tokens(flags.path, vocabulary, "--path");
  if (tokens.size() < 2)
    throw Failure(Status::usage, "--tokens: a drafter reads the states before the last id: give two or more");
  if (tokens.size() > models.target->context())
    throw Failure(Status::usage, fmt::format("--tokens: {} ids, but the context holds {}", tokens.size(),
                                             models.target->context()));
  print_steps(*models.trained, draft_steps(*models.trained, *models.target, tokens, path, flags), flags.json);
}

}  // namespace

void add_draft_logits(CLI::App& draft) {
  auto flags = std::make_shared<DraftLogitsFlags>();
  CLI::App& command = *draft.add_subcommand("logits", "Logits of a trained drafter after a list of ids");
  flags->model.add_model(command, true);
  flags->model.add_draft_files(command);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  command
      .add_option("--tokens", flags->tokens,
                  "ids, separated by commas; the last one is not in the target yet")
      ->required();
  command.add_option("-L", flags->length, "steps to print (default: those of a block, 4 for chains)")
      ->transform(whole(1, 1024));
  command.add_option("--path", flags->path, "ids to draft along instead of the greedy ones");
  command
      .add_option("--block-rows", flags->block_rows, "rows of a block (default: as many as the file says)")
      ->transform(whole(2, 1024));
  command.add_flag("--json", flags->json, "print {\"kind\", \"rows\", \"ids\", \"steps\"}, all logits");
  command.callback([flags] { draft_logits(*flags); });
}

}  // namespace spectr::cli

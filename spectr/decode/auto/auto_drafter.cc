#include "spectr/decode/auto/auto_drafter.h"

#include <algorithm>
#include <utility>

#include "spectr/decode/tree_drafter.h"

namespace spectr {
namespace {

bool has_room(const Session& draft, const BlockStart& start) {
  return draft_depth(draft, start.sequence, start.left) > 0;
}

/// Returns the number of levels of a tree, whose nodes are in level order.
std::size_t levels(const TokenTree& tree) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(tree.depth(tree.size() - 1)));
}

}  // namespace

AutoDrafter::AutoDrafter(std::shared_ptr<const Costs> costs, const AutoParams& params)
    : costs_(std::move(costs)), params_(params) {
  candidates_.reserve(costs_->drafts.size());
  begin();
}

void AutoDrafter::begin() {
  candidates_.clear();
  for (std::size_t model = 0; model < costs_->drafts.size(); ++model)
    candidates_.emplace_back(model, *costs_, params_);
  ngrams_ = NgramEstimate(params_);
  budget_ = RegretBudget(params_);
  probes_ = false;
  largest_ = {};
}

Result<void> AutoDrafter::check(const Models& models) const {
  if (models.drafts.size() == candidates_.size()) return {};
  return error("method auto knows what passes of {} draft models cost, there are {}", candidates_.size(),
               models.drafts.size());
}

Forecast AutoDrafter::forecast(const BlockStart& start, const Models& models) const {
  return {*costs_,    params_, support_of(models.warp, models.vocabulary()), start.sequence.size(),
          start.left, budget_};
}

std::vector<std::size_t> AutoDrafter::worth_reading(const BlockStart& first, const Models& models) {
  const Forecast forecast = this->forecast(first, models);
  std::vector<std::size_t> worth;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    if (!has_room(*models.drafts[model], first)) continue;
    candidates_[model].consider(forecast, first);
    if (candidates_[model].is_worth_reading(forecast)) worth.push_back(model);
  }
  return worth;
}

Result<void> AutoDrafter::open(const BlockStart& first, Models& models) {
  SPECTR_TRY_VOID(check(models));
  begin();
  support_ = support_of(models.warp, models.vocabulary());
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    const auto& learned = costs_->drafts[model].learned[static_cast<std::size_t>(support_)];
    if (learned) candidates_[model].remember(*learned);
  }
  if (first.sequence.size() < 2) return {};
  const std::vector<std::size_t> reading = worth_reading(first, models);
  if (reading.empty()) return read_prompt(*models.target, first.sequence);

  const Choice plain = forecast(first, models).plain();
  const WarmUp warm_up(first.sequence);
  SPECTR_TRY_VOID(warm_up.score(*models.target));
  NodeDistributions target = warm_up.distributions(*models.target, models.warp, models.vocabulary());
  for (std::size_t model : reading) {
    Session& session = *models.drafts[model];
    SPECTR_TRY_VOID(warm_up.score(session));
    NodeDistributions draft = warm_up.distributions(session, models.warp, models.vocabulary());
    SPECTR_TRY(const double won, candidates_[model].warm_up(plain, warm_up.contexts(), draft, target));
    budget_.credit(won);
    warm_up.keep(session);
  }
  warm_up.keep(*models.target);
  return {};
}

void AutoDrafter::choose(const BlockStart& start, const Models& models) {
  ngrams_.see(start.sequence);
  const Forecast& forecast = forecast_.emplace(this->forecast(start, models));
  plain_ = forecast.plain();

  // Exploitation: the choice that minimises the time for the rest of the completion.
  Choice best = plain_;
  double min_seconds = static_cast<double>(start.left) * plain_.seconds;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    DraftCandidate& candidate = candidates_[model];
    candidate.consider(forecast, start);
    const double seconds = candidate.seconds_to_complete(candidate.best());
    if (has_room(*models.drafts[model], start) && seconds < min_seconds) {
      min_seconds = seconds;
      best = candidate.best();
    }
  }
  probes_ = false;
  chosen_ = forecast.best_by_ngrams(ngrams_, start.left, best);
  if (chosen_.origin == DraftOrigin::ngrams) return;

  // Exploration: a probe of another model, if one is due and worth its cost.
  const bool by_model = chosen_.origin == DraftOrigin::model;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    const bool is_chosen = by_model && model == best.model;
    if (!is_chosen && has_room(*models.drafts[model], start) && candidates_[model].wants_probe(best)) {
      probes_ = true;
      chosen_ = candidates_[model].probe();
      return candidates_[model].explore();
    }
  }
  if (by_model) candidates_[best.model].exploit();
}

Result<void> AutoDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  SPECTR_TRY_VOID(check(models));
  choose(start, models);
  const std::size_t K = chosen_.shape.drafts, L = chosen_.shape.length;
  largest_ = {std::max(largest_.drafts, K), std::max(largest_.length, L)};
  switch (chosen_.origin) {
    case DraftOrigin::none:
      break;
    case DraftOrigin::model:
      return TreeDrafter(TreeDrafter::sequences(K, L), Drafting::independent, chosen_.model,
                         chosen_.min_reach)
          .propose(start, models, choices, draft);
    case DraftOrigin::ngrams:
      return NgramDrafter(NgramEstimate::max_order, L).propose(start, models, choices, draft);
  }
  return {};
}

std::optional<Expectation> AutoDrafter::expectation() const {
  const bool by_model = chosen_.origin == DraftOrigin::model;
  return Expectation{by_model ? std::optional(chosen_.model) : std::nullopt,
                     chosen_.shape,
                     chosen_.tokens,
                     chosen_.seconds,
                     plain_.seconds,
                     probes_,
                     charged_};
}

std::vector<Learned> AutoDrafter::learned() const {
  std::vector<Learned> learned;
  for (const DraftCandidate& candidate : candidates_)
    learned.push_back({support_, candidate.estimate().contexts(), candidate.estimate().learned()});
  return learned;
}

double AutoDrafter::seconds(const Draft& draft, double tokens) const {
  const TokenTree& tree = draft.tree();
  const auto nodes = static_cast<double>(tree.size() - 1);
  switch (chosen_.origin) {
    case DraftOrigin::none:
      break;
    case DraftOrigin::model:
      return candidates_[chosen_.model].seconds(*forecast_, {chosen_.shape.drafts, levels(tree)}, nodes,
                                                tokens);
    case DraftOrigin::ngrams:
      return forecast_->verification_seconds(nodes, chosen_.shape.length, tokens, costs_->select.one);
  }
  return plain_.seconds;
}

Result<void> AutoDrafter::observe(const BlockStart&, const Draft& draft, const Verdict& verdict,
                                  NodeDistributions& target) {
  const std::size_t tokens = verdict.path.size() + (verdict.last ? 1 : 0);
  charged_ = seconds(draft, static_cast<double>(tokens));
  budget_.charge(charged_, tokens, plain_);
  if (chosen_.origin != DraftOrigin::model) return {};
  return candidates_[chosen_.model].observe(draft, verdict, target);
}

std::size_t AutoDrafter::max_nodes(std::size_t left) const {
  return left == 0 ? 1 : AutoParams::max_rows;
}

}  // namespace spectr

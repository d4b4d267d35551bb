#include "spectr/decode/auto/auto_drafter.h"

#include <algorithm>

#include "spectr/decode/tree_drafter.h"

namespace spectr {
namespace {

bool has_room(const Session& draft, const BlockStart& start) {
  return draft_depth(draft, start.sequence, start.left) > 0;
}

}  // namespace

AutoDrafter::AutoDrafter(std::shared_ptr<const Costs> costs, const AutoParams& params)
    : costs_(std::move(costs)), params_(params), budget_(params) {
  recent_.reserve(AutoParams::look_positions);
}

Result<void> AutoDrafter::check(const Models& models) const {
  if (models.drafts.size() == costs_->drafts.size()) return {};
  return error("method auto knows what passes of {} draft models cost, there are {}", costs_->drafts.size(),
               models.drafts.size());
}

Forecast AutoDrafter::forecast(const BlockStart& start) const {
  return {*costs_, params_, support_, start.sequence.size(), start.left, budget_};
}

void AutoDrafter::begin(const BlockStart& first, const Models& models) {
  support_ = support_of(models.warp, models.vocabulary());
  budget_ = RegretBudget(params_);
  ngrams_ = {};
  recent_.clear();
  largest_ = {};
  candidates_.clear();
  const Forecast forecast = this->forecast(first);
  for (std::size_t model = 0; model < costs_->drafts.size(); ++model) {
    candidates_.emplace_back(model, params_, costs_->drafts[model]);
    candidates_.back().consider(forecast, first);
  }
}

Result<void> AutoDrafter::open(const BlockStart& first, Models& models) {
  SPECTR_TRY_VOID(check(models));
  begin(first, models);
  // A trained drafter has no state to draft from before the second token.
  const std::size_t needed = std::ranges::any_of(candidates_, &DraftCandidate::is_trained) ? 2 : 1;
  if (first.sequence.size() <= needed) return {};
  std::vector<std::size_t> reading;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    const DraftCandidate& candidate = candidates_[model];
    const Forecast forecast = this->forecast(first);  // by what the looks so far leave of the budget
    if (!has_room(*models.drafts[model], first) || !candidate.is_worth_reading(forecast)) continue;
    reading.push_back(model);
    if (candidate.best().origin == DraftOrigin::none)
      budget_.charge(candidate.look_seconds(forecast), 0, forecast.plain());
  }
  if (reading.empty()) return read_prompt(models.target, first.sequence);

  const Look look(first.sequence, std::min(AutoParams::look_positions, first.sequence.size() - needed));
  // Drafts first: a drafter that reads the target's states makes the target compute the prompt in pieces.
  for (std::size_t model : reading) SPECTR_TRY_VOID(look.score(*models.drafts[model]));
  SPECTR_TRY_VOID(look.score(models.target));
  NodeDistributions target =
      look.distributions(models.target, models.warp, models.vocabulary(), NodeDistributions::Role::target);
  for (std::size_t model : reading) {
    DraftCandidate& candidate = candidates_[model];
    SPECTR_TRY_VOID(see(candidate, look, *models.drafts[model], models,
                        [&](NodeId at, const Distribution& p, double confidence) -> Result<DraftedPosition> {
                          SPECTR_TRY(const Distribution* q, target.at(at));
                          return expected(p, *q, confidence);
                        }));
    candidate.read_prompt();
  }
  look.keep(models.target);
  return {};
}

/// Lets a candidate see the positions of a look, by `position_at`, and keeps them in its session.
template <class PositionAt>
Result<void> AutoDrafter::see(DraftCandidate& candidate, const Look& look, Session& session,
                              const Models& models, PositionAt position_at) {
  NodeDistributions draft =
      look.distributions(session, models.warp, models.vocabulary(), NodeDistributions::Role::draft);
  const auto positions = std::min(look.positions(), static_cast<NodeId>(candidate.look_positions()));
  for (NodeId at = 0; at < positions; ++at) {
    SPECTR_TRY(const Distribution* p, draft.at(at));
    SPECTR_TRY(const DraftedPosition position, position_at(at, *p, draft.confidence(at)));
    candidate.see(position, static_cast<std::size_t>(at) + 1);
  }
  look.keep(session);
  return {};
}

Result<void> AutoDrafter::look(DraftCandidate& candidate, const BlockStart& start, Session& session,
                               const Models& models) {
  const Look look(start.sequence, recent_.size());
  SPECTR_TRY_VOID(look.score(session));
  SPECTR_TRY_VOID(see(candidate, look, session, models,
                      [&](NodeId at, const Distribution& p, double confidence) -> Result<DraftedPosition> {
                        const Distribution& q = recent_[static_cast<std::size_t>(at)];
                        return compare(p, q, look.token(at), confidence, candidate.max_drafts());
                      }));
  candidate.looked();
  return {};
}

void AutoDrafter::choose(const BlockStart& start, const Models& models) {
  const Forecast& forecast = forecast_.emplace(this->forecast(start));
  Choice best = forecast.plain();
  double min_seconds = static_cast<double>(start.left) * best.seconds;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    DraftCandidate& candidate = candidates_[model];
    candidate.consider(forecast, start);
    const double seconds = candidate.seconds_to_complete(candidate.best());
    if (has_room(*models.drafts[model], start) && seconds < min_seconds) {
      min_seconds = seconds;
      best = candidate.best();
    }
  }
  chosen_ = forecast.best_by_ngrams(ngrams_, start.left, best);
}

Result<void> AutoDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  SPECTR_TRY_VOID(check(models));
  if (candidates_.size() != costs_->drafts.size()) begin(start, models);  // open() was not called
  ngrams_.see(start.sequence);
  choose(start, models);
  looked_ = false;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    DraftCandidate& candidate = candidates_[model];
    const bool is_chosen = chosen_.origin == DraftOrigin::model && chosen_.model == model;
    if (looked_ || is_chosen || recent_.empty() || !has_room(*models.drafts[model], start) ||
        !candidate.wants_look(*forecast_, chosen_))
      continue;
    budget_.charge(candidate.look_seconds(*forecast_), 0, forecast_->plain());
    SPECTR_TRY_VOID(look(candidate, start, *models.drafts[model], models));
    looked_ = true;
  }
  if (looked_) choose(start, models);

  const auto [K, L, trunk] = chosen_.setting.shape;
  largest_ = {std::max(largest_.drafts, K), std::max(largest_.length, L)};
  if (chosen_.origin == DraftOrigin::none) return {};
  if (chosen_.origin == DraftOrigin::ngrams)
    return NgramDrafter(NgramEstimate::max_order, L).propose(start, models, choices, draft);
  candidates_[chosen_.model].drafts();
  return TreeDrafter(TreeDrafter::sequences(K, L), Drafting::independent, chosen_.model,
                     chosen_.setting.min_reach)
      .propose(start, models, choices, draft);
}

std::optional<Expectation> AutoDrafter::expectation() const {
  const bool by_model = chosen_.origin == DraftOrigin::model;
  return Expectation{by_model ? std::optional(chosen_.model) : std::nullopt,
                     chosen_.setting.shape,
                     chosen_.tokens,
                     chosen_.seconds,
                     forecast_ ? forecast_->plain().seconds : 0.0,
                     looked_,
                     charged_};
}

std::vector<Learned> AutoDrafter::learned() const {
  std::vector<Learned> learned;
  for (const DraftCandidate& candidate : candidates_)
    learned.push_back({support_, candidate.seen(), candidate.learned()});
  return learned;
}

Result<void> AutoDrafter::observe(const BlockStart&, const Draft& draft, const Verdict& verdict,
                                  NodeDistributions& target) {
  const auto nodes = static_cast<double>(draft.tree().size() - 1);
  const auto levels = static_cast<double>(std::max(1, draft.tree().depth(draft.tree().size() - 1)));
  const std::size_t tokens = verdict.path.size() + (verdict.last ? 1 : 0);
  const auto emitted = static_cast<double>(tokens);
  charged_ = chosen_.origin == DraftOrigin::model
                 ? candidates_[chosen_.model].seconds(*forecast_, chosen_.setting.shape.drafts, nodes, levels,
                                                      emitted)
                 : forecast_->verification_seconds(nodes, emitted, 1);
  budget_.charge(charged_, tokens, forecast_->plain());
  if (chosen_.origin == DraftOrigin::model)
    SPECTR_TRY_VOID(candidates_[chosen_.model].observe(draft, verdict, target));
  if (candidates_.empty()) return {};
  for (std::size_t i = 0; i < tokens; ++i) {
    SPECTR_TRY(const Distribution* q, target.at(i == 0 ? TokenTree::root : verdict.path[i - 1]));
    if (recent_.size() == AutoParams::look_positions) recent_.erase(recent_.begin());
    recent_.push_back(*q);
  }
  return {};
}

std::size_t AutoDrafter::max_nodes(std::size_t left) const {
  std::size_t nodes = AutoParams::max_rows;  // n-grams need fewer
  for (const DraftCosts& draft : costs_->drafts) nodes = std::max(nodes, limits_of(draft).rows);
  return left == 0 ? 1 : nodes;
}

}  // namespace spectr

#include "spectr/decode/auto_drafter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spectr/decode/ngram_drafter.h"
#include "spectr/decode/rehearsal.h"
#include "spectr/decode/tree_drafter.h"

namespace spectr {
namespace {

bool has_room(const Session& draft, const BlockStart& start) {
  return draft_depth(draft, start.text, start.left) > 0;
}

}  // namespace

AutoDrafter::AutoDrafter(std::shared_ptr<const Costs> costs) : costs_(std::move(costs)) {
  candidates_.reserve(costs_->drafts.size());
  begin();
}

void AutoDrafter::begin() {
  candidates_.clear();
  for (std::size_t model = 0; model < costs_->drafts.size(); ++model) candidates_.emplace_back(model);
  text_ = {};
  limit_ = {};
  looks_ = false;
  largest_ = {};
}

Result<void> AutoDrafter::check(const Models& models) const {
  if (models.drafts.size() == candidates_.size()) return {};
  return error("method auto knows what passes of {} draft models cost, there are {}", candidates_.size(),
               models.drafts.size());
}

Prospects AutoDrafter::prospects(const BlockStart& start, const Models& models) const {
  const Support support = support_of(models.warp, models.vocabulary());
  return {*costs_, support, start.text.size(), start.left, limit_};
}

std::vector<std::size_t> AutoDrafter::worth_reading(const BlockStart& first, const Models& models) {
  const Prospects prospects = this->prospects(first, models);
  std::vector<std::size_t> worth;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    if (!has_room(*models.drafts[model], first)) continue;
    candidates_[model].consider(prospects, first);
    if (candidates_[model].is_worth_reading(prospects)) worth.push_back(model);
  }
  return worth;
}

Result<void> AutoDrafter::open(const BlockStart& first, Models& models) {
  SPECTR_TRY_VOID(check(models));
  begin();
  if (first.text.size() < 2) return {};
  const std::vector<std::size_t> reading = worth_reading(first, models);
  if (reading.empty()) return read_prompt(*models.target, first.text);

  const Way plain = prospects(first, models).plain();
  const Rehearsal rehearsal(first.text);
  SPECTR_TRY_VOID(rehearsal.score(*models.target));
  NodeLaws target = rehearsal.laws(*models.target, models.warp, models.vocabulary());
  for (std::size_t model : reading) {
    Session& session = *models.drafts[model];
    SPECTR_TRY_VOID(rehearsal.score(session));
    NodeLaws draft = rehearsal.laws(session, models.warp, models.vocabulary());
    SPECTR_TRY(const double won, candidates_[model].rehearse(plain, rehearsal.contexts(), draft, target));
    limit_.forgive(won);
    rehearsal.keep(session);
  }
  rehearsal.keep(*models.target);
  return {};
}

void AutoDrafter::choose(const BlockStart& start, const Models& models) {
  text_.see(start.text);
  const Prospects& prospects = prospects_.emplace(this->prospects(start, models));
  plain_ = prospects.plain();

  Way best = plain_;
  double least = static_cast<double>(start.left) * plain_.seconds;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    DraftCandidate& candidate = candidates_[model];
    candidate.consider(prospects, start);
    const double rest = candidate.rest_of_text(candidate.best());
    if (has_room(*models.drafts[model], start) && rest < least) {
      least = rest;
      best = candidate.best();
    }
  }
  looks_ = false;
  chosen_ = prospects.best_by_text(text_, start.left, best);
  if (chosen_.origin == DraftOrigin::text) return;

  const bool by_model = chosen_.origin == DraftOrigin::model;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    const bool is_chosen = by_model && model == best.model;
    if (!is_chosen && has_room(*models.drafts[model], start) && candidates_[model].wants_look(best)) {
      looks_ = true;
      chosen_ = candidates_[model].look();
      return candidates_[model].drafts_for_a_look();
    }
  }
  if (by_model) candidates_[best.model].drafts_as_best();
}

Result<void> AutoDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  SPECTR_TRY_VOID(check(models));
  choose(start, models);
  const auto [K, L] = chosen_.shape;
  largest_ = {std::max(largest_.drafts, K), std::max(largest_.length, L)};
  switch (chosen_.origin) {
    case DraftOrigin::nowhere:
      break;
    case DraftOrigin::model:
      return TreeDrafter(TreeDrafter::sequences(K, L), Drafting::independent, chosen_.model)
          .propose(start, models, choices, draft);
    case DraftOrigin::text:
      return NgramDrafter(NgramEstimate::longest, L).propose(start, models, choices, draft);
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
                     looks_};
}

double AutoDrafter::seconds(double nodes, double tokens) const {
  switch (chosen_.origin) {
    case DraftOrigin::nowhere:
      break;
    case DraftOrigin::model:
      return candidates_[chosen_.model].seconds(*prospects_, chosen_.shape, nodes, tokens);
    case DraftOrigin::text:
      return prospects_->check_seconds(nodes, chosen_.shape.length, tokens, costs_->select.one);
  }
  return plain_.seconds;
}

Result<void> AutoDrafter::observe(const BlockStart&, const Draft& draft, const Verdict& verdict,
                                  NodeLaws& target) {
  const std::size_t tokens = verdict.path.size() + (verdict.last ? 1 : 0);
  const auto nodes = static_cast<double>(draft.tree().size() - 1);
  limit_.count(seconds(nodes, static_cast<double>(tokens)), tokens, plain_);
  if (chosen_.origin != DraftOrigin::model) return {};
  return candidates_[chosen_.model].observe(draft, verdict, target);
}

std::size_t AutoDrafter::most_nodes(std::size_t left) const {
  return left == 0 ? 1 : most_rows;
}

}  // namespace spectr

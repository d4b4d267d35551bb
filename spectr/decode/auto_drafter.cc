#include "spectr/decode/auto_drafter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/decode/ngram_drafter.h"
#include "spectr/decode/tree_drafter.h"

namespace spectr {

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

void AutoDrafter::choose(const BlockStart& start, const Models& models) {
  if (start.index == 0) begin();
  text_.see(start.text);
  Prospects prospects(*costs_, support_of(models.warp, models.vocabulary()), start.text.size());
  plain_ = prospects.plain();
  prospects.limit_stake(limit_.stake(plain_, start.left));
  const auto has_room = [&](std::size_t model) {
    return draft_depth(*models.drafts[model], start.text, start.left) > 0;
  };

  Way best = plain_;
  double least = static_cast<double>(start.left) * plain_.seconds;
  for (std::size_t model = 0; model < candidates_.size(); ++model) {
    DraftCandidate& candidate = candidates_[model];
    candidate.consider(prospects, start);
    const double rest = candidate.rest_of_text(candidate.best());
    if (has_room(model) && rest < least) {
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
    if (!is_chosen && has_room(model) && candidates_[model].wants_look(best)) {
      looks_ = true;
      chosen_ = candidates_[model].look();
      return candidates_[model].drafts_for_a_look();
    }
  }
  if (by_model) candidates_[best.model].drafts_as_best();
}

bool AutoDrafter::opens_with(std::size_t model, const BlockStart& first, const Models& models) {
  SPECTR_CHECK(first.index == 0);
  if (models.drafts.size() != candidates_.size()) return false;
  choose(first, models);  // as it will be chosen again: the first block of a text begins anew
  return chosen_.origin == DraftOrigin::model && chosen_.model == model;
}

Result<void> AutoDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  if (models.drafts.size() != candidates_.size()) {
    return error("method auto knows what passes of {} draft models cost, there are {}", candidates_.size(),
                 models.drafts.size());
  }
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

Result<void> AutoDrafter::observe(const BlockStart&, const Draft& draft, const Verdict& verdict,
                                  NodeLaws& target) {
  limit_.count(chosen_, verdict.path.size() + (verdict.last ? 1 : 0), plain_);
  if (chosen_.origin != DraftOrigin::model) return {};
  return candidates_[chosen_.model].observe(draft, verdict, target);
}

std::size_t AutoDrafter::most_nodes(std::size_t left) const {
  return left == 0 ? 1 : most_rows;
}

}  // namespace spectr

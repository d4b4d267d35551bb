#include "spectr/decode/auto_drafter.h"

#include <algorithm>
#include <optional>

#include "spectr/base/recycled.h"
#include "spectr/decode/ngram_drafter.h"
#include "spectr/decode/tree_drafter.h"

namespace spectr {
namespace {

// A look takes a few blocks, because one context says little.
constexpr std::size_t blocks_of_a_look = 4;
// Plain blocks before the second look; every later gap is so many times longer.
constexpr std::size_t first_gap = 256, growth = 4;
// Estimates are not exact, and the best of many tends to be one that is too high: drafting has to promise so
// much more than plain decoding.
constexpr double margin = 1.05;

}  // namespace

bool AutoDrafter::Way::beats(const Way& other) const {
  return rate() > (other.from == From::nowhere ? margin : 1.0) * other.rate();
}

/// The target's pass over so many nodes, a law for every token and, where laws are not cut short by filters,
/// a plan for every token but the bonus.
double AutoDrafter::check_seconds(double nodes, std::size_t length, double tokens, double plan) const {
  const double plans = estimate_.dense() ? plan * std::min(tokens, static_cast<double>(length)) : 0.0;
  return costs_->target.seconds(1.0 + nodes) + costs_->select.law * tokens + plans;
}

AutoDrafter::Way AutoDrafter::by_model(std::size_t K, std::size_t L, double tokens) const {
  const SelectCosts& select = costs_->select;
  const double plan = K == 1 ? select.one : select.several;
  double seconds = check_seconds(estimate_.nodes(K * L), L, tokens, plan);
  // The first draft pass reads what the last block added, about two tokens; the others a level of the tree.
  for (std::size_t level = 0; level < L; ++level) {
    seconds += costs_->draft.seconds(level == 0 ? 2.0 : std::max(1.0, estimate_.nodes(K)));
  }
  // A law of the draft for every node that is drafted below, and what the estimates take.
  seconds += select.law * (1.0 + static_cast<double>(L - 1) * estimate_.nodes(K));
  if (estimate_.dense()) {
    const double plans = plan * std::min(tokens, static_cast<double>(L));
    seconds += AcceptanceEstimate::looks_per_block * (select.several + plans);
  }
  return {From::model, {K, L}, tokens, seconds};
}

AutoDrafter::Way AutoDrafter::by_text(std::size_t L, double tokens) const {
  return {From::text, {1, L}, tokens, check_seconds(static_cast<double>(L), L, tokens, costs_->select.one)};
}

AutoDrafter::Way AutoDrafter::best_by_model(std::size_t left) const {
  Way best = plain();
  for (std::size_t K : AcceptanceEstimate::drafts) {
    const auto tokens = estimate_.tokens(K);
    for (std::size_t L = 1; L <= std::min(most_length, left) && K * L < most_rows; ++L) {
      const Way way = by_model(K, L, std::min(tokens[L], static_cast<double>(left)));
      if (way.beats(best)) best = way;
    }
  }
  return best;
}

/// `best`, unless drafts from the text promise more.
AutoDrafter::Way AutoDrafter::best_by_text(std::size_t left, Way best) const {
  const auto tokens = ngrams_.tokens();
  for (std::size_t L = 1; L <= std::min(NgramEstimate::positions, left); ++L) {
    const Way way = by_text(L, std::min(tokens[L], static_cast<double>(left)));
    if (way.beats(best)) best = way;
  }
  return best;
}

bool AutoDrafter::can_pay(std::size_t left) const {
  for (std::size_t L = 1; L <= std::min(most_length, left); ++L) {
    if (by_model(1, L, static_cast<double>(L + 1)).rate() > plain().rate()) return true;
  }
  return false;
}

bool AutoDrafter::looks_at(std::size_t block) {
  if (block >= next_look_) {
    look_end_ = block + blocks_of_a_look;
    next_look_ = look_end_ + gap_;
    gap_ *= growth;
  }
  return block < look_end_;
}

void AutoDrafter::decide(std::size_t left) {
  left = std::min(left, most_length + 1);  // more of them change nothing
  if (left == decided_for_) return;
  decided_for_ = left;
  can_pay_ = can_pay(left);
  model_ = can_pay_ ? best_by_model(left) : plain();
}

Result<void> AutoDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  if (start.index == 0) {
    estimate_ = {};
    ngrams_ = {};
    next_look_ = look_end_ = decided_for_ = 0;
    gap_ = first_gap;
  }
  ngrams_.see(start.text);
  decide(start.left);
  chosen_ = best_by_text(start.left, model_);
  if (chosen_.from == From::model) {
    next_look_ = start.index + gap_;  // this block is one
  } else if (chosen_.from == From::nowhere && can_pay_ && looks_at(start.index)) {
    chosen_ = by_model(1, 1, std::min(estimate_.tokens(1)[1], static_cast<double>(start.left)));
  }
  const auto [K, L] = chosen_.shape;
  switch (chosen_.from) {
    case From::nowhere:
      return {};
    case From::model:
      return TreeDrafter(TreeDrafter::sequences(K, L), Drafting::independent)
          .propose(start, models, choices, draft);
    case From::text:
      return NgramDrafter(NgramEstimate::longest, L).propose(start, models, choices, draft);
  }
  return {};
}

std::optional<Expectation> AutoDrafter::expectation() const {
  return Expectation{chosen_.from == From::text, chosen_.tokens, chosen_.seconds, plain().seconds};
}

Result<void> AutoDrafter::observe(const BlockStart&, const Draft& draft, const Verdict& verdict,
                                  NodeLaws& target) {
  if (chosen_.from != From::model || draft.draws().empty()) return {};
  decided_for_ = 0;
  estimate_.see_merging(draft.draws().size(), static_cast<std::size_t>(draft.tree().size()) - 1);

  const bool looks = estimate_.wants_laws();
  RecycledVector<std::optional<std::size_t>> survivors = {std::nullopt};
  NodeId above = TokenTree::root;
  for (std::size_t position = 0;; ++position) {
    const auto draws = draft.below(survivors);
    if (draws.empty()) break;
    if (looks) {
      SPECTR_TRY(const Distribution* q, target.at(above));
      const Distribution& p = *draft.draw(draws.front()).law;
      if (position == 0) {
        estimate_.see_first(p, *q);
      } else {
        estimate_.see_further(position, chosen_.shape.drafts, draws.size(), p, *q);
      }
    }
    if (position == verdict.path.size()) break;
    above = verdict.path[position];
    survivors.clear();
    for (std::size_t draw : draws) {
      if (draft.draw(draw).node == above) survivors.emplace_back(draw);
    }
    estimate_.see_survivors(draws.size(), survivors.size());
  }
  return {};
}

std::size_t AutoDrafter::most_nodes(std::size_t left) const {
  return left == 0 ? 1 : most_rows;
}

}  // namespace spectr

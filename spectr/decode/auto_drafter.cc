#include "spectr/decode/auto_drafter.h"

#include <algorithm>
#include <optional>

#include "spectr/base/recycled.h"
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

double AutoDrafter::seconds(std::size_t K, std::size_t L, double tokens) const {
  double seconds = costs_->target.seconds(1.0 + estimate_.nodes(K * L)) + select_seconds(K, L, tokens);
  // The first draft pass reads what the last block added, about two tokens; the others a level of the tree.
  for (std::size_t level = 0; level < L; ++level) {
    seconds += costs_->draft.seconds(level == 0 ? 2.0 : std::max(1.0, estimate_.nodes(K)));
  }
  return seconds;
}

/// A law of the draft for every node that is drafted below, and of the target for every token; where laws are
/// not cut short by filters, also a plan for every token but the bonus, and what the estimates take.
double AutoDrafter::select_seconds(std::size_t K, std::size_t L, double tokens) const {
  const double drafted_below = L == 0 ? 0.0 : 1.0 + static_cast<double>(L - 1) * estimate_.nodes(K);
  const double laws = costs_->select.law * (drafted_below + tokens);
  if (L == 0 || !estimate_.dense()) return laws;
  const double plan = K == 1 ? costs_->select.one : costs_->select.several;
  const double plans = plan * std::min(tokens, static_cast<double>(L));
  return laws + plans + AcceptanceEstimate::looks_per_block * (costs_->select.several + plans);
}

DraftShape AutoDrafter::best(std::size_t left) const {
  DraftShape best;
  double highest = margin / plain_seconds();
  for (std::size_t K : AcceptanceEstimate::drafts) {
    const auto tokens = estimate_.tokens(K);
    for (std::size_t L = 1; L <= std::min(most_length, left) && K * L < most_rows; ++L) {
      const double n = std::min(tokens[L], static_cast<double>(left));
      if (const double rate = n / seconds(K, L, n); rate > highest) {
        highest = rate;
        best = {K, L};
      }
    }
  }
  return best;
}

bool AutoDrafter::can_pay(std::size_t left) const {
  for (std::size_t L = 1; L <= std::min(most_length, left); ++L) {
    const double all = static_cast<double>(L + 1);
    if (all / seconds(1, L, all) > 1.0 / plain_seconds()) return true;
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
  best_ = can_pay_ ? best(left) : DraftShape{};
}

Result<void> AutoDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  if (start.index == 0) {
    estimate_ = {};
    next_look_ = look_end_ = decided_for_ = 0;
    gap_ = first_gap;
  }
  decide(start.left);
  shape_ = best_;
  if (shape_.length > 0) {
    next_look_ = start.index + gap_;  // this block is one
  } else if (can_pay_ && looks_at(start.index)) {
    shape_ = {1, 1};
  }
  const double n = shape_.length == 0 ? 1.0
                                      : std::min(estimate_.tokens(shape_.drafts)[shape_.length],
                                                 static_cast<double>(start.left));
  expectation_ = {n, seconds(shape_.drafts, shape_.length, n), plain_seconds()};
  if (shape_.length == 0) return {};
  TreeDrafter drafter(TreeDrafter::sequences(shape_.drafts, shape_.length), Drafting::independent);
  return drafter.propose(start, models, choices, draft);
}

Result<void> AutoDrafter::observe(const BlockStart&, const Draft& draft, const Verdict& verdict,
                                  NodeLaws& target) {
  if (draft.draws().empty()) return {};
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
        estimate_.see_further(position, shape_.drafts, draws.size(), p, *q);
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

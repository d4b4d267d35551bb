#include "spectr/decode/auto_drafter.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "spectr/decode/tree_drafter.h"

namespace spectr {
namespace {

// Blocks between two looks at a text that is decoded plainly; doubles every time.
constexpr std::size_t first_interval = 32;

}  // namespace

double AutoDrafter::rate(std::size_t K, std::size_t L, double tokens) const {
  const double draws = static_cast<double>(K * L);
  double seconds = costs_->target.seconds(1.0 + estimate_.nodes(K * L)) + costs_->select * (tokens + draws);
  // The first draft pass reads what the last block added, about two tokens; the others a level of the tree.
  for (std::size_t level = 0; level < L; ++level) {
    seconds += costs_->draft.seconds(level == 0 ? 2.0 : std::max(1.0, estimate_.nodes(K)));
  }
  return tokens / seconds;
}

DraftShape AutoDrafter::best(std::size_t left) const {
  DraftShape best;
  double highest = rate(0, 0, 1.0);
  for (std::size_t K : AcceptanceEstimate::drafts) {
    for (std::size_t L = 1; L <= std::min(most_length, left) && K * L < most_rows; ++L) {
      const double tokens = std::min(estimate_.tokens(K, L), static_cast<double>(left));
      if (const double r = rate(K, L, tokens); r > highest) {
        highest = r;
        best = {K, L};
      }
    }
  }
  return best;
}

bool AutoDrafter::can_pay(std::size_t left) const {
  for (std::size_t L = 1; L <= std::min(most_length, left); ++L) {
    if (rate(1, L, static_cast<double>(L + 1)) > rate(0, 0, 1.0)) return true;
  }
  return false;
}

Result<void> AutoDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  if (start.index == 0) {
    estimate_ = {};
    next_look_ = interval_ = first_interval;
  }
  shape_ = can_pay(start.left) ? best(start.left) : DraftShape{};
  if (shape_.length == 0 && start.index >= next_look_ && can_pay(start.left)) {
    shape_ = {1, 1};
    interval_ *= 2;
    next_look_ = start.index + interval_;
  }
  if (shape_.length == 0) return {};
  TreeDrafter drafter(TreeDrafter::sequences(shape_.drafts, shape_.length), Drafting::independent);
  return drafter.propose(start, models, choices, draft);
}

Result<void> AutoDrafter::observe(const BlockStart&, const Draft& draft, const Verdict& verdict,
                                  NodeLaws& target) {
  if (draft.draws().empty()) return {};
  SPECTR_TRY(const Distribution* q, target.at(TokenTree::root));
  SPECTR_TRY_VOID(estimate_.see_laws(*draft.draws().front().law, *q));
  estimate_.see_merging(draft.draws().size(), static_cast<std::size_t>(draft.tree().size()) - 1);

  std::vector<std::optional<std::size_t>> survivors = {std::nullopt};
  for (NodeId node : verdict.path) {
    const auto draws = draft.below(survivors);
    survivors.clear();
    for (std::size_t draw : draws) {
      if (draft.draw(draw).node == node) survivors.emplace_back(draw);
    }
    estimate_.see_survivors(draws.size(), survivors.size());
  }
  return {};
}

std::size_t AutoDrafter::most_nodes(std::size_t left) const {
  return left == 0 ? 1 : most_rows;
}

}  // namespace spectr

#include "spectr/decode/draft_candidate.h"

#include <algorithm>
#include <optional>

#include "spectr/base/recycled.h"
#include "spectr/decode/rehearsal.h"

namespace spectr {
namespace {

// What it reads of the text before it drafts where it also drafted the last block, in tokens.
constexpr double read_anyway = 2.0;
// So seldom a look finds that perfect drafts could be had.
constexpr double luck = 0.05;

}  // namespace

double DraftCandidate::seconds(const Prospects& prospects, DraftShape shape, double nodes,
                               double tokens) const {
  const auto [K, L] = shape;
  const SelectCosts& select = prospects.costs().select;
  const double plan = K == 1 ? select.one : select.several;
  double seconds = prospects.check_seconds(nodes, L, tokens, plan);
  // The first draft pass reads what the last block added, the others a level of the tree.
  const double level = nodes / static_cast<double>(L);
  const CostCurve& passes = costs_->passes;
  const auto text = static_cast<double>(prospects.text());
  seconds += passes.seconds(read_anyway, text) + static_cast<double>(L - 1) * passes.seconds(level, text);
  seconds += costs_->alternation;
  // A law of the draft for every node that is drafted below, and what the estimates take.
  seconds += prospects.law_seconds() * (1.0 + static_cast<double>(L - 1) * level);
  if (prospects.dense()) {
    seconds += AcceptanceEstimate::looks_per_block * (select.several + plan * at_most(tokens, L));
  }
  return seconds;
}

Way DraftCandidate::bringing(const Prospects& prospects, double tokens, std::size_t K, std::size_t L) const {
  const double seconds = this->seconds(prospects, {K, L}, estimate_.nodes(K, L), tokens);
  return {DraftOrigin::model, model_, {K, L}, tokens, seconds};
}

bool DraftCandidate::is_affordable(const Prospects& prospects, const Way& way) const {
  const auto most_nodes = static_cast<double>(way.shape.drafts * way.shape.length);
  return prospects.affords(seconds(prospects, way.shape, most_nodes, way.tokens));
}

/// Everything that it can do with so many tokens left.
void DraftCandidate::weigh(const Prospects& prospects, std::size_t left) {
  best_ = perfect_ = prospects.plain();
  const std::size_t longest = std::min(most_length, left);
  for (std::size_t L = 1; L <= longest; ++L) {
    const Way way = bringing(prospects, at_most(static_cast<double>(L + 1), left), 1, L);
    if (way.rate() > perfect_.rate()) perfect_ = way;
  }
  for (std::size_t K : AcceptanceEstimate::drafts) {
    if (K > 1 && !prospects.sequences_differ()) break;
    const auto tokens = estimate_.tokens(K);
    for (std::size_t L = 1; L <= longest && K * L < most_rows; ++L) {
      const Way way = bringing(prospects, at_most(tokens[L], left), K, L);
      if (beats(way, best_) && is_affordable(prospects, way)) best_ = way;
      if (K == 1 && L == 1) single_ = way;
    }
  }
}

void DraftCandidate::consider(const Prospects& prospects, const BlockStart& start) {
  costs_ = &prospects.costs().drafts[model_];
  block_ = start.index;
  text_ = start.text.size();
  left_ = start.left;
  // More tokens than the longest block has change nothing.
  const std::size_t left = std::min(left_, most_length + 1);
  const Situation now = {left, prospects.text(), prospects.stake()};
  if (known_for_ == now) return;
  known_for_ = now;
  weigh(prospects, left);
  affords_look_ = is_affordable(prospects, look());
}

/// What it has missed, beyond what it would read anyway: as rows of a pass, or, of many tokens, as a text.
double DraftCandidate::reading_seconds() const {
  const double unread = std::max(static_cast<double>(text_ - read_), read_anyway);
  const double text = static_cast<double>(text_) - 0.5 * unread;  // that what is read attends to, on average
  const CostCurve& passes = costs_->passes;
  const double as_rows = passes.seconds(unread, text) - passes.seconds(read_anyway, text);
  if (!costs_->reading) return as_rows;
  const AttentionCost& attention = passes.attention();
  const double further = std::max(text - static_cast<double>(attention.behind), 0.0);
  return std::min(as_rows, (unread - read_anyway) * (*costs_->reading + further * attention.per_token));
}

double DraftCandidate::rest_of_text(const Way& way) const {
  return reading_seconds() + static_cast<double>(left_) * way.seconds_per_token();
}

double DraftCandidate::hope(const Way& chosen) const {
  const double saving = chosen.seconds_per_token() - perfect_.seconds_per_token();
  return luck * saving * static_cast<double>(left_);
}

bool DraftCandidate::is_worth_reading(const Prospects& prospects) const {
  // Two laws at each context, and what the estimates take.
  const SelectCosts& select = prospects.costs().select;
  const auto others = static_cast<double>(AcceptanceEstimate::drafts.size() - 1);
  const double plans = prospects.dense() ? select.one + others * select.several : 0.0;
  const double looking =
      static_cast<double>(Rehearsal::most_contexts) * (2.0 * prospects.law_seconds() + plans);
  const Way plain = prospects.plain();
  return rest_of_text(best_) + looking < static_cast<double>(left_) * plain.seconds ||
         reading_seconds() + looking < hope(plain);
}

Result<double> DraftCandidate::rehearse(const Way& plain, NodeId contexts, NodeLaws& draft,
                                        NodeLaws& target) {
  read_ = text_ - 1;
  next_look_ = gap_;
  known_for_ = {};
  double won = 0.0;
  for (NodeId context = 0; context < contexts; ++context) {
    SPECTR_TRY(const Distribution* p, draft.at(context));
    SPECTR_TRY(const Distribution* q, target.at(context));
    won += (1.0 + estimate_.see_first(*p, *q)) * plain.seconds - single_.seconds;
    looks_ -= std::min(looks_, spared);
  }
  return won;
}

bool DraftCandidate::wants_look(const Way& chosen) {
  const bool anew = looks_ == 0 && block_ >= next_look_;
  const std::size_t looks = anew ? later_look : looks_;
  if (looks == 0 || !affords_look_) return false;
  const Way way = look();
  const double each = std::max(way.seconds - way.tokens * chosen.seconds_per_token(), 0.0);
  const double price = reading_seconds() + static_cast<double>(looks) * each;
  if (hope(chosen) <= price) return false;
  if (anew) {
    looks_ = later_look;
    gap_ *= growth;
  }
  return true;
}

void DraftCandidate::drafts_as_best() {
  gap_ = first_gap;
  drafts();
}

void DraftCandidate::drafts_for_a_look() {
  drafts();
}

void DraftCandidate::drafts() {
  read_ = text_;
  if (looks_ > 0) --looks_;
  next_look_ = block_ + 1 + gap_;
}

Result<void> DraftCandidate::observe(const Draft& draft, const Verdict& verdict, NodeLaws& target) {
  if (draft.draws().empty()) return {};
  known_for_ = {};
  RecycledVector<std::optional<std::size_t>> survivors = {std::nullopt};
  const std::size_t K = draft.below(survivors).size();
  const auto nodes = static_cast<std::size_t>(draft.tree().size()) - 1;
  estimate_.see_merging(K, draft.draws().size(), nodes);

  const bool looks = estimate_.wants_laws();
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
        estimate_.see_further(position, K, draws.size(), p, *q);
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

}  // namespace spectr

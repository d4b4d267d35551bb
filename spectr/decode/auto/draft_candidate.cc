#include "spectr/decode/auto/draft_candidate.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

std::span<const Token> before_contexts(std::span<const Token> prompt) {
  SPECTR_CHECK(prompt.size() >= 2);
  return prompt.first(prompt.size() - std::min(prompt.size() - 1, AutoParams::warm_up_contexts));
}

}  // namespace

WarmUp::WarmUp(std::span<const Token> prompt) : sequence_(before_contexts(prompt)), tree_(sequence_.back()) {
  for (Token token : prompt.subspan(sequence_.size(), prompt.size() - sequence_.size() - 1)) {
    tree_.child(last(), token);
  }
}

double DraftCandidate::drafting_seconds(const Forecast& forecast, DraftShape shape, double nodes) const {
  // Levels below the first: those of the trunk have one node, the others `level`.
  const std::size_t below = shape.length - 1, single = std::min(shape.trunk, below);
  const double level =
      (nodes - static_cast<double>(shape.trunk)) / static_cast<double>(shape.length - shape.trunk);
  const auto narrow = static_cast<double>(single), wide = static_cast<double>(below - single);
  const CostCurve& passes = costs_->passes;
  const auto depth = static_cast<double>(forecast.depth());
  double seconds = costs_->alternation + forecast.verification_seconds(nodes, shape.length, 0.0, 0.0);
  // The first draft pass processes the last block's tokens, each later pass a level of the tree.
  seconds += passes.seconds(params_.read_anyway, depth) + wide * passes.seconds(level, depth);
  if (single > 0) seconds += narrow * passes.seconds(1.0, depth);
  // Every node with drafts below needs a distribution of the draft, its confidence, and the time for the
  // estimates.
  seconds +=
      (forecast.distribution_seconds() + forecast.costs().select.likelihood) * (1.0 + narrow + wide * level);
  if (forecast.dense()) seconds += params_.compared_share * forecast.costs().plan_seconds(2);
  return seconds;
}

double DraftCandidate::token_seconds(const Forecast& forecast, DraftShape shape, double tokens) const {
  const double compared = forecast.dense() ? 1.0 + params_.compared_share : 1.0;
  return forecast.token_seconds(shape.length, tokens, compared * forecast.costs().plan_seconds(shape.drafts));
}

Choice DraftCandidate::choice_of(const Forecast& forecast, double tokens, DraftShape shape) const {
  const double nodes = estimate_.nodes(shape.drafts, shape.length, shape.trunk);
  return {.origin = DraftOrigin::model,
          .model = model_,
          .shape = shape,
          .tokens = tokens,
          .seconds = seconds(forecast, shape, nodes, tokens)};
}

bool DraftCandidate::is_affordable(const Forecast& forecast, const Choice& choice) const {
  const auto max_nodes = static_cast<double>(choice.shape.drafts * choice.shape.length);
  return forecast.affords(seconds(forecast, choice.shape, max_nodes, choice.tokens));
}

void DraftCandidate::weigh(const Forecast& forecast, std::size_t left) {
  best_ = perfect_ = forecast.plain();
  budget_ = forecast.budget();
  forbidden_ = false;
  const std::size_t max_length = std::min(AutoParams::max_length, left);
  for (std::size_t L = 1; L <= max_length; ++L) {
    const Choice choice = choice_of(forecast, capped(static_cast<double>(L + 1), left), {1, L});
    if (choice.rate() > perfect_.rate()) perfect_ = choice;
  }
  single_ = choice_of(forecast, capped(estimate_.tokens(1)[1], left), {1, 1});
  const AcceptanceEstimate::ByStop drafted = estimate_.drafted();
  const std::size_t widest = forecast.sequences_differ() ? AcceptanceEstimate::drafts.back() : 1;
  for (std::size_t K = 1; K <= widest; ++K) weigh(forecast, left, K, drafted);
}

void DraftCandidate::weigh(const Forecast& forecast, std::size_t left, std::size_t K,
                           const AcceptanceEstimate::ByStop& drafted) {
  constexpr auto stops = AcceptanceEstimate::stops;
  const AcceptanceEstimate::ByStop accepted = estimate_.accepted(K);
  const std::size_t max_length = std::min({AutoParams::max_length, left, (AutoParams::max_rows - 1) / K});
  // Per stop: the expected tokens with drafts of up to L tokens, and the expected seconds of the work that
  // does not depend on acceptance; the last level adds `longer` − `shorter` to it.
  std::array<double, stops> tokens, drafting;
  tokens.fill(1.0);
  drafting.fill(0.0);
  double shorter = 0.0;
  for (std::size_t L = 1; L <= max_length; ++L) {
    const double longer = drafting_seconds(forecast, {K, L}, estimate_.nodes(K, L));
    for (std::size_t stop = 0; stop < stops; ++stop) {
      tokens[stop] += accepted[L - 1][stop];
      drafting[stop] += drafted[L - 1][stop] * (longer - shorter);
      Choice choice = {DraftOrigin::model, model_, {K, L}, AcceptanceEstimate::min_reach(stop)};
      choice.tokens = capped(tokens[stop], left);
      choice.seconds = drafting[stop] + token_seconds(forecast, choice.shape, choice.tokens);
      if (!forecast.beats(choice, best_)) continue;
      if (is_affordable(forecast, choice)) {
        best_ = choice;
      } else {
        forbidden_ = true;
      }
    }
    shorter = longer;
  }
}

DraftShape DraftCandidate::best_shape(const Forecast& forecast, std::optional<std::size_t> K,
                                      std::optional<std::size_t> L, std::size_t max_drafts,
                                      std::optional<std::size_t> max_nodes, bool with_trunks) {
  const std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  const std::size_t max_rows =
      std::min(max_nodes.value_or(unlimited), K || L ? unlimited : AutoParams::max_rows);
  costs_ = &forecast.costs().drafts[model_];
  const std::size_t widest = forecast.sequences_differ() ? max_drafts : 1;
  const auto choice_for = [&](DraftShape shape) {
    const auto tokens =
        estimate_.tokens(std::min(shape.drafts, AcceptanceEstimate::drafts.back()), shape.trunk);
    return choice_of(forecast, tokens[std::min(shape.length, AutoParams::max_length)], shape);
  };
  DraftShape smallest{K.value_or(1), L.value_or(1)};
  if (with_trunks && smallest.drafts > 1) smallest.trunk = smallest.length - 1;
  Choice best = choice_for(smallest);
  for (std::size_t drafts = K.value_or(1); drafts <= K.value_or(widest); ++drafts) {
    for (std::size_t length = L.value_or(1); length <= L.value_or(AutoParams::max_length); ++length) {
      const std::size_t max_trunk = with_trunks && drafts > 1 ? length - 1 : 0;
      for (std::size_t trunk = 0; trunk <= max_trunk; ++trunk) {
        if (trunk + drafts * (length - trunk) >= max_rows) continue;
        const Choice choice = choice_for({drafts, length, trunk});
        if (choice.rate() > best.rate()) best = choice;
      }
    }
  }
  return best.shape;
}

/// A choice that was the best of all, or of those that a larger budget allowed, is still the best one if it
/// is affordable.
bool DraftCandidate::is_known(const Forecast& forecast, const Situation& now) const {
  if (known_for_ != now || (forbidden_ && forecast.budget() > budget_)) return false;
  return best_.origin != DraftOrigin::model || is_affordable(forecast, best_);
}

void DraftCandidate::consider(const Forecast& forecast, const BlockStart& start) {
  costs_ = &forecast.costs().drafts[model_];
  block_ = start.index;
  length_ = start.sequence.size();
  left_ = start.left;
  // A limit beyond the longest block has no effect.
  const std::size_t left = std::min(left_, AutoParams::max_length + 1);
  const Situation now = {left, forecast.depth()};
  if (!is_known(forecast, now)) {
    known_for_ = now;
    weigh(forecast, left);
  }
  affords_probe_ = is_affordable(forecast, probe());
}

double DraftCandidate::reading_seconds() const {
  const double unread = std::max(static_cast<double>(length_ - read_), params_.read_anyway);
  const double depth = static_cast<double>(length_) - 0.5 * unread;  // average over the unread tokens
  const CostCurve& passes = costs_->passes;
  const double as_rows = passes.seconds(unread, depth) - passes.seconds(params_.read_anyway, depth);
  if (!costs_->reading) return as_rows;
  const AttentionCost& attention = passes.attention();
  const double further = std::max(depth - static_cast<double>(attention.behind), 0.0);
  return std::min(as_rows,
                  (unread - params_.read_anyway) * (*costs_->reading + further * attention.per_token));
}

double DraftCandidate::seconds_to_complete(const Choice& choice) const {
  return reading_seconds() + static_cast<double>(left_) * choice.seconds_per_token();
}

double DraftCandidate::optimistic_saving(const Choice& chosen) const {
  const double saving = chosen.seconds_per_token() - perfect_.seconds_per_token();
  return params_.optimism * saving * static_cast<double>(left_);
}

bool DraftCandidate::is_worth_reading(const Forecast& forecast) const {
  // Two distributions per context, and the time for the estimates.
  const Costs& costs = forecast.costs();
  const auto others = static_cast<double>(AcceptanceEstimate::drafts.size() - 1);
  const double plans = forecast.dense() ? costs.plan_seconds(1) + others * costs.plan_seconds(2) : 0.0;
  const double comparing =
      static_cast<double>(AutoParams::warm_up_contexts) * (2.0 * forecast.distribution_seconds() + plans);
  const Choice plain = forecast.plain();
  return seconds_to_complete(best_) + comparing < static_cast<double>(left_) * plain.seconds ||
         reading_seconds() + comparing < optimistic_saving(plain);
}

Result<double> DraftCandidate::warm_up(const Choice& plain, NodeId contexts, NodeDistributions& draft,
                                       NodeDistributions& target) {
  read_ = length_ - 1;
  next_probe_ = gap_;
  known_for_ = {};
  double won = 0.0;
  for (NodeId context = 0; context < contexts; ++context) {
    SPECTR_TRY(const Distribution* p, draft.at(context));
    SPECTR_TRY(const Distribution* q, target.at(context));
    const double confidence = draft.confidence(context);
    estimate_.see_confidence(0, confidence);
    won += (1.0 + estimate_.see_first(confidence, *p, *q)) * plain.seconds - single_.seconds;
    probes_ -= std::min(probes_, params_.spared_by_context);
  }
  return won;
}

bool DraftCandidate::wants_probe(const Choice& chosen) {
  const bool anew = probes_ == 0 && block_ >= next_probe_;
  const std::size_t probes = anew ? params_.later_probe : probes_;
  if (probes == 0 || !affords_probe_) return false;
  const Choice probe = this->probe();
  const double each = std::max(probe.seconds - probe.tokens * chosen.seconds_per_token(), 0.0);
  const double price = reading_seconds() + static_cast<double>(probes) * each;
  if (optimistic_saving(chosen) <= price) return false;
  if (anew) {
    probes_ = params_.later_probe;
    gap_ *= params_.gap_growth;
  }
  return true;
}

void DraftCandidate::exploit() {
  gap_ = params_.first_gap;
  count_drafting();
}

void DraftCandidate::count_drafting() {
  read_ = length_;
  if (probes_ > 0) --probes_;
  next_probe_ = block_ + 1 + gap_;
}

Result<void> DraftCandidate::observe(const Draft& draft, const Verdict& verdict, NodeDistributions& target) {
  if (draft.draws().empty()) return {};
  RecycledVector<std::optional<std::size_t>> survivors = {std::nullopt};
  const std::size_t K = draft.below(survivors).size();
  const auto nodes = static_cast<std::size_t>(draft.tree().size()) - 1;
  estimate_.see_merging(K, draft.draws().size(), nodes);

  const bool compares = estimate_.wants_distributions();
  if (compares) known_for_ = {};
  NodeId above = TokenTree::root;
  for (std::size_t position = 0;; ++position) {
    const auto draws = draft.below(survivors);
    if (draws.empty()) break;
    const Draw& first = draft.draw(draws.front());
    estimate_.see_confidence(position, first.confidence);
    if (compares) {
      SPECTR_TRY(const Distribution* q, target.at(above));
      const Distribution& p = *first.distribution;
      if (position == 0) {
        estimate_.see_first(first.confidence, p, *q);
      } else {
        estimate_.see_further(first.confidence, draws.size(), p, *q);
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

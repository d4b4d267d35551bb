#include "spectr/decode/auto/draft_candidate.h"

#include <algorithm>

#include "spectr/base/recycled.h"
#include "spectr/decode/costs/learned_position.h"

namespace spectr {
namespace {

/// Number of positions that are kept for later sequences.
constexpr std::size_t kept_positions = 32;

std::vector<Replay::Family> families(const ShapeLimits& limits, bool sequences_differ) {
  std::vector<Replay::Family> all;
  for (const std::size_t K : AutoParams::drafts) {
    if (K > (sequences_differ ? limits.drafts : 1)) break;
    all.push_back({.drafts = K, .max_length = std::min(limits.length, (limits.rows - 1) / K)});
  }
  return all;
}

}  // namespace

DraftCandidate::DraftCandidate(std::size_t model, const AutoParams& params, const DraftCosts& costs)
    : params_(params), model_(model), costs_(&costs), limits_(limits_of(costs)) {
  latest_.reserve(kept_positions);
}

double DraftCandidate::seconds(const Forecast& forecast, std::size_t K, double nodes, double levels,
                               double tokens) const {
  return times_.block + BlockTimes::at(times_.target, 1.0 + nodes) - times_.target[1] +
         (levels - 1.0) * BlockTimes::at(times_.draft, nodes / levels) + tokens * forecast.token_seconds(K);
}

Choice DraftCandidate::choice_of(const Forecast& forecast, std::size_t setting) const {
  const DraftSetting& of = replay_->settings()[setting];
  const double tokens = capped(replay_->tokens(setting), left_);
  return {.origin = DraftOrigin::model,
          .model = model_,
          .setting = of,
          .tokens = tokens,
          .seconds = replay_->seconds(setting) + tokens * forecast.token_seconds(of.shape.drafts)};
}

/// Returns the best choice of a single draft sequence if every draft is accepted, or plain decoding if that
/// does not pay. No setting promises more.
Choice DraftCandidate::perfect(const Forecast& forecast) const {
  Choice best = forecast.plain();
  for (std::size_t L = 1; L <= std::min(limits_.length, left_); ++L) {
    const auto levels = static_cast<double>(L);
    const double tokens = capped(levels + 1.0, left_);
    const Choice choice = {.origin = DraftOrigin::model,
                           .model = model_,
                           .setting = {{1, L}},
                           .tokens = tokens,
                           .seconds = seconds(forecast, 1, levels, levels, tokens)};
    if (choice.rate() > best.rate()) best = choice;
  }
  return forecast.beats(best, plain_) ? best : plain_;
}

void DraftCandidate::consider(const Forecast& forecast, const BlockStart& start) {
  block_ = start.index;
  length_ = start.sequence.size();
  left_ = start.left;
  if (block_ < next_evaluation_ && best_.origin == DraftOrigin::none) return;
  next_evaluation_ = block_ + AutoParams::look_positions;
  times_ = forecast.times_of(*costs_);
  best_ = plain_ = forecast.plain();
  perfect_ = perfect(forecast);
  if (perfect_.origin == DraftOrigin::none) return;
  if (!replay_) {
    replay_.emplace(families(limits_, forecast.sequences_differ()), AutoParams::min_reaches, params_.memory,
                    is_trained());
    forecast.begin(*replay_, *costs_);
  }
  for (std::size_t s = 0; s < replay_->settings().size(); ++s) {
    const auto [K, L, trunk] = replay_->settings()[s].shape;
    if (L > left_) continue;
    const Choice choice = choice_of(forecast, s);
    // A block costs most if no draft is accepted and no two draft sequences share a prefix.
    const double max_seconds = seconds(forecast, K, static_cast<double>(K * L), static_cast<double>(L), 1.0);
    if (forecast.beats(choice, best_) && forecast.affords(max_seconds)) best_ = choice;
  }
}

double DraftCandidate::reading_seconds(std::size_t rows) const {
  const double read_anyway = params_.read_anyway;
  const double unread = std::max(static_cast<double>(length_ - read_), read_anyway);
  const double depth = static_cast<double>(length_) - 0.5 * unread;  // average over the unread tokens
  const CostCurve& passes = costs_->passes;
  if (is_trained()) {
    const auto levels = static_cast<double>(rows);
    const double pass = rows == 0 ? 0.0 : *costs_->first + (levels - 1.0) * passes.seconds(1.0, depth);
    return (unread - read_anyway) * costs_->reading.value_or(0.0) + pass;
  }
  const double least = static_cast<double>(rows) + read_anyway;
  const double as_rows = passes.seconds(std::max(unread, least), depth) - passes.seconds(read_anyway, depth);
  if (!costs_->reading) return as_rows;
  const AttentionCost& attention = passes.attention();
  const double further = std::max(depth - static_cast<double>(attention.behind), 0.0);
  const double in_one_go = (unread - read_anyway) * (*costs_->reading + further * attention.per_token);
  const double logits = passes.seconds(least, depth) - passes.seconds(read_anyway, depth);
  return std::min(as_rows, in_one_go + logits);
}

bool DraftCandidate::is_worth_reading(const Forecast& forecast) const {
  const double saving = plain_.seconds_per_token() - best_.seconds_per_token();
  return look_seconds(forecast) < static_cast<double>(left_) * saving || affords_look(forecast, plain_);
}

bool DraftCandidate::affords_look(const Forecast& forecast, const Choice& chosen) const {
  const double price = look_seconds(forecast);
  const double saving = chosen.seconds_per_token() - perfect_.seconds_per_token();
  return params_.optimism * static_cast<double>(left_) * saving > price &&
         forecast.affords(forecast.plain().seconds + price);
}

bool DraftCandidate::wants_look(const Forecast& forecast, const Choice& chosen) const {
  return block_ >= next_look_ && affords_look(forecast, chosen);
}

void DraftCandidate::read_prompt() {
  read_ = length_ - 1;
  replay_->limit_weight(params_.prompt_weight);
}

void DraftCandidate::looked() {
  read_ = length_ - 1;
  next_look_ = params_.look_growth * std::max(block_, AutoParams::look_positions);
}

void DraftCandidate::drafts() {
  ++blocks_;
  next_look_ = block_ + AutoParams::look_positions;
}

void DraftCandidate::see(const DraftedPosition& position, std::size_t level) {
  replay_->see(position, times_, level);
  next_evaluation_ = 0;
  ++seen_;
  if (latest_.size() == kept_positions) latest_.erase(latest_.begin());
  latest_.push_back(learned_from(position));
  if (is_trained()) latest_.back().level = level;
}

Result<void> DraftCandidate::observe(const Draft& draft, const Verdict& verdict, NodeDistributions& target) {
  read_ = length_ + verdict.path.size();
  const bool is_new = static_cast<double>(seen_) < params_.memory;
  if (!is_new && blocks_ % params_.compared_blocks != 0) return {};
  RecycledVector<std::optional<std::size_t>> survivors = {std::nullopt};
  NodeId above = TokenTree::root;
  for (std::size_t i = 0;; ++i) {
    const auto draws = draft.below(survivors);
    const bool is_accepted = i < verdict.path.size();
    if (draws.empty() || (!is_accepted && !verdict.last)) return {};
    const Token token = is_accepted ? draft.tree().token(verdict.path[i]) : *verdict.last;
    const Draw& first = draft.draw(draws.front());
    SPECTR_TRY(const Distribution* q, target.at(above));
    see(compare(*first.distribution, *q, token, first.confidence, limits_.drafts), i + 1);
    if (!is_accepted) return {};
    above = verdict.path[i];
    survivors.clear();
    for (std::size_t draw : draws) {
      if (draft.draw(draw).node == above) survivors.emplace_back(draw);
    }
  }
}

}  // namespace spectr

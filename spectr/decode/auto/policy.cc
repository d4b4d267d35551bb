#include "spectr/decode/auto/policy.h"

#include "spectr/decode/costs/learned_position.h"

namespace spectr {

double RegretBudget::of_block(const Choice& plain, std::size_t left) const {
  const double max_regret =
      std::max(params_.regret_share * static_cast<double>(emitted_ + left), params_.min_regret) *
      plain.seconds;
  return params_.block_share * (max_regret - regret_);
}

Support support_of(const Warp& warp, std::size_t vocabulary) {
  if (warp.is_greedy()) return Support::point;
  return warp.filters(vocabulary) ? Support::cut : Support::whole;
}

ShapeLimits limits_of(const DraftCosts& draft) {
  constexpr std::size_t max_length = AutoParams::max_length;
  if (!draft.block) return {AutoParams::max_drafts, max_length, AutoParams::max_rows};
  return {AutoParams::max_block_drafts, std::min(*draft.block, max_length), AutoParams::max_block_rows};
}

void Forecast::begin(Replay& replay, const DraftCosts& draft) const {
  const BlockTimes times = times_of(draft);
  const auto& learned = draft.learned[static_cast<std::size_t>(support_)];
  if (!learned || draft.first) {  // levels at which nothing was learned are guessed
    for (const LearnedPosition& position : guessed_positions()) replay.see(position_of(position), times);
    replay.limit_weight(params_.guess_weight);
  }
  if (!learned) return;
  for (const LearnedPosition& position : *learned) replay.see(position_of(position), times, position.level);
}

Choice Forecast::best_by_ngrams(const NgramEstimate& ngrams, std::size_t left, Choice best) const {
  const auto tokens = ngrams.tokens();
  for (std::size_t L = 1; L <= std::min(NgramEstimate::max_length, left); ++L) {
    const double n = capped(tokens[L], left);
    const double seconds = verification_seconds(static_cast<double>(L), n, 1);
    const Choice choice = {
        .origin = DraftOrigin::ngrams, .setting = {{1, L}}, .tokens = n, .seconds = seconds};
    if (beats(choice, best) && affords(seconds)) best = choice;
  }
  return best;
}

BlockTimes Forecast::times_of(const DraftCosts& draft) const {
  // Each row with drafts below it needs a distribution and a confidence, which takes as long as a likelihood.
  const double row = distribution_seconds() + costs_.select.likelihood;
  BlockTimes times;
  times.block = costs_.target.seconds(1.0, depth_) + draft.alternation +
                draft.first.value_or(draft.passes.seconds(params_.read_anyway, depth_)) + row;
  for (std::size_t rows = 1; rows <= BlockTimes::max_rows; ++rows) {
    const auto r = static_cast<double>(rows);
    times.target[rows] = costs_.target.seconds(r, depth_);
    times.draft[rows] = draft.passes.seconds(r, depth_) + r * row;
  }
  return times;
}

}  // namespace spectr

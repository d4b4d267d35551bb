#include "apps/server/totals.h"

#include <algorithm>

namespace spectr::server {

void Totals::count(const Block& block, std::size_t kept) {
  const std::lock_guard lock(mutex_);
  const std::size_t accepted = std::min(block.accepted, kept);
  counts_.generated += kept;
  counts_.drafts += block.drafted > 0 ? 1 : 0;
  counts_.drafted += block.drafted;
  counts_.accepted += accepted;
  if (counts_.accepted_at.size() < accepted) counts_.accepted_at.resize(accepted);
  for (std::size_t i = 0; i < accepted; ++i) ++counts_.accepted_at[i];
}

void Totals::count(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  const bool cancelled = outcome.reason == FinishReason::cancelled ||
                         outcome.reason == FinishReason::timeout ||
                         outcome.reason == FinishReason::not_started;
  ++(cancelled                                ? counts_.cancelled
     : outcome.reason == FinishReason::failed ? counts_.failed
                                              : counts_.finished);
  counts_.cached_tokens += outcome.cached;
  counts_.prompt_tokens += outcome.computed;
  counts_.longest = std::max<std::uint64_t>(
      counts_.longest, outcome.cached + outcome.computed + outcome.statistics.generated());
  counts_.prompt_seconds += outcome.statistics.prompt_seconds;
  counts_.generation_seconds += outcome.statistics.total_seconds - outcome.statistics.prompt_seconds;
}

void Totals::count(SecondsHistogram Counts::* histogram, std::chrono::steady_clock::duration time) {
  const std::lock_guard lock(mutex_);
  (counts_.*histogram).add(std::chrono::duration<double>(time).count());
}

Counts Totals::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace spectr::server

#include "spectr/engine/engine_counts.h"

#include <algorithm>

namespace spectr {

void EngineCounters::count(const Block& block, std::size_t kept) {
  const std::lock_guard lock(mutex_);
  const std::size_t accepted = std::min(block.accepted, kept);
  counts_.generated += kept;
  counts_.drafts += block.drafted > 0 ? 1 : 0;
  counts_.drafted += block.drafted;
  counts_.accepted += accepted;
  if (counts_.accepted_at.size() < accepted) counts_.accepted_at.resize(accepted);
  for (std::size_t i = 0; i < accepted; ++i) ++counts_.accepted_at[i];
}

void EngineCounters::count(const CompletionResult& result) {
  const std::lock_guard lock(mutex_);
  const bool cancelled = result.reason == FinishReason::cancelled || result.reason == FinishReason::timeout ||
                         result.reason == FinishReason::not_started;
  ++(cancelled                               ? counts_.cancelled
     : result.reason == FinishReason::failed ? counts_.failed
                                             : counts_.finished);
  counts_.cached_tokens += result.cached;
  counts_.prompt_tokens += result.computed;
  counts_.longest = std::max<std::uint64_t>(counts_.longest,
                                            result.cached + result.computed + result.statistics.generated());
  counts_.prompt_seconds += result.statistics.prompt_seconds;
  counts_.generation_seconds += result.statistics.total_seconds - result.statistics.prompt_seconds;
}

void EngineCounters::count(SecondsHistogram EngineCounts::* histogram,
                           std::chrono::steady_clock::duration time) {
  const std::lock_guard lock(mutex_);
  (counts_.*histogram).add(std::chrono::duration<double>(time).count());
}

EngineCounts EngineCounters::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace spectr

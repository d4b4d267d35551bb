#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "spectr/base/histogram.h"
#include "spectr/engine/completion.h"

namespace spectr {

/// Bounds in seconds, from imperceptible to intolerable delays.
using SecondsHistogram = Histogram<14>;
inline constexpr SecondsHistogram::Bounds seconds_bounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                            0.25,  0.5,    1,     2.5,  5,     10,   30};

/// Statistics of an engine since it was loaded.
struct EngineCounts {
  std::uint64_t prompt_tokens = 0;  ///< computed, not from a cache
  std::uint64_t cached_tokens = 0;
  std::uint64_t generated = 0;
  std::uint64_t drafts = 0;  ///< blocks with at least one draft token
  std::uint64_t drafted = 0;
  std::uint64_t accepted = 0;
  std::vector<std::uint64_t> accepted_at;  ///< [i]: blocks whose i-th token was an accepted draft
  std::uint64_t finished = 0, cancelled = 0, failed = 0;
  std::uint64_t longest = 0;  ///< tokens of the longest sequence, prompt and completion
  double prompt_seconds = 0.0;
  double generation_seconds = 0.0;
  SecondsHistogram queued{seconds_bounds};       ///< from submission until a slot is free
  SecondsHistogram first_token{seconds_bounds};  ///< from submission to the first tokens
  SecondsHistogram gap{seconds_bounds};          ///< between blocks of tokens
};

/// Accumulates the events of several threads.
class EngineCounters {
 public:
  void count(const Block& block, std::size_t kept);
  void count(const CompletionResult& result);
  /// Adds a duration to one of the histograms.
  void count(SecondsHistogram EngineCounts::* histogram, std::chrono::steady_clock::duration time);
  EngineCounts counts() const;

 private:
  mutable std::mutex mutex_;
  EngineCounts counts_;
};

}  // namespace spectr

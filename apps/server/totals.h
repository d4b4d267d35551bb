#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "apps/server/answer.h"

namespace spectr::server {

/// What the server has done since it started.
struct Counts {
  std::uint64_t prompt_tokens = 0;  ///< computed, not taken from a cache
  std::uint64_t cached_tokens = 0;
  std::uint64_t generated = 0;
  std::uint64_t drafts = 0;  ///< blocks with at least one draft token
  std::uint64_t drafted = 0;
  std::uint64_t accepted = 0;
  std::vector<std::uint64_t> accepted_at;  ///< [i]: blocks whose i-th token was an accepted draft
  std::uint64_t finished = 0, cancelled = 0, failed = 0;
  std::uint64_t longest = 0;  ///< tokens of a sequence, prompt and completion
  double prompt_seconds = 0.0;
  double generation_seconds = 0.0;
};

/// Counts, from several threads.
class Totals {
 public:
  void count(const Block& block, std::size_t kept);
  void count(const Outcome& outcome);
  Counts counts() const;

 private:
  mutable std::mutex mutex_;
  Counts counts_;
};

}  // namespace spectr::server

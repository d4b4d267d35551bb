#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/sampling/warp_options.h"

namespace spectr {

/// Applies the penalties for recent tokens. `find` returns a pointer to a token's logit, null if it has none.
template <class Find>
void apply_repeat_penalties(const WarpOptions& o, std::span<const Token> history, Find&& find) {
  const auto last = history.last(std::min(o.repeat_last_n, history.size()));
  RecycledVector<Token> recent(last.begin(), last.end());
  std::ranges::sort(recent);
  for (auto next = recent.begin(); next != recent.end();) {
    const Token token = *next;
    const auto first = std::exchange(next, std::upper_bound(next, recent.end(), token));
    const auto count = static_cast<double>(next - first);
    double* found = find(token);
    if (found == nullptr) continue;
    double& logit = *found;
    logit = logit <= 0.0 ? logit * o.repeat_penalty : logit / o.repeat_penalty;
    logit -= count * o.frequency_penalty + o.presence_penalty;
  }
}

/// Applies `sampler`, which is penalties or dry. `find` is as in apply_repeat_penalties().
template <class Find>
void apply_penalties(Sampler sampler, const WarpOptions& o, std::span<const Token> history, Find&& find) {
  if (sampler == Sampler::penalties) return apply_repeat_penalties(o, history, find);
  for (const auto& [token, penalty] : dry_penalties(o.dry, history))
    if (double* logit = find(token)) *logit -= penalty;
}

}  // namespace spectr

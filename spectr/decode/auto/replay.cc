#include "spectr/decode/auto/replay.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "spectr/base/check.h"

namespace spectr {
namespace {

/// Returns the expected number of different tokens among K draws from 1 / m equally likely ones.
double different(std::size_t K, double m) {
  if (K == 1) return 1.0;
  if (m < 1e-9) return static_cast<double>(K);
  return (1.0 - std::pow(1.0 - std::min(m, 1.0), static_cast<double>(K))) / m;
}

}  // namespace

double BlockTimes::at(const ByRows& seconds, double rows) {
  const double clamped = std::max(rows, 1.0);
  const auto below = std::min(static_cast<std::size_t>(clamped), max_rows - 1);
  return std::lerp(seconds[below], seconds[below + 1], clamped - static_cast<double>(below));
}

Replay::Replay(std::span<const Family> families, std::span<const double> bounds, double memory, bool by_level)
    : families_(families.begin(), families.end()),
      bounds_(bounds.begin(), bounds.end()),
      decay_(std::exp(-1.0 / memory)) {
  for (const Family& family : families_) {
    SPECTR_CHECK(family.max_length >= 1 && family.max_length <= longest && family.trunk < family.max_length);
    for (std::size_t L = family.trunk + 1; L <= family.max_length; ++L) {
      for (const double bound : bounds_) settings_.push_back({{family.drafts, L, family.trunk}, bound});
    }
  }
  levels_.resize(settings_.size());
  begins_.resize(settings_.size());
  next_.assign(settings_.size(), 1.0);
  starts_.resize(families_.size());
  if (by_level) histories_.resize(longest);
}

void Replay::History::add(const DraftedPosition& position, bool is_own) {
  if (own + borrowed == 0) positions.fill(position);
  if (is_own) {
    positions[own++ % positions.size()] = position;
  } else if (own < positions.size()) {
    positions[own + borrowed++ % (positions.size() - own)] = position;
  }
}

void Replay::see(const DraftedPosition& position, const BlockTimes& times, std::size_t level) {
  ++turn_;
  for (std::size_t i = 0; i < histories_.size(); ++i) histories_[i].add(position, level == i + 1);
  if (weight_ > 1e100) rescale();
  weight_ /= decay_;
  positions_ += weight_;
  begun_ = (begun_ + 1) % ages;
  seen_ = std::min(seen_ + 1, ages);
  for (std::size_t s = 0; s < settings_.size(); ++s) {
    const double begins = std::exchange(next_[s], 0.0);
    begins_[s][begun_] = begins;
    levels_[s][0].blocks += weight_ * begins;
    levels_[s][0].seconds += weight_ * begins * times.block;
  }
  std::size_t first_setting = 0;
  for (std::size_t f = 0; f < families_.size(); ++f) {
    see(families_[f], first_setting, starts_[f], position, times);
    first_setting += (families_[f].max_length - families_[f].trunk) * bounds_.size();
  }
}

double Replay::seconds(std::size_t setting) const {
  double seconds = 0.0, level = 0.0;
  for (std::size_t i = 0; i <= settings_[setting].shape.length; ++i) {
    const Level& sum = levels_[setting][i];
    if (sum.blocks > 0.0) level = sum.seconds / sum.blocks;  // otherwise like the level above
    seconds += level;
  }
  return seconds;
}

void Replay::limit_weight(double positions) {
  weight_ *= std::max(1.0, positions_ / (weight_ * positions));
}

/// Divides all weights by that of the last position.
void Replay::rescale() {
  positions_ /= weight_;
  for (auto& levels : levels_) {
    for (Level& level : levels) level = {level.blocks / weight_, level.seconds / weight_};
  }
  weight_ = 1.0;
}

/// Adds a position to the blocks of one family. It is level `age` + 1 of a block that began `age` positions
/// ago.
void Replay::see(const Family& family, std::size_t first_setting, std::span<Start> starts,
                 const DraftedPosition& position, const BlockTimes& times) {
  const std::size_t K = std::min(family.drafts, Survivors::max_drafts);
  starts[begun_] = {};
  starts[begun_].drafts[family.trunk == 0 ? K - 1 : 0] = 1.0;
  for (std::size_t age = 0; age < seen_ && age <= family.max_length; ++age) {
    const std::size_t level = age + 1;
    Start& start = starts[place(age)];
    const Start before = start;
    double seconds = 0.0;  // of the level
    if (level <= family.max_length) {
      start.advance(histories_.empty() ? position : histories_[age].at(turn_), level, family);
      seconds =
          BlockTimes::at(times.target, 1.0 + start.nodes) - BlockTimes::at(times.target, 1.0 + before.nodes);
      if (level > 1) seconds += BlockTimes::at(times.draft, before.last_level);
    }
    // Blocks with shorter drafts have ended before this level.
    const std::size_t shortest = family.trunk + 1, first = std::max(shortest, level - 1);
    std::size_t s = first_setting + (first - shortest) * bounds_.size();
    for (std::size_t L = first; L <= family.max_length; ++L) {
      for (const double bound : bounds_) {
        const bool drafts = level <= L && (level == 1 || before.reach >= bound);
        const bool drafted = level <= 2 || before.last_reach >= bound;  // at the level above
        const double begun = begins_[s][place(age)];
        if (level <= L) levels_[s][level].blocks += weight_ * begun;
        if (drafts) {
          next_[s] += begun * (before.survives - start.survives);
          levels_[s][level].seconds += weight_ * begun * seconds;
        } else if (drafted) {
          next_[s] += begun * before.survives;
        }
        ++s;
      }
    }
  }
}

/// Advances the block to its next level, at a position where it has drafts.
void Replay::Start::advance(const DraftedPosition& position, std::size_t level, const Family& family) {
  const std::size_t K = std::min(family.drafts, Survivors::max_drafts);
  std::array<double, Survivors::max_drafts> next = {};
  for (std::size_t k = 1; k <= K; ++k) {
    if (drafts[k - 1] == 0.0) continue;
    for (std::size_t n = 1; n <= k; ++n) next[n - 1] += drafts[k - 1] * position.survivors(k, n);
  }
  survives = std::accumulate(next.begin(), next.end(), 0.0);
  drafts = next;
  if (level == family.trunk) {
    drafts = {};
    drafts[K - 1] = survives;
  }
  if (level > family.trunk) {
    merged *= position.merging;
    last_level = different(family.drafts, merged);
  }
  nodes += last_level;
  last_reach = std::exchange(reach, reach * position.confidence);
}

}  // namespace spectr

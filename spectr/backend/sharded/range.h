#pragma once

#include <cstddef>

#include "spectr/base/check.h"

namespace spectr {

/// The half-open range [first, first + size).
struct Range {
  std::size_t first, size;

  friend bool operator==(const Range&, const Range&) = default;
};

/// A rank and the number of ranks that share a model.
struct RankOf {
  std::size_t rank, ranks;
};

/// Returns a rank's part of `count` items, in units of `piece`. The ranks' numbers of pieces differ by at
/// most one. Requires: `piece` divides `count`.
inline Range part_of(std::size_t count, RankOf who, std::size_t piece = 1) {
  SPECTR_CHECK(who.rank < who.ranks && count % piece == 0);
  const std::size_t pieces = count / piece;
  const std::size_t first = pieces * who.rank / who.ranks, end = pieces * (who.rank + 1) / who.ranks;
  return {first * piece, (end - first) * piece};
}

}  // namespace spectr

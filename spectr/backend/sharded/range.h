#pragma once

#include <cstddef>

#include "spectr/base/check.h"

namespace spectr {

/// Numbers from `first` on.
struct Range {
  std::size_t first, size;

  friend bool operator==(const Range&, const Range&) = default;
};

/// A rank among so many that share a model.
struct RankOf {
  std::size_t rank, ranks;
};

/// A rank's part of `count` things in pieces of `piece`: each rank has as many pieces as the others, or one
/// more. Requires: `piece` divides `count`.
inline Range part_of(std::size_t count, RankOf who, std::size_t piece = 1) {
  SPECTR_CHECK(who.rank < who.ranks && count % piece == 0);
  const std::size_t pieces = count / piece;
  const std::size_t first = pieces * who.rank / who.ranks, end = pieces * (who.rank + 1) / who.ranks;
  return {first * piece, (end - first) * piece};
}

}  // namespace spectr

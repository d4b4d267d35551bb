#pragma once

#include <cstddef>

#include "spectr/decode/drafter.h"

namespace spectr {

/// Where the drafts of a block come from.
enum class DraftOrigin { nowhere, model, text };

/// A way to make a block, and what it promises.
struct Way {
  DraftOrigin origin = DraftOrigin::nowhere;
  std::size_t model = 0;  ///< which one, of draft models
  DraftShape shape = {};
  double tokens = 1.0;
  double seconds = 0.0;

  double rate() const { return tokens / seconds; }
  double seconds_per_token() const { return seconds / tokens; }
};

}  // namespace spectr

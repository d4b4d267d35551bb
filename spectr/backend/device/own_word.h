#pragma once

// A token of a sequence that the head's shortlist lacks, as plain data for host and kernels.

namespace spectr {

/// Of the logits of row `row` that of `token` is computed from the weights at `place` (OwnRows). No token
/// (−1): nothing to do.
struct OwnWord {
  int row, place, token;
};

}  // namespace spectr

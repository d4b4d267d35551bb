#pragma once

// A sequence's extra token, which is not in the head's shortlist, as plain data for host and kernels.

namespace spectr {

/// Requests the logit of `token` in row `row`, computed with the weights at index `place` (ExtraHeadRows).
/// Token −1 is padding.
struct ExtraToken {
  int row, place, token;
};

}  // namespace spectr

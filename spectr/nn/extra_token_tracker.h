#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// Follows a sequence and reads, for each of its tokens that a slim head's shortlist lacks, the token's row
/// of the head's matrix from the file. Not thread-safe.
class ExtraTokenTracker {
 public:
  /// `file` has the matrix of `spec`'s head. Both must outlive the tracker.
  ExtraTokenTracker(const Gguf& file, const ModelSpec& spec);

  /// Reads the part of the sequence that is new. Returns the extra tokens of the whole sequence, none if the
  /// file's head itself lacks tokens (a drafter's d2t); null if the head has no shortlist. Throws
  /// std::bad_alloc.
  const ExtraTokens* read(std::span<const Token> sequence);
  /// Drops all tokens after the first `length`.
  void rewind(std::size_t length);

 private:
  void add(Token token);

  const Gguf& file_;
  const ModelSpec& spec_;
  ExtraTokens extra_;
  std::vector<std::size_t> since_;  // first position of each of them
  std::size_t read_ = 0;            // tokens of the sequence read so far
};

}  // namespace spectr

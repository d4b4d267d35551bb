#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/decoder.h"

namespace spectr {

/// The exact distribution of a decoder's whole output and its expected cost, by enumeration.
struct DecoderDistribution {
  std::map<std::vector<Token>, double> distribution;  ///< probability of each possible output
  double expected_target_calls = 0.0;
  double expected_rejections = 0.0;  ///< expected number of blocks that end in a correction
};

struct EnumerationOptions {
  std::size_t horizon;           ///< tokens to emit
  std::vector<Token> ends = {};  ///< tokens that end the output
  bool markov = true;            ///< models depend only on a sequence's length and last token, as tables do
  double max_outcomes = 5e7;     ///< fails above this number
};

/// Enumerates one block from every sequence that a block can start from and combines them, shortest first.
/// Sequences that the models (`markov`), the drafter and the filters cannot distinguish are enumerated once.
/// Between blocks the state is only the sequence, so this is exact. If the decoder has more state (method
/// auto), whole runs are enumerated. Requires: sessions without state from other sequences (tabular or
/// memoising models). Fails above max_outcomes. Cost: Σ over starts of the outcomes of one block, or the
/// number of runs.
Result<DecoderDistribution> enumerate_decoder(Decoder& decoder, Models& models, std::span<const Token> prompt,
                                              const EnumerationOptions& options);

/// Returns the expected number of tokens of the block after `prompt` if options.horizon tokens may follow.
/// Requirements and errors are those of enumerate_decoder(). Cost: the outcomes of one block.
Result<double> expected_block_tokens(Decoder& decoder, Models& models, std::span<const Token> prompt,
                                     const EnumerationOptions& options);

/// Returns the exact distribution of the target's own output, which a lossless decoder must reproduce.
Result<std::map<std::vector<Token>, double>> enumerate_target(Models& models, std::span<const Token> prompt,
                                                              const EnumerationOptions& options);

/// Returns the total variation distance between two distributions of outputs.
double total_variation(const std::map<std::vector<Token>, double>& a,
                       const std::map<std::vector<Token>, double>& b);

}  // namespace spectr

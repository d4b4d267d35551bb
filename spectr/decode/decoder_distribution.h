#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/decoder.h"

namespace spectr {

/// The exact distribution of a decoder's whole output, and what it costs, by enumeration.
struct DecoderDistribution {
  std::map<std::vector<Token>, double> distribution;  ///< the probability of every possible output
  double expected_target_calls = 0.0;
  double expected_rejections = 0.0;  ///< the expected number of blocks that end in a correction
};

struct EnumerationOptions {
  std::size_t horizon;           ///< tokens to emit
  std::vector<Token> ends = {};  ///< tokens that end the output
  bool markov = true;  ///< of a sequence the models see its length and its last token alone, as tables do
  double max_outcomes = 5e7;  ///< refuses above
};

/// Enumerates one block from every sequence that a block can start from and combines them, shortest first; of
/// sequences that neither the models (`markov`) nor drafter and filters tell apart only one. Between blocks
/// the state is the sequence alone, so this is exact. Where the decoder remembers more (method auto), whole
/// runs are enumerated. Requires: sessions that keep nothing of other sequences (tabular or memoising
/// models). Error: more than max_outcomes. Cost: Σ over starts of the outcomes of one block, or the number of
/// runs.
Result<DecoderDistribution> enumerate_decoder(Decoder& decoder, Models& models, std::span<const Token> prompt,
                                              const EnumerationOptions& options);

/// The expected number of tokens of the block that starts after `prompt`, where options.horizon tokens may
/// still follow. Requirements and errors: as of enumerate_decoder. Cost: the outcomes of one block.
Result<double> expected_block_tokens(Decoder& decoder, Models& models, std::span<const Token> prompt,
                                     const EnumerationOptions& options);

/// The exact distribution of the target's own output: what a lossless decoder must give.
Result<std::map<std::vector<Token>, double>> enumerate_target(Models& models, std::span<const Token> prompt,
                                                              const EnumerationOptions& options);

/// The total variation between two distributions of outputs.
double total_variation(const std::map<std::vector<Token>, double>& a,
                       const std::map<std::vector<Token>, double>& b);

}  // namespace spectr

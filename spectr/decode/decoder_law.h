#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/decoder.h"

namespace spectr {

/// The exact law of a decoder's whole output, and what it costs, by enumeration.
struct DecoderLaw {
  std::map<std::vector<Token>, double> law;  ///< probability of every text that can come out
  double expected_target_calls = 0.0;
  double expected_rejections = 0.0;  ///< expected number of blocks that end in a correction
};

struct DecoderLawOptions {
  std::size_t horizon;           ///< tokens to emit
  std::vector<Token> ends = {};  ///< tokens that end the text
  bool markov = true;            ///< the models see of a text its length and last token alone, as tables do
  double most_outcomes = 5e7;    ///< refuses above
};

/// Enumerates one block from every text that a block can start from and combines the texts, shortest first;
/// of texts that neither the models (`markov`) nor drafter and filters tell apart only one. Between blocks
/// the state is the text alone, so this is exact. Where the decoder remembers more (method auto), whole runs
/// are enumerated. Requires: sessions that keep nothing of other texts (tabular or memoising models). Error:
/// more than most_outcomes. Cost: Σ over starts of the outcomes of one block, or the number of runs.
Result<DecoderLaw> enumerate_decoder(Decoder& decoder, Models& models, std::span<const Token> prompt,
                                     const DecoderLawOptions& options);

/// The exact law of the target's own output: what a lossless decoder must give.
Result<std::map<std::vector<Token>, double>> enumerate_target(Models& models, std::span<const Token> prompt,
                                                              const DecoderLawOptions& options);

/// TV between two laws of texts.
double total_variation(const std::map<std::vector<Token>, double>& a,
                       const std::map<std::vector<Token>, double>& b);

}  // namespace spectr

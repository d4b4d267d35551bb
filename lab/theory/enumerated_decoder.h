#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "lab/theory/markov_pair.h"
#include "spectr/base/result.h"
#include "spectr/decode/methods.h"

namespace spectr::lab {

/// What a decoder itself does on a pair, by enumeration of all that can happen, from a uniformly drawn start.
struct EnumeratedDecoder {
  double calls = 0.0;                             ///< of the target
  double corrections = 0.0;                       ///< blocks that end in one
  double tv = 0.0;                                ///< of the whole text's law from the target's
  std::map<std::vector<Token>, double> law = {};  ///< of start and text
};

/// Drafts reach up to the horizon, whatever options.length says. Error: no such method, or too many outcomes.
Result<EnumeratedDecoder> enumerate(const MarkovPair& pair, std::string_view method, MethodOptions options);

}  // namespace spectr::lab

#pragma once

#include <gtest/gtest.h>

#include "lab/theory/markov_pair.h"
#include "spectr/decode/decoder_law.h"
#include "spectr/decode/methods.h"

namespace spectr::lab {

/// What a decoder does on a pair, by enumeration, from a uniformly drawn start.
struct EnumeratedDecoder {
  double calls = 0.0, rejections = 0.0;
  double tv = 0.0;                           // of the whole text's law from the target's
  std::map<std::vector<Token>, double> law;  // of start and text
};

inline EnumeratedDecoder enumerate(const MarkovPair& pair, std::string_view method, MethodOptions options) {
  options.length = pair.horizon();
  EnumeratedDecoder out;
  const auto rule = find_method(method);
  auto decoder = make_decoder(*rule.value(), options);
  Models models = pair.start(decoder->most_nodes(pair.horizon()));
  const DecoderLawOptions how{.horizon = pair.horizon(), .ends = {}};
  const double share = 1.0 / static_cast<double>(pair.states());
  for (std::size_t s = 0; s < pair.states(); ++s) {
    const Token start[] = {static_cast<Token>(s)};
    const auto law = enumerate_decoder(*decoder, models, start, how);
    const auto target = enumerate_target(models, start, how);
    EXPECT_TRUE(law.has_value()) << law.error().message;
    if (!law || !target) return out;
    out.calls += share * law->expected_target_calls;
    out.rejections += share * law->expected_rejections;
    out.tv += share * total_variation(law->law, *target);
    for (const auto& [text, mass] : law->law) {
      std::vector<Token> whole = {start[0]};
      whole.insert(whole.end(), text.begin(), text.end());
      out.law[whole] += share * mass;
    }
  }
  return out;
}

}  // namespace spectr::lab

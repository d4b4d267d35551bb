// Counterexamples to three claims about verification: their numbers, by enumeration and as fractions.
#include "lab/theory/verification_counterexamples.h"

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <vector>

#include "lab/theory/verification_bound.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/methods.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr::lab {
namespace {

using test::value_of;

struct Found {
  double tokens, tv;
  std::map<std::vector<Token>, double> texts;
};

Found enumerated(Decoder decoder, const PrefixPair& pair, std::size_t length) {
  const LanguageModel* const draft = &pair.p;
  OwnedModels models =
      value_of(OwnedModels::start(pair.q, std::span(&draft, 1), value_of(Warp::make(WarpOptions::none())), 0,
                                  decoder.max_nodes(length + 1)));
  const Token start[] = {0};
  const EnumerationOptions block{.horizon = length + 1, .markov = false},
      whole{.horizon = length, .markov = false};
  const double tokens = value_of(expected_block_tokens(decoder, models, start, block));
  auto found = value_of(enumerate_decoder(decoder, models, start, whole));
  const double tv = total_variation(found.distribution, value_of(enumerate_target(models, start, whole)));
  return {tokens, tv, std::move(found.distribution)};
}

Found enumerated(std::string_view method, const PrefixPair& pair, std::size_t K, std::size_t L) {
  return enumerated(test::decoder_of(method, test::options_of(K, L)), pair, L);
}

TEST(Hsd, AsItsProgramHasItIsBiased) {
  const Found program = enumerated(hsd_program(2), hsd_pair(), 2);
  EXPECT_NEAR(program.texts.at({0, 0}), 0.32, 1e-12);
  EXPECT_NEAR(program.texts.at({0, 1}), 0.48, 1e-12);
  EXPECT_NEAR(program.tv, 0.08, 1e-12);
  EXPECT_NEAR(program.tokens, 2.2, 1e-12);
}

TEST(Hsd, HasMoreTokensThanTheOptimumOfOneSequence) {
  const PrefixPair pair = hsd_pair();
  EXPECT_NEAR(value_of(verification_bound(pair.p, pair.q, 1, 2)), 2.12, 1e-9);
  const Found block = enumerated("block", pair, 1, 2);
  EXPECT_NEAR(block.tokens, 2.12, 1e-12);
  EXPECT_LE(block.tv, 1e-12);
}

TEST(Hsd, IsExactWithOneDraft) {
  EXPECT_LE(enumerated(hsd_program(1), hsd_pair(), 1).tv, 1e-12);
}

TEST(Gbv, AcceptsLessWithMoreSequences) {
  const PrefixTableModel coin(2, {{{}, {0.5, 0.5}}});
  const double tokens[] = {2.0, 1.75, 1.625, 1.5625};
  for (std::size_t K = 1; K <= 4; ++K) {
    const Found found = enumerated("gbv", {coin, coin}, K, 1);
    EXPECT_NEAR(found.tokens, tokens[K - 1], 1e-12);
    EXPECT_LE(found.tv, 1e-12);
  }
}

TEST(HedgeSpec, HasABiasedEstimate) {
  const ExactPair pair = hedge_pair();
  const LengthEstimates found = length_estimates(pair.p, pair.q, 2);
  EXPECT_EQ(found.expected, Fraction(9, 4));
  EXPECT_EQ(found.overlaps, Fraction(37, 16));
  EXPECT_EQ(found.last_overlap_only, found.expected);
  EXPECT_NEAR(enumerated("speculative", models_of(pair), 1, 2).tokens, 2.25, 1e-12);
}

TEST(HedgeSpec, HasAnUnbiasedEstimateOfOneDraft) {
  const ExactPair pair = hedge_pair();
  const LengthEstimates found = length_estimates(pair.p, pair.q, 1);
  EXPECT_EQ(found.expected, Fraction(7, 4));
  EXPECT_EQ(found.overlaps, found.expected);
}

TEST(Fraction, IsInLowestTerms) {
  EXPECT_EQ((Fraction(1, 2) + Fraction(1, 6)).text(), "2/3");
  EXPECT_EQ((Fraction(2, 3) * Fraction(3, 2)).text(), "1");
  EXPECT_LT(Fraction(1, 3), Fraction(1, 2));
}

}  // namespace
}  // namespace spectr::lab

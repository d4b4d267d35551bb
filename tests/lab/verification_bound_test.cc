// The linear program that bounds lossless verification, and methods that attain the bound.
#include "lab/theory/verification_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/methods.h"
#include "spectr/lm/tabular_model.h"
#include "tests/support/value_of.h"

namespace spectr::lab {
namespace {

using test::value_of;
using Rows = PrefixTableModel::Rows;

double tokens_of(const char* method, const PrefixTableModel& p, const PrefixTableModel& q, std::size_t drafts,
                 std::size_t length) {
  MethodOptions options;
  options.drafts = drafts;
  options.length = length;
  Decoder decoder = value_of(make_decoder(*value_of(find_method(method)), options));
  const LanguageModel* const draft = &p;
  OwnedModels models = value_of(OwnedModels::start(
      q, std::span(&draft, 1), value_of(Warp::make(WarpOptions::none())), 0, decoder.max_nodes(length + 1)));
  const Token start[] = {0};
  return value_of(expected_block_tokens(decoder, models, start, {.horizon = length + 1, .markov = false}));
}

TEST(VerificationBound, HasTheGoldenValuesForTwoSequences) {
  const auto bound = [](const Rows& p, const Rows& q, std::size_t length) {
    const std::size_t vocabulary = p.begin()->second.size();
    return value_of(verification_bound({vocabulary, p}, {vocabulary, q}, 2, length));
  };
  EXPECT_NEAR(bound({{{}, {.75, .25}}}, {{{}, {.25, .75}}}, 2), 2.16796875, 1e-9);
  EXPECT_NEAR(bound({{{}, {1.0 / 2, 1.0 / 3, 1.0 / 6}}}, {{{}, {1.0 / 6, 1.0 / 3, 1.0 / 2}}}, 2), 2.435956790,
              1e-9);
  EXPECT_NEAR(bound({{{}, {.6, .3, .1}}}, {{{}, {.2, .35, .45}}}, 2), 2.302, 1e-9);
  EXPECT_NEAR(bound({{{}, {.7, .3}}}, {{{}, {.6, .4}}}, 3), 3.989271, 1e-9);
  EXPECT_NEAR(bound({{{}, {.5, .3, .2}}}, {{{}, {.5, .3, .2}}}, 2), 3.0, 1e-9);
  EXPECT_NEAR(bound({{{}, {.6, .4}}, {{0}, {.9, .1}}, {{1}, {.2, .8}}},
                    {{{}, {.5, .5}}, {{0}, {.5, .5}}, {{1}, {.6, .4}}}, 3),
              3.2633832, 1e-9);
  EXPECT_NEAR(bound({{{}, {.4, .3, .2, .1}}}, {{{}, {.1, .2, .3, .4}}}, 2), 2.37, 1e-9);
}

TEST(VerificationBound, IsAttainedByBlockVerificationAndByTheOptimalPlan) {
  std::mt19937 generator(7);
  const auto rows = [&] {
    Rows rows;
    for (const std::vector<Token>& prefix : {std::vector<Token>{}, {0}, {1}, {2}}) {
      std::vector<double> row(3);
      double total = 0.0;
      for (double& x : row) total += x = uniform53(generator);
      for (double& x : row) x /= total;
      rows[prefix] = row;
    }
    return rows;
  };
  for (int i = 0; i < 10; ++i) {
    const PrefixTableModel p(3, rows()), q(3, rows());
    EXPECT_NEAR(value_of(verification_bound(p, q, 1, 2)), tokens_of("block", p, q, 1, 2), 1e-9);
    EXPECT_NEAR(value_of(verification_bound(p, q, 2, 1)), tokens_of("conditional", p, q, 2, 1), 1e-9);
    EXPECT_NEAR(value_of(verification_bound(p, q, 3, 1)), tokens_of("conditional", p, q, 3, 1), 1e-9);
    EXPECT_GE(value_of(verification_bound(p, q, 2, 2)), tokens_of("conditional", p, q, 2, 2) - 1e-9);
  }
}

TEST(VerificationBound, RefusesTreesThatAreTooLarge) {
  const PrefixTableModel p(4, {{{}, {.25, .25, .25, .25}}});
  EXPECT_FALSE(verification_bound(p, p, 2, 3));
  const PrefixTableModel two(2, {{{}, {.5, .5}}});
  EXPECT_FALSE(verification_bound(two, two, 2, 5));
}

}  // namespace
}  // namespace spectr::lab

// The exact distribution of a method on a pair of tables.
#include "spectr/decode/pair_distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;

std::vector<double> rows_of(const TabularModel& model, std::size_t steps) {
  std::vector<double> rows;
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t last = 0; last < model.vocabulary(); ++last) {
      for (const double log : model.log_row(step, static_cast<Token>(last))) rows.push_back(std::exp(log));
    }
  }
  return rows;
}

TEST(PairDistribution, IsThatOfTheDecoder) {
  const TabularPair pair = TabularPair::random(3, 3, 4);
  const TableModel draft = value_of(table_of_steps("draft", 3, rows_of(pair.drafts.front(), 3)));
  const TableModel target = value_of(table_of_steps("target", 3, rows_of(pair.target, 3)));
  for (const char* method : {"spectr", "block", "mtad"}) {
    const MethodOptions options = options_of(std::string_view(method) == "spectr" ? 2 : 1, 2);
    const MethodDistribution expected =
        method_distribution(pair, method, options, {.horizon = 3, .start = 1});
    const PairDistribution found = value_of(pair_distribution(method, options, draft, target, 3, 1));
    EXPECT_NEAR(found.tv_error, expected.tv, 1e-12) << method;
    EXPECT_NEAR(found.exact.expected_target_calls, expected.exact.expected_target_calls, 1e-12) << method;
    EXPECT_LE(total_variation(found.exact.distribution, expected.exact.distribution), 1e-12) << method;
  }
}

TEST(PairDistribution, TakesRowsByPrefix) {
  const PrefixTableModel::Rows p = {{{}, {0.5, 0.5}}, {{1}, {0.25, 0.75}}};
  const PrefixTableModel::Rows q = {{{}, {0.25, 0.75}}, {{0, 1}, {1.0, 0.0}}};
  const PairDistribution found =
      value_of(pair_distribution("block", options_of(1, 2), value_of(table_of_prefixes("draft", 2, p)),
                                 value_of(table_of_prefixes("target", 2, q)), 3));
  EXPECT_LE(found.tv_error, 1e-12);
  EXPECT_NEAR(found.exact.distribution.at({0, 1, 0}), 0.25 * 0.75, 1e-12);
  EXPECT_FALSE(found.exact.distribution.contains({0, 1, 1}));
  EXPECT_GT(found.expected_tokens_per_block.value(), 1.0);
}

TEST(PairDistribution, RefusesTablesThatAreNone) {
  const std::vector<double> rows = {0.5, 0.5, 0.4, 0.5};
  EXPECT_THAT(table_of_steps("draft", 2, rows).error().message, HasSubstr("draft[0][1] sums to 0.9"));
  EXPECT_THAT(table_of_steps("draft", 3, rows).error().message, HasSubstr("[steps, V, V]"));
  const std::vector<double> negative = {1.5, -0.5, 0.5, 0.5};
  EXPECT_THAT(table_of_steps("draft", 2, negative).error().message, HasSubstr("draft[0][0][1] is -0.5"));
  EXPECT_THAT(table_of_prefixes("target", 2, {{{1}, {0.5, 0.5}}}).error().message, HasSubstr("empty prefix"));
  EXPECT_THAT(table_of_prefixes("target", 2, {{{}, {0.5}}}).error().message, HasSubstr("2 numbers, got 1"));
}

TEST(PairDistribution, RefusesWhatCannotBeEnumerated) {
  const TableModel table = value_of(table_of_prefixes("draft", 2, {{{}, {0.5, 0.5}}}));
  const auto refusal = [&](std::string_view method, std::size_t horizon, Token start) {
    return pair_distribution(method, options_of(1, 2), table, table, horizon, start).error().message;
  };
  EXPECT_THAT(refusal("block", 30, 0), HasSubstr("horizon: 30 tokens"));
  EXPECT_THAT(refusal("block", 0, 0), HasSubstr("horizon must be at least 1"));
  EXPECT_THAT(refusal("block", 2, 2), HasSubstr("start must be a token below 2"));
  EXPECT_THAT(refusal("nonsense", 2, 0), HasSubstr("there is no method 'nonsense'"));
  const TableModel certain = value_of(table_of_steps("draft", 1, std::vector<double>{1.0}));
  const auto endless =
      pair_distribution("block", options_of(1, 2), certain, certain, std::size_t{1} << 60, 0);
  EXPECT_THAT(endless.error().message, HasSubstr("horizon must be at most 1000"));
}

}  // namespace
}  // namespace spectr

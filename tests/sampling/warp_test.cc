#include "spectr/sampling/warp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace spectr {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

WarpOptions off() {
  return WarpOptions::none();
}

using Row = std::vector<double>;
using FloatRow = std::vector<float>;

template <class Numbers>
Distribution distribution_of(const WarpOptions& options, const Numbers& row,
                             const std::vector<Token>& history = {}, std::size_t vocabulary = 0) {
  const auto warp = Warp::make(options);
  if (!warp) throw std::runtime_error(warp.error().message);
  auto result = warp->distribution(std::span(row), history, std::max(vocabulary, row.size()));
  if (!result) throw std::runtime_error(result.error().message);
  return *result;
}

Distribution distribution(const WarpOptions& options, const Row& row, const std::vector<Token>& history = {},
                          std::size_t vocabulary = 0) {
  return distribution_of(options, row, history, vocabulary);
}

std::vector<Token> support(const Distribution& d) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d.probabilities()[i] > 0.0) tokens.push_back(d.token(i));
  }
  return tokens;
}

/// Expects two distributions to be equal, bit for bit.
void expect_equal(const Distribution& a, const Distribution& b) {
  EXPECT_THAT(a.tokens(), ElementsAreArray(b.tokens()));
  EXPECT_THAT(a.probabilities(), ElementsAreArray(b.probabilities()));
}

/// Returns logits whose softmax is proportional to these weights.
Row logits_of(std::vector<double> weights) {
  for (double& w : weights) w = std::log(w);
  return weights;
}

/// Computes the same filters naively: one list, sorted once and cut by each filter.
std::map<Token, long double> reference(const WarpOptions& o, const Row& row,
                                       const std::vector<Token>& history) {
  std::vector<std::pair<long double, Token>> list;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto token = static_cast<Token>(i);
    long double logit = row[i];
    for (const auto& [biased, bias] : o.logit_bias) logit += biased == token ? bias : 0.0;
    const auto recent = std::span(history).last(std::min(history.size(), o.repeat_last_n));
    if (const auto n = std::ranges::count(recent, token); n > 0) {
      logit = logit > 0.0L ? logit / o.repeat_penalty : logit * o.repeat_penalty;
      logit -= static_cast<long double>(n) * o.frequency_penalty + o.presence_penalty;
    }
    if (logit != -infinity) list.emplace_back(logit, token);
  }
  std::ranges::sort(list, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (o.temperature == 0.0) return {{list.front().second, 1.0L}};
  const auto weight = [&](const auto& entry) { return std::exp(entry.first - list.front().first); };
  const auto total = [&] {
    long double sum = 0.0L;
    for (const auto& entry : list) sum += weight(entry);
    return sum;
  };

  if (o.top_k > 0 && list.size() > o.top_k) list.resize(o.top_k);
  long double mass = 0.0L;
  const long double whole = total();
  for (std::size_t n = 0; n < list.size() && o.top_p < 1.0; ++n) {
    mass += weight(list[n]);
    if (mass / whole >= o.top_p) list.resize(n + 1);
  }
  while (o.min_p > 0.0 && weight(list.back()) < o.min_p) list.pop_back();

  std::map<Token, long double> out;
  long double sum = 0.0L;
  for (const auto& [logit, token] : list) {
    sum += out[token] = std::exp((logit - list.front().first) / o.temperature);
  }
  for (auto& [token, p] : out) p /= sum;
  return out;
}

TEST(Warp, AgreesWithAPlainReferenceOnRandomRows) {
  std::mt19937_64 random(29);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  for (int round = 0; round < 3000; ++round) {
    const std::size_t size = 1 + random() % (round % 10 == 0 ? 700 : 40);
    const bool ties = round % 3 == 0;
    Row row(size);
    for (double& logit : row) {
      logit = 16.0 * (uniform() - 0.5);
      if (ties) logit = std::round(logit);
      if (uniform() < 0.05) logit = -infinity;
    }
    row[random() % size] = 1.0;
    const auto maybe = [&](double value, double fallback) { return uniform() < 0.5 ? value : fallback; };
    WarpOptions o = off();
    o.temperature = uniform() < 0.1 ? 0.0 : maybe(0.05 + 3.0 * uniform(), 1.0);
    o.top_k = uniform() < 0.5 ? 0 : random() % 50;
    o.top_p = maybe(uniform(), 1.0);
    o.min_p = maybe(0.3 * uniform(), 0.0);
    o.repeat_penalty = maybe(0.5 + uniform(), 1.0);
    o.presence_penalty = maybe(uniform() - 0.5, 0.0);
    o.frequency_penalty = maybe(uniform() - 0.5, 0.0);
    o.repeat_last_n = random() % 30;
    if (uniform() < 0.3)
      o.logit_bias.emplace_back(static_cast<Token>(random() % (size + 3)), 3.0 * uniform());
    std::vector<Token> history(random() % 40);
    for (Token& token : history) token = static_cast<Token>(random() % size);

    const Distribution found = distribution(o, row, history);
    ASSERT_EQ(found.is_dense(), !Warp::make(o).value().filters(size)) << "round " << round;
    const auto expected = reference(o, row, history);
    ASSERT_EQ(support(found).size(), expected.size()) << "round " << round;
    for (const auto& [token, p] : expected) {
      ASSERT_NEAR(found[token], static_cast<double>(p), 1e-12) << "round " << round << ", token " << token;
    }

    const FloatRow floats(row.begin(), row.end());
    expect_equal(distribution_of(o, floats, history),
                 distribution(o, Row(floats.begin(), floats.end()), history));
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST(Warp, DefaultsAreThoseOfLlamaCpp) {
  const WarpOptions o;
  EXPECT_EQ(o.temperature, 0.8);
  EXPECT_EQ(o.top_k, 40u);
  EXPECT_EQ(o.top_p, 0.95);
  EXPECT_EQ(o.min_p, 0.05);
  EXPECT_EQ(o.repeat_penalty, 1.0);
  EXPECT_EQ(o.repeat_last_n, 64u);
}

TEST(Warp, NoFilterIsTheSoftmax) {
  const Distribution d = distribution(off(), logits_of({0.2, 0.5, 0.3}));
  EXPECT_TRUE(d.is_dense());
  EXPECT_NEAR(d[0], 0.2, 1e-15);
  EXPECT_NEAR(d[1], 0.5, 1e-15);
}

TEST(Warp, TemperatureComesAfterTheFilters) {
  // top-p at temperature 1 keeps two; at temperature 10 it would keep all three.
  WarpOptions o = off();
  o.temperature = 10.0;
  o.top_p = 0.85;
  EXPECT_THAT(support(distribution(o, logits_of({0.5, 0.4, 0.1}))), ElementsAre(0, 1));
  o.top_p = 1.0;
  o.min_p = 0.3;
  EXPECT_THAT(support(distribution(o, logits_of({0.5, 0.4, 0.1}))), ElementsAre(0, 1));
}

TEST(Warp, TopPIsRenormalisedAfterTopK) {
  // After top-k 2 the distribution is (0.625, 0.375): top-p 0.6 keeps one. Without top-k it would keep two.
  WarpOptions o = off();
  o.top_p = 0.6;
  EXPECT_THAT(support(distribution(o, logits_of({0.5, 0.3, 0.1, 0.1}))), ElementsAre(0, 1));
  o.top_k = 2;
  EXPECT_THAT(support(distribution(o, logits_of({0.5, 0.3, 0.1, 0.1}))), ElementsAre(0));
}

TEST(Warp, TopPIsTheSmallestPrefixThatReachesIt) {
  const Row row = {0.0, 0.0, 0.0, 0.0};  // exactly ¼ each
  WarpOptions o = off();
  for (const auto& [p, kept] :
       {std::pair{0.0, 1u}, {0.25, 1u}, {0.250001, 2u}, {0.5, 2u}, {0.75, 3u}, {0.76, 4u}}) {
    o.top_p = p;
    EXPECT_EQ(support(distribution(o, row)).size(), kept) << p;
  }
}

TEST(Warp, MinPIsRelativeToTheLikeliestAndLooksAfterTopP) {
  WarpOptions o = off();
  o.min_p = 0.5;
  EXPECT_THAT(support(distribution(o, logits_of({0.5, 0.26, 0.24}))), ElementsAre(0, 1));
  o.min_p = 1.0;
  EXPECT_THAT(support(distribution(o, {2.0, 2.0, 1.9})), ElementsAre(0, 1));
  // top-p's mass includes tokens below the min-p threshold: 0.4 + 0.2 reach 0.6 before the small ones count.
  o.min_p = 0.6;
  o.top_p = 0.6;
  EXPECT_THAT(support(distribution(o, logits_of({0.4, 0.2, 0.2, 0.2}))), ElementsAre(0));
  o.top_p = 0.35;
  EXPECT_THAT(support(distribution(o, logits_of({0.4, 0.3, 0.3}))), ElementsAre(0));
}

TEST(Warp, TiesGoToTheLowerId) {
  const Row row = {1.0, 3.0, 2.0, 3.0, 2.0, 2.0};
  WarpOptions o = off();
  o.top_k = 3;
  EXPECT_THAT(support(distribution(o, row)), ElementsAre(1, 2, 3));
  o.top_k = 1;
  EXPECT_THAT(support(distribution(o, row)), ElementsAre(1));
  o = off();
  o.temperature = 0.0;
  EXPECT_THAT(support(distribution(o, row)), ElementsAre(1));
  o = off();
  o.top_p = 0.75;
  EXPECT_THAT(support(distribution(o, {5.0, 5.0, 5.0, 5.0, 5.0})), ElementsAre(0, 1, 2, 3));
}

TEST(Warp, TemperatureZeroIsThePointOnTheArgmax) {
  WarpOptions o = off();
  o.temperature = 0.0;
  const Distribution d = distribution(o, {-3.0, 0.5, -infinity, 0.4}, {}, 9);
  EXPECT_EQ(d[1], 1.0);
  EXPECT_THAT(support(d), ElementsAre(1));
  EXPECT_EQ(d.vocabulary(), 9u);
  o.logit_bias = {{1, -infinity}};
  EXPECT_EQ(distribution(o, {-3.0, 0.5, -infinity, 0.4})[3], 1.0);  // bias and penalties are applied first
  o.logit_bias = {};
  o.presence_penalty = 1.0;
  EXPECT_EQ(distribution(o, {-3.0, 0.5, -infinity, 0.4}, {1})[3], 1.0);
  o.presence_penalty = 0.0;
  FloatRow row(100, 0.1f);
  row[41] = row[77] = 0.7f;
  EXPECT_THAT(support(distribution_of(o, row)), ElementsAre(41));
}

TEST(Warp, ExtremeTemperaturesStayFinite) {
  WarpOptions o = off();
  o.temperature = 1e-300;
  EXPECT_EQ(distribution(o, {1.0, 2.0, -50.0})[1], 1.0);
  o.temperature = 1e300;
  EXPECT_NEAR(distribution(o, {1.0, 2.0, -50.0})[2], 1.0 / 3.0, 1e-12);
  EXPECT_NEAR(distribution(off(), {-1e30, -1e30})[1], 0.5, 1e-15);  // far from 0, as after a large penalty
}

TEST(Warp, PenaltiesFollowLlamaCpp) {
  // Token 0 occurred twice, token 1 once, token 3 too long ago; positive logits are divided, others scaled.
  WarpOptions o = off();
  o.repeat_penalty = 2.0;
  o.frequency_penalty = 0.25;
  o.presence_penalty = 0.5;
  o.repeat_last_n = 3;
  const Distribution found = distribution(o, {4.0, -1.0, 2.0, 0.0}, {3, 0, 1, 0});
  const Distribution expected =
      distribution(off(), {4.0 / 2 - 2 * 0.25 - 0.5, -1.0 * 2 - 0.25 - 0.5, 2.0, 0.0});
  for (Token t = 0; t < 4; ++t) EXPECT_NEAR(found[t], expected[t], 1e-15);
  o.repeat_last_n = 0;
  EXPECT_NEAR(distribution(o, {4.0, -1.0, 2.0, 0.0}, {3, 0, 1, 0})[0],
              distribution(off(), {4.0, -1.0, 2.0, 0.0})[0], 1e-15);
}

TEST(Warp, KnowsWhetherItReadsTheHistory) {
  const auto reads = [](WarpOptions o) { return Warp::make(std::move(o)).value().reads_history(); };
  WarpOptions o = off();
  EXPECT_FALSE(reads(o));
  o.repeat_penalty = 1.1;
  EXPECT_TRUE(reads(o));
  o = off();
  o.presence_penalty = -0.5;
  EXPECT_TRUE(reads(o));
  o = off();
  o.frequency_penalty = 0.1;
  EXPECT_TRUE(reads(o));
}

TEST(Warp, BiasAddsToALogitAndMinusInfinityForbids) {
  WarpOptions o = off();
  o.logit_bias = {{0, std::log(2.0)}, {2, -infinity}, {77, 5.0}};  // 77 is out of range and ignored
  const Distribution d = distribution(o, logits_of({0.25, 0.5, 0.25}));
  EXPECT_NEAR(d[0], 0.5, 1e-15);
  EXPECT_EQ(d[2], 0.0);
}

TEST(Warp, TopKLargerThanTheVocabularyIsNoFilter) {
  WarpOptions o = off();
  o.top_k = 1000;
  const Distribution all = distribution(o, logits_of({0.2, 0.5, 0.3}));
  EXPECT_NEAR(all[0], 0.2, 1e-15);
  EXPECT_EQ(support(all).size(), 3u);
  o.top_p = 0.95;
  EXPECT_EQ(support(distribution(o, logits_of({0.2, 0.5, 0.3}))).size(), 3u);
}

TEST(Warp, MinusInfinityIsProbabilityZero) {
  for (double top_p : {1.0, 0.999}) {
    WarpOptions o = off();
    o.top_p = top_p;
    o.top_k = 3;
    EXPECT_THAT(support(distribution(o, {-infinity, 0.0, -infinity, 0.0})), ElementsAre(1, 3));
  }
}

TEST(Warp, FloatRowsGiveTheDistributionOfTheSameNumbersInDouble) {
  const FloatRow row = {0.1f, -3.7f, 2.25f, 0.1f, 1e-30f};
  expect_equal(distribution_of(WarpOptions{}, row), distribution(WarpOptions{}, Row(row.begin(), row.end())));
}

TEST(Warp, PaddingOfTheVocabularyHasProbabilityZero) {
  for (double min_p : {0.0, 0.05}) {
    WarpOptions o = off();
    o.min_p = min_p;
    const Distribution d = distribution(o, logits_of({0.4, 0.6}), {4}, 5);
    EXPECT_EQ(d.vocabulary(), 5u);
    EXPECT_EQ(d[4], 0.0);
    EXPECT_NEAR(d[1], 0.6, 1e-15);
  }
}

/// Expects the error for the row in both precisions.
void expect_distribution_error(const Row& row, double temperature, const char* message) {
  WarpOptions o = off();
  o.temperature = temperature;
  const Warp warp = Warp::make(o).value();
  const FloatRow floats(row.begin(), row.end());
  for (const Logits& logits : {Logits(std::span(row)), Logits(std::span(floats))}) {
    const auto result = warp.distribution(logits, {}, row.size());
    ASSERT_FALSE(result.has_value());
    EXPECT_THAT(result.error().message, HasSubstr(message));
  }
}

TEST(Warp, LogitsWithoutADistributionAreErrors) {
  for (double temperature : {0.0, 1.0}) {
    expect_distribution_error({0.0, nan, 1.0}, temperature, "token 1 is nan");
    expect_distribution_error({0.0, 1.0, infinity}, temperature, "token 2 is inf");
    expect_distribution_error({-infinity, -infinity}, temperature, "every logit");
    Row row(100, 0.0);
    row[57] = nan;
    expect_distribution_error(row, temperature, "token 57 is nan");
  }
  WarpOptions o = off();
  o.logit_bias = {{0, -infinity}, {1, -infinity}};
  const Row row = {1.0, 2.0};
  EXPECT_FALSE(Warp::make(o).value().distribution(std::span<const double>(row), {}, 2));
}

std::string option_error(WarpOptions o) {
  const auto warp = Warp::make(std::move(o));
  return warp ? "no error" : warp.error().message;
}

TEST(Warp, OptionsOutOfRangeAreNamed) {
  const auto with = [](auto member, double value) {
    WarpOptions o = off();
    o.*member = value;
    return option_error(o);
  };
  for (double bad : {-0.1, nan, infinity}) {
    EXPECT_THAT(with(&WarpOptions::temperature, bad), HasSubstr("temperature"));
  }
  for (double bad : {-0.1, 1.1, nan}) {
    EXPECT_THAT(with(&WarpOptions::top_p, bad), HasSubstr("top-p"));
    EXPECT_THAT(with(&WarpOptions::min_p, bad), HasSubstr("min-p"));
  }
  for (double bad : {0.0, -1.0, nan, infinity}) {
    EXPECT_THAT(with(&WarpOptions::repeat_penalty, bad), HasSubstr("repeat penalty"));
  }
  EXPECT_THAT(with(&WarpOptions::presence_penalty, nan), HasSubstr("presence penalty"));
  EXPECT_THAT(with(&WarpOptions::frequency_penalty, infinity), HasSubstr("frequency penalty"));
  WarpOptions o = off();
  o.logit_bias = {{-1, 1.0}};
  EXPECT_THAT(option_error(o), HasSubstr("-1"));
  o.logit_bias = {{3, infinity}};
  EXPECT_THAT(option_error(o), HasSubstr("token 3"));
  EXPECT_EQ(option_error(off()), "no error");
}

}  // namespace
}  // namespace spectr

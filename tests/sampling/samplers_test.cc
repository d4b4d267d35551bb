// Single samplers with llama.cpp's values, and samplers in any order compared with a plain reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "spectr/sampling/warp.h"
#include "tests/support/remote_logits.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using test::value_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double lowest_logit = -std::numeric_limits<double>::infinity();

std::vector<double> logs_of(std::vector<double> probabilities) {
  for (double& p : probabilities) p = std::log(p);
  return probabilities;
}

/// Returns the probabilities of the tokens 0, 1, …
std::vector<double> sampled(const WarpOptions& options, const std::vector<double>& logits,
                            const std::vector<Token>& history = {}) {
  const Warp warp = value_of(Warp::make(options));
  const Distribution found = value_of(warp.distribution(std::span(logits), history, logits.size()));
  std::vector<double> all;
  for (std::size_t token = 0; token < logits.size(); ++token) all.push_back(found[static_cast<Token>(token)]);
  return all;
}

/// The tolerance allows for the five digits of the values in llama.cpp's own tests.
void expect_probabilities(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

const std::vector<double> rising = {0.1, 0.2, 0.3, 0.4}, falling = {0.4, 0.3, 0.2, 0.1};

TEST(Samplers, TopNSigmaHasTheValuesOfLlamaCpp) {
  WarpOptions o = WarpOptions::none();
  for (const auto& [n, expected] :
       {std::pair<double, std::vector<double>>{1, {0, 0, 0.428571, 0.571429}}, {0, rising}, {3, rising}}) {
    o.top_n_sigma = n;
    expect_probabilities(sampled(o, logs_of(rising)), expected);
  }
}

TEST(Samplers, TypicalHasTheValuesOfLlamaCpp) {
  WarpOptions o = WarpOptions::none();
  o.typical_p = 0.5;
  expect_probabilities(sampled(o, logs_of({0.97, 0.01, 0.01, 0.01})), {1, 0, 0, 0});
  expect_probabilities(sampled(o, logs_of({0.4, 0.2, 0.2, 0.2})), {0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
}

// llama.cpp's tests see only the outcome of the coin that has probability 0.99.
TEST(Samplers, XtcIsTheMixtureOverItsCoin) {
  WarpOptions o = WarpOptions::none();
  o.xtc_probability = 0.99;
  const std::pair<double, std::vector<double>> cuts[] = {{0.09, {0, 0, 0, 1}},
                                                         {0.19, {0, 0, 2.0 / 3, 1.0 / 3}},
                                                         {0.29, {0, 0.5, 1.0 / 3, 1.0 / 6}},
                                                         {0.39, falling}};
  for (const auto& [threshold, cut] : cuts) {
    o.xtc_threshold = threshold;
    std::vector<double> mixture;
    for (std::size_t i = 0; i < cut.size(); ++i) mixture.push_back(0.01 * falling[i] + 0.99 * cut[i]);
    expect_probabilities(sampled(o, logs_of(falling)), mixture);
  }
  o.xtc_threshold = 0.51;
  EXPECT_TRUE(value_of(Warp::make(o)).distribution(std::span(falling), {}, 4)->is_dense()) << "off";
  o.xtc_threshold = 0.09;
  o.xtc_probability = 1.0;
  expect_probabilities(sampled(o, logs_of(falling)), {0, 0, 0, 1});
}

TEST(Samplers, XtcGoesThroughTheRestOfTheChainOnBothSides) {
  WarpOptions o = WarpOptions::none();
  o.xtc_probability = 0.5;
  o.xtc_threshold = 0.25;
  o.temperature = 0.0;
  expect_probabilities(sampled(o, logs_of(falling)), {0.5, 0.5, 0, 0});
  o.temperature = 1.0;
  o.top_p = 0.45;
  o.samplers = {Sampler::xtc, Sampler::top_p};
  expect_probabilities(sampled(o, logs_of(falling)), {0.5 * 4 / 7, 0.5 * 3 / 7 + 0.5, 0, 0});
}

TEST(Samplers, DynamicTemperatureFollowsTheEntropy) {
  WarpOptions o = WarpOptions::none();
  o.dynatemp_range = 0.5;
  const std::vector<double> logits = logs_of(rising);
  double entropy = 0.0;
  for (const double p : rising) entropy -= p * std::log(p);
  o.dynatemp_exponent = 2.0;
  WarpOptions fixed = WarpOptions::none();
  fixed.temperature = 0.5 + std::pow(entropy / std::log(4.0), 2.0);
  expect_probabilities(sampled(o, logits), sampled(fixed, logits));
  // Forbidden tokens count in the maximum entropy.
  std::vector<double> longer = logits;
  longer.push_back(lowest_logit);
  fixed.temperature = 0.5 + std::pow(entropy / std::log(5.0), 2.0);
  expect_probabilities(sampled(o, longer), sampled(fixed, longer));
  expect_probabilities(sampled(o, {1.0, 1.0}), {0.5, 0.5});
  o.dynatemp_range = 0.0;
  expect_probabilities(sampled(o, logits), rising);
  o.temperature = 0.0;
  o.dynatemp_range = 2.0;
  o.dynatemp_exponent = 0.0;
  fixed.temperature = 2.0;
  expect_probabilities(sampled(o, logits), sampled(fixed, logits));
}

using Entry = std::pair<long double, Token>;
using Mixed = std::map<Token, long double>;

/// A naive chain: a list that is sorted before every sampler, and both outcomes of every coin.
class PlainChain {
 public:
  PlainChain(const WarpOptions& options, const std::vector<Token>& history)
      : o_(options), history_(history) {}

  Mixed run(std::vector<Entry> list, std::size_t masked, std::span<const Sampler> rest) const {
    const auto larger = [](const Entry& a, const Entry& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    std::ranges::sort(list, larger);
    long double total = 0.0L;
    std::vector<long double> p;
    for (const auto& [logit, token] : list) total += p.emplace_back(std::exp(logit - list.front().first));
    for (long double& one : p) one /= total;
    long double entropy = 0.0L;
    for (const long double one : p) entropy -= one > 0.0L ? one * std::log(one) : 0.0L;
    if (rest.empty()) {
      Mixed out;
      for (std::size_t i = 0; i < list.size(); ++i) out[list[i].second] = p[i];
      return out;
    }
    const std::size_t count = list.size() + masked;
    const auto next = rest.subspan(1);
    switch (rest.front()) {
      case Sampler::penalties:
        for (auto& [logit, token] : list) {
          const auto recent = std::span(history_).last(std::min(history_.size(), o_.repeat_last_n));
          if (const auto n = std::ranges::count(recent, token); n > 0) {
            logit = logit > 0.0L ? logit / o_.repeat_penalty : logit * o_.repeat_penalty;
            logit -= static_cast<long double>(n) * o_.frequency_penalty + o_.presence_penalty;
          }
        }
        break;
      case Sampler::dry: {
        for (const auto& [token, penalty] : dry_penalties(o_.dry, history_)) {
          const auto at = std::ranges::find(list, token, &Entry::second);
          if (at != list.end()) at->first -= penalty;
        }
        break;
      }
      case Sampler::top_n_sigma: {
        if (count < 2) break;
        long double mean = 0.0L, variance = 0.0L;
        const auto n = static_cast<long double>(list.size());
        for (const auto& [logit, token] : list) mean += logit / n;
        for (const auto& [logit, token] : list) variance += (logit - mean) * (logit - mean) / n;
        const long double line = list.front().first - o_.top_n_sigma * std::sqrt(variance);
        masked += std::erase_if(list, [&](const Entry& e) { return e.first < line; });
        break;
      }
      case Sampler::top_k:
        list.resize(std::min(list.size(), o_.top_k));
        masked = std::min(count, o_.top_k) - list.size();
        break;
      case Sampler::typ_p: {
        std::vector<std::size_t> order(list.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        const auto far = [&](std::size_t i) { return std::abs(-std::log(p[i]) - entropy); };
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return far(a) < far(b); });
        std::vector<Entry> kept;
        long double mass = 0.0L;
        for (const std::size_t i : order) {
          kept.push_back(list[i]);
          if ((mass += p[i]) > o_.typical_p) break;
        }
        list = kept;
        masked = 0;
        break;
      }
      case Sampler::top_p: {
        long double mass = 0.0L;
        std::size_t n = 0;
        while (n < list.size() && mass < o_.top_p) mass += p[n++];
        list.resize(std::max<std::size_t>(n, 1));
        masked = 0;
        break;
      }
      case Sampler::min_p:
        while (p[list.size() - 1] < o_.min_p * p.front()) list.pop_back();
        masked = 0;
        break;
      case Sampler::xtc: {
        std::size_t choices = 0;
        while (choices < list.size() && p[choices] >= o_.xtc_threshold) ++choices;
        if (choices < 2) break;
        const std::vector<Entry> cut(list.begin() + static_cast<std::ptrdiff_t>(choices - 1), list.end());
        Mixed out;
        for (const auto& [token, q] : run(list, masked, next)) out[token] += (1.0L - o_.xtc_probability) * q;
        for (const auto& [token, q] : run(cut, masked, next)) out[token] += o_.xtc_probability * q;
        return out;
      }
      case Sampler::temperature: {
        long double temperature = o_.temperature;
        if (o_.dynatemp_range > 0.0) {
          if (count < 2) break;
          const long double low = std::max(0.0L, temperature - o_.dynatemp_range);
          const long double share = entropy / std::log(static_cast<long double>(count));
          temperature = low + (temperature + o_.dynatemp_range - low) * std::pow(share, o_.dynatemp_exponent);
        }
        if (temperature <= 0.0L) {
          list.resize(1);
          masked = count - 1;
        }
        for (auto& [logit, token] : list)
          if (temperature > 0.0L) logit /= temperature;
        break;
      }
      case Sampler::adaptive_p:
        break;
    }
    return run(list, masked, next);
  }

 private:
  const WarpOptions& o_;
  const std::vector<Token>& history_;
};

TEST(Samplers, AgreeWithAPlainReferenceInAnyOrder) {
  std::mt19937_64 random(31);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  const auto maybe = [&](double value, double fallback) { return uniform() < 0.5 ? value : fallback; };
  for (int round = 0; round < 4000; ++round) {
    const std::size_t size = 1 + random() % (round % 10 == 0 ? 300 : 30);
    std::vector<double> row(size);
    for (double& logit : row) logit = uniform() < 0.05 ? lowest_logit : 8.0 * (uniform() - 0.5);
    row[random() % size] = 1.0 + uniform();
    WarpOptions o = WarpOptions::none();
    o.temperature = uniform() < 0.1 ? 0.0 : maybe(0.2 + 2.0 * uniform(), 1.0);
    o.dynatemp_range = maybe(uniform(), 0.0);
    o.dynatemp_exponent = 0.5 + uniform();
    o.top_k = uniform() < 0.5 ? 0 : 1 + random() % 20;
    o.top_p = maybe(uniform(), 1.0);
    o.min_p = maybe(0.3 * uniform(), 0.0);
    o.top_n_sigma = maybe(2.0 * uniform(), -1.0);
    o.typical_p = maybe(uniform(), 1.0);
    o.xtc_probability = maybe(uniform(), 0.0);
    o.xtc_threshold = 0.5 * uniform();
    o.repeat_penalty = maybe(0.5 + uniform(), 1.0);
    o.repeat_last_n = random() % 30;
    o.dry = {.multiplier = maybe(uniform(), 0.0), .base = 1.2, .allowed_length = random() % 3};
    std::vector<Token> history(random() % 40);
    for (Token& token : history) token = static_cast<Token>(random() % std::min<std::size_t>(size, 4));
    o.samplers.assign(default_samplers.begin(), default_samplers.end());
    if (round % 4 != 0) std::ranges::shuffle(o.samplers, random);
    if (round % 3 == 0) o.samplers.resize(random() % o.samplers.size() + 1);

    const WarpOptions applied = value_of(Warp::make(o)).options();
    std::vector<Entry> list;
    for (std::size_t i = 0; i < size; ++i)
      if (row[i] > lowest_logit) list.emplace_back(row[i], static_cast<Token>(i));
    const std::size_t masked = size - list.size();
    std::vector<Sampler> on;  // disabled samplers leave the list unchanged
    for (const Sampler one : o.samplers) {
      const bool is_off = (one == Sampler::top_k && applied.top_k == 0) ||
                          (one == Sampler::typ_p && applied.typical_p >= 1.0) ||
                          (one == Sampler::top_p && applied.top_p >= 1.0) ||
                          (one == Sampler::min_p && applied.min_p <= 0.0) ||
                          (one == Sampler::top_n_sigma && applied.top_n_sigma <= 0.0) ||
                          (one == Sampler::dry && applied.dry.multiplier <= 0.0);
      if (!is_off) on.push_back(one);
    }
    const Mixed expected = PlainChain(applied, history).run(list, masked, on);
    const std::vector<double> found = sampled(o, row, history);
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = expected.find(static_cast<Token>(i));
      ASSERT_NEAR(found[i], at == expected.end() ? 0.0 : static_cast<double>(at->second), 1e-9)
          << "round " << round << ", token " << i;
    }
  }
}

TEST(Samplers, AskForWholeRowsUnlessTopKComesFirst) {
  std::mt19937 random(6);
  std::vector<float> row(3000);
  for (float& logit : row) logit = static_cast<float>(random() % 1000) * 0.01F;
  const auto fetches = [&](const WarpOptions& options) {
    const test::RemoteLogits remote({row});
    const Warp warp = value_of(Warp::make(options));
    const Distribution there = value_of(warp.distribution(Logits(remote, 0, row.size()), {}, row.size()));
    const Distribution here = value_of(warp.distribution(std::span<const float>(row), {}, row.size()));
    EXPECT_EQ(total_variation(there, here), 0.0);
    return remote.fetched() > 0;
  };
  EXPECT_FALSE(fetches({.xtc_probability = 0.5}));
  EXPECT_FALSE(fetches({.typical_p = 0.5, .dynatemp_range = 0.2}));
  EXPECT_FALSE(fetches({.temperature = 0.0, .top_n_sigma = 1.0})) << "the likeliest is never excluded";
  EXPECT_TRUE(fetches({.top_n_sigma = 1.0}));
  EXPECT_TRUE(fetches({.top_k = 0, .xtc_probability = 0.5}));
  EXPECT_TRUE(fetches({.samplers = {Sampler::temperature, Sampler::top_p, Sampler::top_k}}));
}

TEST(Samplers, ThatAreLeftOutAreOff) {
  const WarpOptions some =
      value_of(Warp::make({.repeat_penalty = 2.0, .samplers = {Sampler::top_k, Sampler::temperature}}))
          .options();
  EXPECT_EQ(some.top_k, 40u);
  EXPECT_EQ(some.temperature, 0.8);
  EXPECT_EQ(some.top_p, 1.0);
  EXPECT_EQ(some.min_p, 0.0);
  EXPECT_EQ(some.repeat_penalty, 1.0);
  const WarpOptions mirostat = value_of(Warp::make({.presence_penalty = 1.0, .mirostat = 2})).options();
  EXPECT_EQ(mirostat.temperature, 0.8);
  EXPECT_EQ(mirostat.top_k, 0u);
  EXPECT_EQ(mirostat.presence_penalty, 0.0);
}

TEST(Samplers, AreReadByNameAndByLetter) {
  using enum Sampler;
  const std::string names[] = {"top-k", "TYPICAL_P", "temp", "nucleus", "minp", "adaptive_p"};
  EXPECT_THAT(value_of(read_samplers(names)),
              ElementsAre(top_k, typ_p, temperature, top_p, min_p, adaptive_p));
  EXPECT_EQ(value_of(read_sampler_letters("edskypmxt")),
            std::vector<Sampler>(default_samplers.begin(), default_samplers.end()));
  const std::string unknown[] = {"top_k", "magic"}, twice[] = {"top_k", "topk"};
  EXPECT_THAT(read_samplers(unknown).error().message,
              HasSubstr("no sampler 'magic'; the samplers are penalties"));
  EXPECT_THAT(read_samplers(twice).error().message, HasSubstr("top_k is named twice"));
  EXPECT_THAT(read_sampler_letters("kq").error().message, HasSubstr("'kq' has a letter of no sampler"));
  EXPECT_THAT(read_sampler_letters("kk").error().message, HasSubstr("top_k is named twice"));
}

TEST(Samplers, OutOfRangeAreNamed) {
  const std::pair<WarpOptions, const char*> cases[] = {
      {{.typical_p = -0.1}, "typical-p must be finite and at least 0, got -0.1"},
      {{.xtc_probability = 1.5}, "xtc-probability must be finite and at most 1, got 1.5"},
      {{.xtc_threshold = -1.0}, "xtc-threshold must lie in [0, 1], got -1"},
      {{.dry = {.multiplier = 1.0, .base = 0.5}}, "dry-base must be finite and at least 1, got 0.5"},
      {{.mirostat = 3}, "mirostat must lie in [0, 2], got 3"},
      {{.adaptive_target = 0.5}, "adaptive-target 0.5 needs adaptive_p among the samplers"},
      {{.adaptive_decay = 1.0}, "adaptive-decay must lie in [0, 0.99], got 1"}};
  for (const auto& [options, message] : cases) {
    const auto made = Warp::make(options);
    ASSERT_FALSE(made.has_value()) << message;
    EXPECT_EQ(made.error().message, message);
  }
}

}  // namespace
}  // namespace spectr

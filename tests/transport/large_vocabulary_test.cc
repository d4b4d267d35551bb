// Plans that visit most tokens only once, compared with a full sort of all tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "spectr/transport/acceptance_bounds.h"
#include "spectr/transport/math/overlap.h"
#include "spectr/transport/math/ratio_buckets.h"
#include "spectr/transport/math/ratio_cuts.h"
#include "spectr/transport/math/token_classes.h"
#include "spectr/transport/math/undecided.h"
#include "spectr/transport/plans.h"
#include "spectr/transport/plans/generalised_k_seq.h"
#include "tests/support/every_target.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

struct Pair {
  std::string name;
  std::vector<double> p, q;

  Distribution draft() const { return distribution(p); }
  Distribution target() const { return distribution(q); }
};

/// Returns pairs of every kind that is hard for thresholds.
std::vector<Pair> pairs(std::size_t vocabulary, std::uint64_t seed) {
  RandomDistributions random(seed);
  const auto weights = [&](auto weight) {
    std::vector<double> all(vocabulary);
    for (double& w : all) w = weight();
    return all;
  };
  const auto near = [&](const std::vector<double>& p, double distance) {
    std::vector<double> q = p;
    for (double& w : q) w *= 1.0 + distance * random.uniform();
    return q;
  };
  const auto exponential = [&] { return -std::log(1.0 - random.uniform()); };
  const auto peaked = [&] { return std::exp(-40.0 * random.uniform()); };
  const auto tied = [&] { return static_cast<double>(random.below(4)); };
  const auto sparse = [&] { return random.uniform() < 0.97 ? 0.0 : random.uniform(); };
  const auto tiny = [&] { return std::exp(-690.0 * random.uniform()); };
  std::vector<Pair> all = {{"random", weights(exponential), weights(exponential)},
                           {"peaked", weights(peaked), weights(peaked)},
                           {"tied", weights(tied), weights(tied)},
                           {"sparse", weights(sparse), weights(sparse)},
                           {"tiny", weights(tiny), weights(tiny)},
                           {"flat against peaked", weights(exponential), weights(tiny)}};
  const std::vector<double> p = weights(exponential);
  all.push_back({"equal", p, p});
  for (const double distance : {1e-1, 1e-3, 1e-6, 1e-9, 1e-13}) {
    all.push_back({"near " + std::to_string(-std::log10(distance)), p, near(p, distance)});
  }
  std::vector<double> low = p, high = p;
  std::fill(low.begin() + static_cast<std::ptrdiff_t>(vocabulary / 2), low.end(), 0.0);
  std::fill(high.begin(), high.begin() + static_cast<std::ptrdiff_t>(vocabulary / 2), 0.0);
  all.push_back({"disjoint", low, high});
  return all;
}

const std::vector<std::size_t> sizes = {513, 1000, 4099, 20'011};

template <class Claim>
void for_every_pair(Claim claim) {
  for (const std::size_t vocabulary : sizes) {
    for (const Pair& pair : pairs(vocabulary, vocabulary)) {
      SCOPED_TRACE(pair.name + ", " + std::to_string(vocabulary) + " tokens");
      claim(pair.draft(), pair.target());
    }
  }
}

TEST(LargeVocabulary, OptimalAcceptsAsMuchAsTheFullOrder) {
  for_every_pair([](const Distribution& p, const Distribution& q) {
    for (std::size_t k = 1; k <= 8; ++k) {
      const auto plan = find_plan("optimal").value()->build({p, k}, q, {}).value();
      EXPECT_NEAR(plan->acceptance(), optimal_acceptance(p, q, k), 1e-13) << "k = " << k;
    }
  });
}

TEST(LargeVocabulary, ClassesAreFew) {
  for_every_pair([](const Distribution& p, const Distribution& q) {
    for (const std::size_t k : {1u, 4u, 8u}) {
      const TokenClasses classes = classes_of(p.probabilities(), q.probabilities(), k);
      EXPECT_LE(classes.size(), 2000u) << "k = " << k;
      EXPECT_TRUE(std::ranges::is_sorted(classes.edges));
    }
  });
}

// Uses the definition: token by token, each draft against the residual of the previous ones.
TEST(LargeVocabulary, RecursiveRejectsAsItsDefinitionSays) {
  for_every_pair([](const Distribution& p, const Distribution& q) {
    std::vector<double> left(q.probabilities().begin(), q.probabilities().end());
    double rejected = 1.0;
    for (std::size_t k = 1; k <= 8; ++k) {
      Sum sum;
      for (std::size_t x = 0; x < left.size(); ++x) {
        left[x] = std::max(0.0, left[x] - rejected * p.probabilities()[x]);
        sum.add(left[x]);
      }
      rejected = std::min(rejected, sum.value());
      const auto plan = find_plan("recursive").value()->build({p, k}, q, {}).value();
      EXPECT_NEAR(plan->acceptance(), 1.0 - rejected, 1e-13) << "k = " << k;
    }
  });
}

TEST(LargeVocabulary, KSeqHasTheOverlapOfItsFactorAndTheSmallestOne) {
  for_every_pair([](const Distribution& p, const Distribution& q) {
    for (std::size_t k = 1; k <= 8; ++k) {
      const auto plan = find_plan("k-seq").value()->build({p, k}, q, {}).value();
      const double rho = std::get<double>(plan->parameters().at("rho"));
      const auto accepted = [&](double factor) {
        const Overlap o = overlap(p.probabilities(), q.probabilities(), factor);
        return std::pair(-std::expm1(static_cast<double>(k) * log_miss(o)), factor * o.beta);
      };
      const auto [found, allowed] = accepted(rho);
      EXPECT_NEAR(plan->acceptance(), found, 1e-13);
      EXPECT_LE(found, allowed + 1e-14) << "k = " << k;
      if (rho > 1.0 + 1e-6) {  // a smaller factor accepts no more, or is invalid
        const auto [more, less] = accepted(rho * (1.0 - 1e-7));
        EXPECT_TRUE(more > less || more < found + 1e-13) << "k = " << k;
      }
    }
  });
}

TEST(LargeVocabulary, CutsDoWhatPassesOverAllTokensDo) {
  for_every_pair([](const Distribution& p, const Distribution& q) {
    const DraftDistributions drafts(p, 3);
    const DistributionUnion all(drafts, q);
    RatioCuts cuts(p.probabilities(), q.probabilities(), rounding_of_mass, 6.0);
    RandomDistributions random(5);
    for (int n = 0; n < 10; ++n) {
      GeneralisedTests tests;
      for (int i = 0; i < 3; ++i) {
        tests.bound.push_back(std::exp(3.0 * random.uniform() - 1.1));
        tests.alpha.push_back(tests.bound.back() * (n % 2 == 0 ? 1.0 : random.uniform()));
      }
      const GeneralisedOutcome found = outcome(cuts, tests), expected = outcome(all, tests);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found.u[i], expected.u[i], 1e-13);
      for (const double bound : tests.bound) {
        const RatioCut cut = cuts.at(bound);
        Sum above_p, above_q;
        double lowest = std::numeric_limits<double>::infinity(), highest = -1.0;
        for (std::size_t x = 0; x < p.size(); ++x) {
          const double px = p.probabilities()[x], qx = tested_mass(q.probabilities()[x]);
          const bool is_above = px > bound * qx;
          above_p.add(is_above ? px : 0.0);
          above_q.add(is_above ? qx : 0.0);
          if (!(qx > 0.0)) continue;
          if (is_above) lowest = std::min(lowest, px / qx);
          if (!is_above) highest = std::max(highest, px / qx);
        }
        EXPECT_NEAR(cut.above.p, above_p.value(), 1e-13);
        EXPECT_NEAR(cut.above.q, above_q.value(), 1e-13);
        EXPECT_EQ(cut.lowest, lowest);
        EXPECT_EQ(cut.highest, highest);
      }
    }
  });
}

// k = 1: sums over every token of the vocabulary as the draft.
TEST(LargeVocabulary, TheLawOfTheOptimalPlanIsTheTarget) {
  for (const Pair& pair : pairs(601, 3)) {
    SCOPED_TRACE(pair.name);
    const Distribution p = pair.draft(), q = pair.target();
    const auto plan = find_plan("optimal").value()->build({p, 1}, q, {}).value();
    std::vector<Sum> law(p.size());
    for (std::size_t x = 0; x < p.size(); ++x) {
      if (!(p.probabilities()[x] > 0.0)) continue;
      const std::vector<Token> draft = {static_cast<Token>(x)};
      const Distribution given = plan->conditional(draft);
      for (std::size_t y = 0; y < given.size(); ++y) {
        law[static_cast<std::size_t>(given.token(y))].add(p.probabilities()[x] * given.probabilities()[y]);
      }
    }
    std::vector<double> found;
    for (const Sum& sum : law) found.push_back(sum.value());
    EXPECT_LE(distance(found, q), 1e-13);
  }
}

// k = 2: sums over all pairs of tokens, weighted by their probabilities.
TEST(LargeVocabulary, TheLawOfTwoDraftsOfTheOptimalPlanIsTheTarget) {
  for (const Pair& pair : pairs(520, 4)) {
    if (pair.name != "random" && pair.name != "sparse" && pair.name != "near 3.000000") continue;
    SCOPED_TRACE(pair.name);
    const Distribution p = pair.draft(), q = pair.target();
    const auto plan = find_plan("optimal").value()->build({p, 2}, q, {}).value();
    std::vector<Sum> law(p.size());
    for (std::size_t x = 0; x < p.size(); ++x) {
      for (std::size_t y = 0; y < p.size(); ++y) {
        const double mass = p.probabilities()[x] * p.probabilities()[y];
        if (!(mass > 0.0)) continue;
        const std::vector<Token> drafts = {static_cast<Token>(x), static_cast<Token>(y)};
        const Distribution given = plan->conditional(drafts);
        for (std::size_t z = 0; z < given.size(); ++z) law[z].add(mass * given.probabilities()[z]);
      }
    }
    std::vector<double> found;
    for (const Sum& sum : law) found.push_back(sum.value());
    EXPECT_LE(distance(found, q), 1e-12);
  }
}

// The drafts are equal, share a class, or do not.
TEST(LargeVocabulary, TheOptimalPlanSelectsAsItsFormulaSays) {
  const std::size_t vocabulary = 520;
  for (const Pair& pair : pairs(vocabulary, 6)) {
    SCOPED_TRACE(pair.name);
    const Distribution p = pair.draft(), q = pair.target();
    std::vector<Token> order;
    for (std::size_t x = 0; x < vocabulary; ++x) {
      if (p.probabilities()[x] > 0.0) order.push_back(static_cast<Token>(x));
    }
    std::ranges::sort(order, {}, [&](Token x) { return q[x] / p[x]; });
    const std::size_t a = order.size() / 3, b = order.size() * 3 / 4;
    const auto plan = find_plan("optimal").value()->build({p, 3}, q, {}).value();
    for (const std::vector<Token>& drafts : {std::vector<Token>{order[a], order[a], order[a]},
                                             std::vector<Token>{order[a], order[a + 1], order[a]},
                                             std::vector<Token>{order[b], order[a], order[b + 1]}}) {
      EXPECT_LE(distance(enumerate_select(*plan, drafts, vocabulary), plan->conditional(drafts)), 1e-12);
    }
  }
}

TEST(Undecided, HasTheSumsOfAllTokensHoweverOftenItIsNarrowed) {
  at_every_target([] {
    for (const std::size_t vocabulary : {1u, 7u, 8u, 9u, 1023u, 1024u, 1025u, 5000u}) {
      for (const Pair& pair : pairs(vocabulary, 7)) {
        Undecided tokens(pair.p, pair.q, 0.125, 1.0);
        for (const auto& [low, high] : {std::pair{0.125, 1.0}, {0.25, 0.875}, {0.5, 0.75}, {0.5, 0.5}}) {
          tokens.narrow(low, high);
          for (const double s : {low, 0.5 * (low + high), high}) {
            const OverlapSums found = tokens.sums(s), expected = overlap_sums(pair.p, pair.q, s);
            const double beta = expected.saturated + s * expected.open;
            EXPECT_NEAR(found.saturated + s * found.open, beta, 1e-13 * beta);
            EXPECT_NEAR(found.miss, expected.miss, 1e-13 * expected.miss);
            EXPECT_NEAR(found.unserved, expected.unserved, 1e-13 * expected.unserved);
          }
        }
      }
    }
  });
}

TEST(RatioBuckets, HoldEveryTokenOnceAndBetweenItsEdges) {
  at_every_target([] {
    for (const std::size_t vocabulary : {1u, 7u, 8u, 9u, 2047u, 2048u, 5000u}) {
      for (const Pair& pair : pairs(vocabulary, 8)) {
        const RatioBuckets buckets(pair.p, pair.q, 0.0, 5.0);
        std::size_t found = 0;
        for (std::size_t b = 0; b < buckets.size(); ++b) {
          Sum p, q;
          for (const Masses& token : buckets.tokens(b)) {
            ++found;
            p.add(token.p);
            q.add(token.q);
            if (token.p == 0.0 && token.q == 0.0) continue;
            const double ratio = token.q / token.p;
            EXPECT_GE(ratio, buckets.edge(b));
            EXPECT_EQ(buckets.bucket(ratio), b);
            if (b + 1 < buckets.size()) {
              EXPECT_LT(ratio, buckets.edge(b + 1));
            }
          }
          EXPECT_NEAR(buckets[b].p, p.value(), 1e-13 * p.value());
          EXPECT_NEAR(buckets[b].q, q.value(), 1e-13 * q.value());
        }
        EXPECT_EQ(found, vocabulary);
      }
    }
  });
}

}  // namespace
}  // namespace spectr

// Expected rejections and target calls of enumerated decoders equal the closed forms of the theory.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

using Row = std::vector<double>;

Row row(const TabularModel& model, std::size_t step, std::size_t last) {
  Row out;
  for (double log_p : model.log_row(step, static_cast<Token>(last))) out.push_back(std::exp(log_p));
  return out;
}

/// (q − p)₊.
Row excess(const Row& q, const Row& p) {
  Row out(q.size());
  for (std::size_t x = 0; x < q.size(); ++x) out[x] = std::max(0.0, q[x] - p[x]);
  return out;
}

double sum(const Row& weights) {
  double total = 0.0;
  for (double w : weights) total += w;
  return total;
}

/// Recursive rejection of m drafts from p for q: the probability that all are rejected, and the residual.
struct AllRejected {
  double probability = 1.0;
  Row residual;

  AllRejected(const Row& p, Row q, std::size_t drafts) : residual(std::move(q)) {
    for (std::size_t m = 0; m < drafts; ++m) {
      Row left = excess(residual, p);
      const double r = sum(left);
      probability *= r;
      if (r == 0.0) return;
      for (double& w : left) w /= r;
      residual = std::move(left);
    }
  }
};

/// E[rejections at n], n = 1 … T, of batch decoding with M sequences that reach the horizon, from a start
/// token (Yin et al., A Theoretical Perspective for Speculative Decoding, 2024, theorem 4): μ is the law of
/// the token under q, F the mass of "the token was a rejection".
Row rejections(const TabularPair& pair, std::size_t drafts, std::size_t horizon, std::size_t start) {
  const std::size_t v = pair.vocabulary();
  Row law(v, 0.0), fresh(v, 0.0), expected;
  law[start] = fresh[start] = 1.0;
  for (std::size_t n = 0; n < horizon; ++n) {
    Row next_law(v, 0.0), next_fresh(v, 0.0);
    double rejected = 0.0;
    for (std::size_t x = 0; x < v; ++x) {
      const Row p = row(pair.drafts.front(), n, x), q = row(pair.target, n, x), left = excess(q, p);
      const AllRejected all(p, q, drafts);
      rejected += (law[x] - fresh[x]) * sum(left) + fresh[x] * all.probability;
      for (std::size_t y = 0; y < v; ++y) {
        next_law[y] += law[x] * q[y];
        next_fresh[y] += (law[x] - fresh[x]) * left[y];
        if (all.probability > 0.0) next_fresh[y] += fresh[x] * all.probability * all.residual[y];
      }
    }
    expected.push_back(rejected);
    law = next_law;
    fresh = next_fresh;
  }
  return expected;
}

void expect_closed_forms(std::string_view method, std::size_t vocabulary, std::size_t horizon,
                         std::size_t drafts, std::size_t length) {
  const TabularPair pair = TabularPair::random(vocabulary, horizon, static_cast<std::uint32_t>(90 + drafts));
  for (std::size_t start = 0; start < vocabulary; ++start) {
    const Row expected = rejections(pair, drafts, horizon, start);
    const MethodLaw found = method_law(pair, method, options_of(drafts, length),
                                       {.horizon = horizon, .start = static_cast<Token>(start)});
    EXPECT_NEAR(found.law.expected_rejections, sum(expected), 1e-12) << method << " M = " << drafts;
    // A rejection at the horizon needs no further call.
    EXPECT_NEAR(found.law.expected_target_calls, 1.0 + sum(expected) - expected.back(), 1e-12)
        << method << " M = " << drafts;
  }
}

TEST(ClosedForms, PlainDecodingTakesACallAToken) {
  const MethodLaw found = method_law(TabularPair::random(3, 4, 1), "plain", options_of(1, 1));
  EXPECT_NEAR(found.law.expected_target_calls, 4.0, 1e-13);
  EXPECT_EQ(found.law.expected_rejections, 0.0);
}

TEST(ClosedForms, SpeculativeDecodingRejectsTheSumOfTheTotalVariations) {
  expect_closed_forms("speculative", 3, 4, 1, 4);
  expect_closed_forms("speculative", 2, 5, 1, 7);  // drafts longer than the horizon are cut
}

TEST(ClosedForms, BatchDecodingFollowsTheForwardPass) {
  expect_closed_forms("batch", 3, 4, 1, 4);
  expect_closed_forms("batch", 2, 3, 2, 3);
  expect_closed_forms("batch", 3, 2, 3, 2);
  expect_closed_forms("batch", 4, 2, 2, 2);
  expect_closed_forms("batch", 2, 2, 5, 2);
}

TEST(ClosedForms, MoreSequencesAreRejectedLess) {
  const TabularPair pair = TabularPair::random(3, 4, 2);
  for (std::size_t m = 1; m < 8; ++m) {
    EXPECT_LE(sum(rejections(pair, m + 1, 4, 0)), sum(rejections(pair, m, 4, 0)) + 1e-15);
  }
}

// k-Seq, tickets: the acceptance of the whole first level, known in closed form for uniform laws
// p = U(d), q = U(d/r): 1 − (1 − 1/r)^k.
TEST(ClosedForms, UniformLawsAcceptByTheirSupports) {
  const Row p = {0.25, 0.25, 0.25, 0.25}, q = {0.5, 0.5, 0.0, 0.0};
  for (const char* plan : {"k-seq", "recursive", "str+", "str++", "optimal", "otm-lp"}) {
    for (std::size_t k : {1u, 2u, 3u}) {
      const MethodLaw found =
          method_law(TabularPair::constant(p, q), "spectr", options_of(k, 1, plan), {.horizon = 1});
      EXPECT_NEAR(found.law.expected_rejections, std::pow(0.5, static_cast<double>(k)), 1e-12) << plan;
    }
  }
}

}  // namespace
}  // namespace spectr

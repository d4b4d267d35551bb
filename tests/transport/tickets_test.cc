// The ticket plan: its layout of the unit interval, compared with the required masses.
#include "spectr/transport/plans/tickets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "spectr/base/counter_random.h"
#include "spectr/transport/acceptance_bounds.h"
#include "spectr/transport/math/powers.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans/ticket_layout.h"
#include "tests/support/chi_square.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

std::unique_ptr<TransportPlan> tickets(const Distribution& p, std::size_t k, const Distribution& q) {
  return build_tickets({p, k}, q, {}).value();
}

// Properties of a layout for k drafts from p, computed from its pieces only: the highest of k points wins,
// each in a piece of its token with probability ∝ length.
struct Made {
  double length_error = 0.0;        // largest |total length of a token's pieces − p|
  double distribution_error = 0.0;  // largest |P(Y = y) − q(y)|
  double pieces_per_token = 0.0;
};

Made made(const Distribution& p, const Distribution& q, std::size_t k) {
  const auto px = p.probabilities(), qx = q.probabilities();
  const TicketLayout layout = lay_tickets(px, qx, k);
  struct Owned {
    std::size_t piece, token;
    double mass;  // for one draft
  };
  std::vector<Owned> owned;
  Made result;
  double drafted = 0.0;
  for (std::size_t x = 0; x < px.size(); ++x) {
    const auto [begin, count] = layout.of[x];
    double length = 0.0;
    for (std::size_t i = begin; i < begin + count; ++i) length += layout.pieces.length[i];
    result.length_error = std::max(result.length_error, std::abs(length - px[x]));
    for (std::size_t i = begin; i < begin + count; ++i) {
      owned.push_back({i, x, px[x] * layout.pieces.length[i] / length});
    }
    drafted += px[x] > 0.0 ? 1.0 : 0.0;
  }
  result.pieces_per_token = static_cast<double>(owned.size()) / drafted;

  std::ranges::sort(owned, [&](const Owned& a, const Owned& b) { return layout.above(b.piece, a.piece); });
  std::vector<double> distribution_of_y(px.size(), 0.0);
  double below = 0.0, rejected = 0.0, residual = 0.0;
  for (const auto& [piece, token, mass] : owned) {
    (layout.accepts(piece) ? distribution_of_y[token] : rejected) += power_difference(below, mass, k);
    below += mass;
  }
  for (double r : layout.residual) residual += r;
  for (std::size_t x = 0; x < px.size(); ++x) {
    if (residual > 0.0) distribution_of_y[x] += rejected * layout.residual[x] / residual;
    result.distribution_error = std::max(result.distribution_error, std::abs(distribution_of_y[x] - qx[x]));
  }
  return result;
}

// Integer weights lead to ties and zeros; powers of a uniform variate lead to masses down to 1e-300.
Distribution hard_distribution(RandomDistributions& random, std::size_t vocabulary, int kind) {
  std::vector<double> weights(vocabulary);
  for (double& w : weights) {
    const double u = random.uniform();
    switch (kind) {
      case 0:
        w = u;
        break;
      case 1:
        w = static_cast<double>(random.below(4));
        break;
      case 2:
        w = std::exp(-20.0 * u);
        break;
      default:
        w = std::exp(-690.0 * u);
        break;
    }
    if (random.uniform() < 0.1) w = 0.0;
  }
  weights[random.below(vocabulary)] += 1e-3;
  return distribution(weights);
}

TEST(Tickets, AcceptanceMatchesGoldenValues) {
  const Distribution p = distribution({3, 2, 1}), q = distribution({1, 2, 3});
  EXPECT_NEAR(tickets(p, 2, q)->acceptance(), 29.0 / 36.0, 1e-15);
  EXPECT_NEAR(tickets(p, 3, q)->acceptance(), 199.0 / 216.0, 1e-15);
  EXPECT_NEAR(tickets(distribution({3, 1}), 2, distribution({1, 3}))->acceptance(), 0.6875, 1e-15);
  EXPECT_NEAR(tickets(distribution({1, 1, 1, 1, 1, 1}), 4, distribution({1, 1, 0, 0, 0, 0}))->acceptance(),
              uniform_acceptance(3.0, 4), 1e-15);
}

TEST(Tickets, LayoutHasTheLengthsAndMassesOfItsTokens) {
  RandomDistributions random(11);
  double pieces = 0.0;
  constexpr int instances = 4000;
  for (int n = 0; n < instances; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 1 + random.below(41), k = 1 + random.below(8);
    const Distribution p = hard_distribution(random, vocabulary, n % 4),
                       q = hard_distribution(random, vocabulary, n / 4 % 4);
    const Made layout = made(p, q, k);
    EXPECT_LE(layout.length_error, 1e-14);
    EXPECT_LE(layout.distribution_error, 2e-14);
    EXPECT_LE(layout.pieces_per_token, 3.0);
    EXPECT_NEAR(tickets(p, k, q)->acceptance(), optimal_acceptance(p, q, k), 1e-14);
    pieces += layout.pieces_per_token;
  }
  EXPECT_LT(pieces / instances, 2.0);
}

// The probability that all drafts have q = 0 can be subnormal or zero even if that of one draft is large.
// The cut is computed from the latter.
TEST(Tickets, TheCutIsExactWhereTheRejectionVanishes) {
  RandomDistributions random(15);
  for (const std::size_t k : {32u, 64u, 100u, 200u, 676u, 1000u}) {
    for (double exponent = -745.0; exponent < -700.0; exponent += 0.37) {
      const double barred = std::exp((exponent - 20.0 * random.uniform()) / static_cast<double>(k));
      const double share = random.uniform();
      const Made layout = made(distribution({barred, share * (1.0 - barred), (1.0 - share) * (1.0 - barred)}),
                               distribution({0.0, 0.3, 0.7}), k);
      EXPECT_LE(layout.length_error, 1e-14) << k << ' ' << barred;
      EXPECT_LE(layout.distribution_error, 1e-15 * static_cast<double>(k)) << k << ' ' << barred;
    }
  }
}

TEST(Tickets, PiecesOfATokenAscend) {
  RandomDistributions random(17);
  std::size_t several = 0;
  for (int n = 0; n < 400; ++n) {
    const std::size_t vocabulary = 1 + random.below(41), k = 1 + random.below(8);
    const Distribution p = hard_distribution(random, vocabulary, n % 4),
                       q = hard_distribution(random, vocabulary, n / 4 % 4);
    const TicketLayout layout = lay_tickets(p.probabilities(), q.probabilities(), k);
    for (const auto [begin, count] : layout.of) {
      for (std::size_t i = begin + 1; i < begin + count; ++i) {
        EXPECT_LE(layout.pieces.low[i - 1], layout.pieces.low[i]);
      }
      several += count > 2 ? 1 : 0;
    }
  }
  EXPECT_GT(several, 100u);
}

// Pieces can overlap only by rounding errors.
TEST(Tickets, PiecesDoNotOverlap) {
  constexpr double rounding = 1e-15;
  RandomDistributions random(12);
  for (int n = 0; n < 400; ++n) {
    const std::size_t vocabulary = 1 + random.below(41), k = 2 + random.below(7);
    const Distribution p = hard_distribution(random, vocabulary, n % 4),
                       q = hard_distribution(random, vocabulary, n / 4 % 4);
    const TicketLayout layout = lay_tickets(p.probabilities(), q.probabilities(), k);
    std::vector<std::pair<double, double>> above_cut;
    for (std::size_t i = 0; i < layout.pieces.size(); ++i) {
      const double low = layout.pieces.low[i], length = layout.pieces.length[i];
      if (layout.accepts(i) && length > rounding) above_cut.push_back({low, length});
    }
    std::ranges::sort(above_cut);
    for (std::size_t i = 1; i < above_cut.size(); ++i) {
      EXPECT_LE(above_cut[i - 1].first + above_cut[i - 1].second, above_cut[i].first + rounding);
    }
  }
}

TEST(Tickets, LargeVocabulariesKeepTheirMasses) {
  RandomDistributions random(13);
  for (const std::size_t vocabulary : {1000u, 32'000u, 200'000u}) {
    for (const std::size_t k : {2u, 8u, 64u}) {
      const int kind = static_cast<int>(k) % 5;
      const Distribution p = hard_distribution(random, vocabulary, kind),
                         q = hard_distribution(random, vocabulary, 3 - kind % 4);
      const Made layout = made(p, q, k);
      EXPECT_LE(layout.distribution_error, 1e-11) << vocabulary << " tokens, k = " << k;
      EXPECT_LE(layout.pieces_per_token, 3.0);
    }
  }
}

TEST(Tickets, EqualDistributionsAreAcceptedWithoutResidual) {
  RandomDistributions random(14);
  for (const std::size_t vocabulary : {1u, 2u, 40u, 5000u}) {
    const Distribution p = random.dense(vocabulary);
    for (const std::size_t k : {1u, 2u, 7u, 64u}) {
      const auto plan = tickets(p, k, p);
      EXPECT_EQ(plan->acceptance(), 1.0);
      EXPECT_FALSE(plan->residual().has_value());
    }
  }
}

TEST(Tickets, DisjointSupportsAreAlwaysRejected) {
  const Distribution p = distribution({1, 2, 0, 0}), q = distribution({0, 0, 3, 1});
  const auto plan = tickets(p, 3, q);
  EXPECT_EQ(plan->acceptance(), 0.0);
  EXPECT_LE(distance(enumerate_distribution(*plan, 4), q), 1e-15);
}

TEST(Tickets, OneDraftIsMaximalCoupling) {
  RandomDistributions random(15);
  for (int n = 0; n < 200; ++n) {
    const Distribution p = random.any(9), q = random.any(9);
    EXPECT_NEAR(tickets(p, 1, q)->acceptance(), 1.0 - total_variation(p, q), 1e-15);
  }
}

// The likeliest draft fills the interval up to rounding of 1; the others are narrower than its spacing.
TEST(Tickets, TokensNarrowerThanAnUlpKeepTheirTickets) {
  std::vector<double> p = {1.0, 1e-18, 1e-30, 1e-300}, q = {0.25, 0.25, 0.25, 0.25};
  const Distribution p_distribution = distribution(p), q_distribution = distribution(q);
  for (const std::size_t k : {2u, 5u}) {
    const auto plan = tickets(p_distribution, k, q_distribution);
    EXPECT_NEAR(plan->acceptance(), 0.25, 1e-14);
    EXPECT_LE(distance(enumerate_distribution(*plan, 4), q_distribution), 1e-14);
    EXPECT_LE(worst_conditional(*plan, 4), 1e-12);
  }
}

// Rounding leaves a remainder of the other two tokens, and a token of 1e-226 receives
// it: far more than its own length.
TEST(Tickets, WhatRoundingLeavesMayGoToAFarNarrowerToken) {
  const Distribution p = distribution({0.9999952870356915, 3.789867136150178e-226, 4.7119643131525595e-06});
  const Distribution q = distribution({0.9999952880356868, 3.789867136150173e-226, 4.7119643131525595e-06});
  const auto plan = tickets(p, 2, q);
  EXPECT_LE(distance(enumerate_distribution(*plan, 3), q), 1e-14);
  EXPECT_LE(worst_conditional(*plan, 3), 1e-14);
}

/// Counts draws.
class CountingChoices final : public Choices {
 public:
  std::size_t draw(std::span<const double> weights) override {
    ++draws;
    return random_.draw(weights);
  }
  void enter(const Place& place) override { random_.enter(place); }

  std::size_t draws = 0;

 private:
  CounterRandom random_{1};
};

// There is at most one draw per distinct token, and one from the residual, so there are few
// outcomes for any number of drafts.
TEST(Tickets, EqualDraftsAreDrawnAtOnce) {
  RandomDistributions random(18);
  for (int n = 0; n < 60; ++n) {
    SCOPED_TRACE(n);
    const bool two = n % 2 == 0;
    const std::size_t vocabulary = two ? 2 : 3, k = two ? 1 + random.below(17) : 8;
    const Distribution p = hard_distribution(random, vocabulary, n / 2 % 4),
                       q = hard_distribution(random, vocabulary, n / 8 % 4);
    const auto plan = tickets(p, k, q);
    std::vector<double> distribution_of_y(vocabulary, 0.0);
    std::vector<Token> drafts;
    std::vector<std::size_t> copies(vocabulary, 0);
    for (copies[0] = 0; copies[0] <= k; ++copies[0]) {
      for (copies[1] = 0; copies[0] + copies[1] <= k; ++copies[1]) {
        if (two && copies[0] + copies[1] < k) continue;
        if (!two) copies[2] = k - copies[0] - copies[1];
        double weight = std::tgamma(static_cast<double>(k) + 1.0);
        drafts.clear();
        for (std::size_t x = 0; x < vocabulary; ++x) {
          const auto m = static_cast<double>(copies[x]);
          weight *= std::pow(p[static_cast<Token>(x)], m) / std::tgamma(m + 1.0);
          drafts.insert(drafts.end(), copies[x], static_cast<Token>(x));
        }
        if (!(weight > 0.0)) continue;
        const std::vector<double> given = enumerate_select(*plan, drafts, vocabulary);
        EXPECT_LE(distance(given, plan->conditional(drafts)), 1e-12);
        CountingChoices choices;
        plan->select(drafts, choices);
        EXPECT_LE(choices.draws, vocabulary + 1);
        std::ranges::reverse(drafts);
        EXPECT_LE(distance(enumerate_select(*plan, drafts, vocabulary), plan->conditional(drafts)), 1e-12);
        for (std::size_t x = 0; x < vocabulary; ++x) distribution_of_y[x] += weight * given[x];
      }
    }
    EXPECT_LE(distance(distribution_of_y, q), 1e-12);
  }
  const Distribution p = distribution({0.7, 0.3}), q = distribution({0.2, 0.8});
  EXPECT_LE(distance(enumerate_distribution(*tickets(p, 17, q), 2), q), 1e-12);
}

TEST(Tickets, ATokenOfManyPiecesHasTheDistributionOfItsCopies) {
  RandomDistributions random(19);
  std::uint32_t most = 0;
  for (int n = 0; n < 8; ++n) {
    const Distribution p = hard_distribution(random, 20'000, n % 4),
                       q = hard_distribution(random, 20'000, n / 4);
    constexpr std::size_t k = 6;
    const auto plan = tickets(p, k, q);
    const auto of = lay_tickets(p.probabilities(), q.probabilities(), k).of;
    const auto widest = std::ranges::max_element(of, {}, &TicketLayout::Range::count);
    most = std::max(most, widest->count);
    std::vector<Token> drafts(k, static_cast<Token>(widest - of.begin()));
    EXPECT_LE(distance(enumerate_select(*plan, drafts, 20'000), plan->conditional(drafts)), 1e-12);
  }
  EXPECT_GT(most, 3u);
}

// Rounding must not let one win, however narrow; if all drafts are such tokens, another token is returned.
TEST(Tickets, TokensThatTheTargetNeverGivesNeverWin) {
  RandomDistributions random(20);
  std::size_t never = 0;
  for (int n = 0; n < 2000; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 2 + random.below(5), k = 1 + random.below(4);
    const Distribution p = hard_distribution(random, vocabulary, n % 4);
    std::vector<double> weights(vocabulary);
    for (double& w : weights) w = random.uniform() < 0.5 ? 0.0 : std::exp(-600.0 * random.uniform());
    weights[random.below(vocabulary)] += n % 3 == 0 ? 1.0 : 1e-9;
    const Distribution q = distribution(weights);
    const auto plan = tickets(p, k, q);
    const auto distribution_of_y = enumerate_distribution(*plan, vocabulary);
    EXPECT_LE(distance(distribution_of_y, q), 1e-12);
    const auto residual = plan->residual();
    for (std::size_t x = 0; x < vocabulary; ++x) {
      const auto token = static_cast<Token>(x);
      if (q[token] > 0.0) continue;
      EXPECT_EQ(distribution_of_y[x], 0.0);
      if (residual) {
        EXPECT_EQ((*residual)[token], 0.0);
      }
      if (!(p[token] > 0.0)) continue;
      ++never;
      const std::vector<Token> drafts(k,
                                      token);  // possibly too rare to show up in the enumerated distribution
      const auto given = enumerate_select(*plan, drafts, vocabulary);
      const Distribution formula = plan->conditional(drafts);
      EXPECT_LE(distance(given, formula), 1e-12);
      for (std::size_t y = 0; y < vocabulary; ++y) {
        if (!(q[static_cast<Token>(y)] > 0.0)) {
          EXPECT_EQ(given[y], 0.0);
          EXPECT_EQ(formula[static_cast<Token>(y)], 0.0);
        }
      }
    }
  }
  EXPECT_GT(never, 1000u);
}

TEST(Tickets, DifferentDraftDistributionsAreRefused) {
  const std::vector<Distribution> p = {distribution({1, 1}), distribution({1, 3})};
  const auto plan = build_tickets(several(p), p[0], {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().message,
            "optimal: all 2 drafts must come from one law; for different laws use otm-lp or str++");
}

// The false-alarm rate is 1e-6 for each of two distributions.
TEST(Tickets, SamplesFollowTheTarget) {
  RandomDistributions random(16);
  for (const std::size_t k : {2u, 6u}) {
    const Distribution p = random.dense(50), q = random.dense(50);
    const auto plan = tickets(p, k, q);
    std::vector<std::uint64_t> counts(50);
    std::vector<Token> drafts(k);
    for (std::uint64_t n = 0; n < 40'000; ++n) {
      CounterRandom choices(7, n);
      plan->draw(drafts, choices);
      ++counts[static_cast<std::size_t>(plan->select(drafts, choices).token)];
    }
    EXPECT_GT(chi_square_p_value(counts, q.probabilities()), 1e-6);
  }
}

}  // namespace
}  // namespace spectr

// Plans for a target of mass w: accepted draws and the residual sum to w q, and the acceptance is optimal.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spectr/base/enumerator.h"
#include "spectr/transport/drafting.h"
#include "spectr/transport/plans/tickets.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using Make = std::unique_ptr<PartialPlan> (*)(std::span<const Token> draws, const Distribution& p, double w,
                                              const Distribution& q);

std::unique_ptr<PartialPlan> coupling(std::span<const Token>, const Distribution& p, double w,
                                      const Distribution& q) {
  return build_partial_coupling(p, w, q);
}
std::unique_ptr<PartialPlan> tickets(std::span<const Token> draws, const Distribution& p, double w,
                                     const Distribution& q) {
  return build_partial_tickets(p, draws.size(), w, q);
}

/// The masses that a plan serves over all draws: for each token, by rejections, and by accepted draws.
struct Served {
  std::vector<double> tokens;
  double rejected = 0.0, accepted = 0.0;
};

Served served(Make make, const Distribution& p, const Distribution& q, std::size_t k, double w,
              Drafting drafting = Drafting::independent) {
  Served all{std::vector<double>(q.vocabulary(), 0.0)};
  Enumerator choices;
  do {
    RecycledVector<Token> draws;
    if (drafting == Drafting::independent) {
      for (std::size_t i = 0; i < k; ++i) draws.push_back(p.draw(choices));
    } else {
      draws = draw_likeliest_and_one(p, k, choices);
    }
    const auto plan = make(draws, p, w, q);
    const RecycledVector<double> A = plan->accepted(draws);
    double left = 1.0;
    const std::optional<Token> next = plan->draw_rejected(choices);
    const double share = choices.probability();  // of draws and later choices
    for (std::size_t i = 0; i < draws.size(); ++i) {
      all.tokens[static_cast<std::size_t>(draws[i])] += share * A[i];
      all.accepted += share * A[i];
      left -= A[i];
    }
    if (next) {
      all.tokens[static_cast<std::size_t>(*next)] += share * left;
    } else {
      all.rejected += share * left;
    }
  } while (choices.next());
  return all;
}

void expect_serves(const Served& all, const Distribution& q, double w, const char* what) {
  for (std::size_t x = 0; x < q.vocabulary(); ++x)
    EXPECT_NEAR(all.tokens[x], w * q[static_cast<Token>(x)], 1e-13) << what << ", token " << x << ", w " << w;
  EXPECT_NEAR(all.rejected, 1.0 - w, 1e-13) << what << ", w " << w;
}

constexpr double shares[] = {0.0, 1e-9, 0.3, 0.7, 0.999, 1.0};

TEST(PartialPlan, ServesItsShareOfTheTarget) {
  test::RandomDistributions random(5);
  for (int i = 0; i < 20; ++i) {
    const Distribution p = random.any(4), q = random.any(4);
    for (const double w : shares) {
      expect_serves(served(coupling, p, q, 1, w), q, w, "coupling");
      for (const std::size_t k : {2u, 3u}) {
        const Served all = served(tickets, p, q, k, w);
        expect_serves(all, q, w, "tickets");
        EXPECT_NEAR(all.accepted, PartialAcceptance(p, k, q)(w), 1e-13);
      }
      for (const std::size_t k : {1u, 2u, 3u, 5u}) {
        expect_serves(served(build_partial_likeliest, p, q, k, w, Drafting::likeliest_and_one), q, w,
                      "likeliest");
      }
    }
  }
}

TEST(PartialPlan, OfShortDistributionsIsThatOfDenseOnes) {
  const Token tokens[] = {3, 90, 4000};
  const double p_weights[] = {.5, .3, .2}, q_weights[] = {.2, .3, .5};
  const Distribution p = Distribution::from_weights(tokens, p_weights, 5000),
                     q = Distribution::from_weights(tokens, q_weights, 5000),
                     dense_p = Distribution::from_weights(p_weights),
                     dense_q = Distribution::from_weights(q_weights);
  const auto plan = build_partial_tickets(p, 2, 0.8, q),
             dense = build_partial_tickets(dense_p, 2, 0.8, dense_q);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const auto A = plan->accepted(std::vector<Token>{tokens[i], tokens[j]});
      const auto B = dense->accepted(std::vector<Token>{static_cast<Token>(i), static_cast<Token>(j)});
      for (std::size_t at = 0; at < 2; ++at) EXPECT_NEAR(A[at], B[at], 1e-15);
    }
  }
}

// More than 512 tokens are grouped into classes.
TEST(PartialPlan, OfManyTokensServesItsShare) {
  test::RandomDistributions random(6);
  const Distribution p = random.dense(600), q = random.dense(600);
  const double w = 0.6;
  const auto plan = build_partial_tickets(p, 2, w, q);
  std::vector<double> accepted(600, 0.0);
  double all = 0.0;
  for (Token x = 0; x < 600; ++x) {
    for (Token y = 0; y < 600; ++y) {
      if (!(p[x] > 0.0 && p[y] > 0.0)) continue;  // never drawn
      const Token draws[] = {x, y};
      const auto A = plan->accepted(draws);
      accepted[static_cast<std::size_t>(x)] += p[x] * p[y] * A[0];
      accepted[static_cast<std::size_t>(y)] += p[x] * p[y] * A[1];
      all += p[x] * p[y] * (A[0] + A[1]);
    }
  }
  EXPECT_NEAR(all, PartialAcceptance(p, 2, q)(w), 1e-12);
  for (Token x = 0; x < 600; ++x) EXPECT_LE(accepted[static_cast<std::size_t>(x)], w * q[x] + 1e-12);
}

TEST(Drafting, OfTheLikeliestAndOneNeverRepeatsAToken) {
  const double weights[] = {.1, .4, .1, .4, 0};
  const Distribution p = Distribution::from_weights(weights);
  std::vector<double> last(5, 0.0);
  Enumerator choices;
  do {
    const auto draws = draw_likeliest_and_one(p, 3, choices);
    ASSERT_EQ(draws.size(), 3);
    EXPECT_EQ(draws[0], 1);
    EXPECT_EQ(draws[1], 3);
    last[static_cast<std::size_t>(draws[2])] += choices.probability();
  } while (choices.next());
  EXPECT_NEAR(last[0], 0.5, 1e-15);
  EXPECT_NEAR(last[2], 0.5, 1e-15);
  Enumerator none;
  EXPECT_EQ(draw_likeliest_and_one(p, 9, none).size(), 4) << "token 4 is never drafted";
}

}  // namespace
}  // namespace spectr

// Tests of every row of the table of plans.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>

#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"
#include "tests/transport/distributions.h"
#include "tests/transport/gallery.h"

namespace spectr {

void PrintTo(const PlanRule& rule, std::ostream* out) {
  *out << rule.name;
}

namespace {

using namespace test;

std::size_t drafts_for(const PlanRule& rule, std::size_t k) {
  return rule.max_drafts == 0 ? k : std::min(k, rule.max_drafts);
}

class EveryPlan : public ::testing::TestWithParam<PlanRule> {
 protected:
  std::unique_ptr<TransportPlan> build(const DraftDistributions& p, const Distribution& q) const {
    return GetParam().build(p, q, {}).value();
  }

  // Checks everything that enumeration can show about one plan.
  void expect_exact(const TransportPlan& plan, const Distribution& q) const {
    if (GetParam().lossless) {
      EXPECT_LE(distance(enumerate_distribution(plan, q.vocabulary()), q), 1e-12);
    }
    EXPECT_GE(plan.acceptance(), 0.0);
    EXPECT_LE(plan.acceptance(), 1.0);
    EXPECT_NEAR(enumerate_acceptance(plan), plan.acceptance(), 1e-12);
    EXPECT_LE(worst_conditional(plan, q.vocabulary()), 1e-12);
  }
};

TEST_P(EveryPlan, IsExactOnTheGallery) {
  for (const gallery::Problem& problem : gallery::problems()) {
    SCOPED_TRACE(problem.name);
    const Distribution p = distribution(problem.p), q = distribution(problem.q);
    expect_exact(*build({p, drafts_for(GetParam(), problem.k)}, q), q);
  }
}

TEST_P(EveryPlan, IsExactOnRandomDistributions) {
  RandomDistributions random(1);
  for (int n = 0; n < 120; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 1 + random.below(5), k = drafts_for(GetParam(), 1 + random.below(3));
    const Distribution p = random.any(vocabulary), q = random.any(vocabulary);
    expect_exact(*build({p, k}, q), q);
  }
}

TEST_P(EveryPlan, IsExactForDifferentDrafters) {
  if (!GetParam().several_distributions) GTEST_SKIP() << "it takes drafts of one law";
  RandomDistributions random(2);
  for (int n = 0; n < 80; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 1 + random.below(5), k = 1 + random.below(3);
    std::vector<Distribution> p;
    while (p.size() < k) p.push_back(random.any(vocabulary));
    const Distribution q = random.any(vocabulary);
    expect_exact(*build(several(p), q), q);
  }
}

// Rounding of sums must not make the acceptance negative.
TEST_P(EveryPlan, AcceptsNothingOfDisjointDistributions) {
  RandomDistributions random(4);
  for (int n = 0; n < 300; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 2 + random.below(16), k = drafts_for(GetParam(), 1 + random.below(3));
    std::vector<double> p(vocabulary, 0.0), q(vocabulary, 0.0);
    p.front() = q.back() = random.uniform();
    for (std::size_t x = 1; x + 1 < vocabulary; ++x) (random.below(2) == 0 ? p : q)[x] = random.uniform();
    const Distribution p_distribution = distribution(p), q_distribution = distribution(q);
    const auto plan = build({p_distribution, k}, q_distribution);
    EXPECT_GE(plan->acceptance(), 0.0);
    EXPECT_LE(plan->acceptance(), 1e-15);
  }
}

TEST_P(EveryPlan, RequiresOneVocabulary) {
  const Distribution two = distribution({0.5, 0.5}), three = distribution({0.2, 0.3, 0.5}),
                     short_two = Distribution::point(0, 2);
  for (const auto& [p, q] :
       {std::pair(&two, &three), std::pair(&three, &two), std::pair(&short_two, &three)}) {
    EXPECT_THROW(GetParam().build({*p, 1}, *q, {}), BrokenContract);
  }
}

TEST_P(EveryPlan, GivesTheSameForDenseAndShortDistributions) {
  RandomDistributions random(3);
  for (int n = 0; n < 30; ++n) {
    const std::size_t vocabulary = 3 + random.below(4), k = drafts_for(GetParam(), 2);
    const Distribution p = random.shortened(vocabulary), q = random.shortened(vocabulary);
    const auto dense = [vocabulary](const Distribution& d) {
      std::vector<double> all(vocabulary);
      for (std::size_t x = 0; x < vocabulary; ++x) all[x] = d[static_cast<Token>(x)];
      return distribution(all);
    };
    const Distribution dense_p = dense(p), dense_q = dense(q);
    const auto a = build({p, k}, q), b = build({dense_p, k}, dense_q);
    EXPECT_NEAR(a->acceptance(), b->acceptance(), 1e-12);
    ASSERT_EQ(a->drafts(), b->drafts());
    std::vector<Token> drafts(a->drafts());
    Enumerator outcomes;
    do {
      a->draw(drafts, outcomes);
      EXPECT_LE(2 * total_variation(a->conditional(drafts), b->conditional(drafts)), 1e-9);
    } while (outcomes.next());
  }
}

TEST_P(EveryPlan, ResidualIsTheDistributionOfYAfterRejections) {
  const Distribution p = distribution({0.5, 0.3, 0.2}), q = distribution({0.2, 0.3, 0.5});
  const auto plan = build({p, drafts_for(GetParam(), 2)}, q);
  const auto residual = plan->residual();
  ASSERT_EQ(residual.has_value(), GetParam().name != "recursive-wor") << "there it depends on the drafts";
  if (!residual) return;
  std::vector<double> rejected(3, 0.0);
  std::vector<Token> drafts(plan->drafts());
  Enumerator outcomes;
  do {
    plan->draw(drafts, outcomes);
    const Selection y = plan->select(drafts, outcomes);
    if (!y.accepted) rejected[static_cast<std::size_t>(y.token)] += outcomes.probability();
  } while (outcomes.next());
  EXPECT_LE(total_variation(distribution(rejected), *residual), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Plans, EveryPlan, ::testing::ValuesIn(plan_rules().begin(), plan_rules().end()),
                         [](const auto& rule) {
                           std::string name(rule.param.name);
                           for (char& c : name) {
                             if (c == '-') c = '_';
                             if (c == '+') c = 'P';
                           }
                           return name;
                         });

TEST(PlanTable, PlansOfOneDistributionRefuseDifferentDrafters) {
  const std::vector<Distribution> p = {distribution({0.5, 0.5}), distribution({0.25, 0.75})};
  for (const PlanRule& rule : plan_rules()) {
    EXPECT_EQ(rule.build(several(p), p[0], {}).has_value(), rule.several_distributions) << rule.name;
  }
}

TEST(PlanTable, NamesAreDistinctAndFound) {
  for (const PlanRule& rule : plan_rules()) {
    const auto found = find_plan(rule.name);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, &rule);
  }
}

TEST(PlanTable, UnknownNameListsTheKnownOnes) {
  const auto found = find_plan("kseq");
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().message.find("'kseq'"), std::string::npos);
  EXPECT_NE(found.error().message.find("k-seq, recursive"), std::string::npos);
}

}  // namespace
}  // namespace spectr

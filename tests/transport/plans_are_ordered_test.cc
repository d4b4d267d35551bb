// The order of the plans' acceptances, as properties of random distributions.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "spectr/transport/acceptance_bounds.h"
#include "spectr/transport/plans.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

constexpr double rounding = 1e-12;

struct Instance {
  std::vector<double> p, q;
  std::size_t k;
};

void showValue(const Instance& instance, std::ostream& out) {
  out << "p = " << rc::toString(instance.p) << ", q = " << rc::toString(instance.q) << ", k = " << instance.k;
}

// Generates small integer weights: zeros, ties and proportional distributions are frequent, and
// failures shrink to readable ones.
rc::Gen<std::vector<double>> weights(std::size_t vocabulary) {
  const auto any = rc::gen::map(rc::gen::inRange(0, 12), [](int w) { return static_cast<double>(w); });
  return rc::gen::suchThat(
      rc::gen::container<std::vector<double>>(vocabulary, any),
      [](const std::vector<double>& all) { return *std::ranges::max_element(all) > 0.0; });
}

rc::Gen<Instance> instances() {
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(1, 7), [](std::size_t vocabulary) {
    return rc::gen::construct<Instance>(weights(vocabulary), weights(vocabulary),
                                        rc::gen::inRange<std::size_t>(1, 7));
  });
}

double acceptance(std::string_view plan, const Instance& instance) {
  const Distribution p = distribution(instance.p), q = distribution(instance.q);
  return find_plan(plan).value()->build({p, instance.k}, q, {}).value()->acceptance();
}

double optimum(const Instance& instance) {
  return optimal_acceptance(distribution(instance.p), distribution(instance.q), instance.k);
}

// Checks the property for 300 instances with a fixed seed.
template <class Property>
void for_all_instances(Property property) {
  rc::detail::TestParams params;
  params.seed = 20231015;
  params.maxSuccess = 300;
  const auto result =
      rc::detail::checkTestable([&] { property(*instances()); }, rc::detail::TestMetadata{}, params);
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << message.str();
}

TEST(PlanOrder, MaximalIsAtMostRecursive) {
  for_all_instances([](const Instance& instance) {
    RC_ASSERT(acceptance("maximal", {instance.p, instance.q, 1}) <=
              acceptance("recursive", instance) + rounding);
  });
}

TEST(PlanOrder, KSeqReachesItsGuarantee) {
  for_all_instances([](const Instance& instance) {
    RC_ASSERT(acceptance("k-seq", instance) >= guaranteed_share(instance.k) * optimum(instance) - rounding);
  });
}

TEST(PlanOrder, NoPlanForIndependentDraftsExceedsTheOptimum) {
  for_all_instances([](const Instance& instance) {
    for (const PlanRule& rule : plan_rules()) {
      if (rule.drafting != Drafting::independent || !rule.lossless) continue;
      if (rule.max_tuples > 0.0) continue;  // see the next test
      RC_ASSERT(acceptance(rule.name, instance) <= optimum(instance) + rounding);
    }
  });
}

TEST(PlanOrder, TicketsAndLinearProgramReachTheOptimum) {
  for_all_instances([](const Instance& instance) {
    RC_ASSERT(std::abs(acceptance("optimal", instance) - optimum(instance)) <= rounding);
    const double tuples = std::pow(instance.p.size(), instance.k);
    if (tuples <= 500) {
      RC_ASSERT(std::abs(acceptance("otm-lp", instance) - optimum(instance)) <= 1e-9);
    }
  });
}

TEST(PlanOrder, LinearProgramsImproveOnKSeqInTurn) {
  for_all_instances([](const Instance& instance) {
    const double k_seq = acceptance("k-seq", instance), plus = acceptance("str+", instance),
                 plus_plus = acceptance("str++", instance);
    RC_ASSERT(k_seq <= plus + 1e-9);
    RC_ASSERT(plus <= plus_plus + 1e-9);
  });
}

// This includes recursive-wor: more different drafts never hurt, up to the support's size.
TEST(PlanOrder, MoreDraftsAreNeverWorse) {
  for_all_instances([](const Instance& instance) {
    for (const PlanRule& rule : plan_rules()) {
      if (!rule.lossless || rule.max_tuples > 0.0) continue;
      RC_ASSERT(acceptance(rule.name, instance) <=
                acceptance(rule.name, {instance.p, instance.q, instance.k + 1}) + 1e-9);
    }
  });
}

TEST(PlanOrder, EqualDistributionsAreAlwaysAccepted) {
  for_all_instances([](const Instance& instance) {
    for (const PlanRule& rule : plan_rules()) {
      const std::size_t k = rule.max_drafts == 0 ? std::min<std::size_t>(instance.k, 3) : 1;
      const double tolerance = rule.max_tuples > 0.0 ? 1e-9 : 0.0;  // the solver's tolerance
      RC_ASSERT(1.0 - acceptance(rule.name, {instance.p, instance.p, k}) <= tolerance);
    }
  });
}

// This holds for drafts from one distribution. Proof: recursive rejection uses up C_m p of the target after
// m rejections, with C_{m+1} = C_m + u(C_m) and u(C) = Σ (q − C p)₊, and rejects with probability u(C_k);
// k-Seq rejects with probability u(ρ). u is convex, u(0) = 1 and u(ρ) = 1 − ρβ, so u(C) ≤ 1 − βC on [0, ρ];
// and C + u(C) is non-decreasing. Hence C_k is at most the k-th iterate of C ← 1 + (1−β) C from 0, which is
// p_acc/β = ρ; and u is non-increasing.
TEST(PlanOrder, RecursiveIsAtMostKSeq) {
  for_all_instances([](const Instance& instance) {
    RC_ASSERT(acceptance("recursive", instance) <= acceptance("k-seq", instance) + rounding);
  });
}

// For different draft distributions the two are not ordered: a useless first draft costs k-Seq nothing, but a
// division factor must fit all drafts at once.
TEST(PlanOrder, RecursiveAndKSeqAreNotOrderedForDifferentDrafters) {
  const auto accept = [](std::string_view plan, const std::vector<Distribution>& p, const Distribution& q) {
    return find_plan(plan).value()->build(several(p), q, {}).value()->acceptance();
  };
  const std::vector<Distribution> equal = {distribution({3, 2, 1}), distribution({3, 2, 1})};
  const Distribution q = distribution({1, 2, 3});
  EXPECT_GT(accept("k-seq", equal, q), accept("recursive", equal, q) + 0.01);
  const std::vector<Distribution> apart = {distribution({9, 1}), distribution({1, 9})};
  EXPECT_GT(accept("recursive", apart, distribution({1, 1})),
            accept("k-seq", apart, distribution({1, 1})) + 0.01);
}

}  // namespace
}  // namespace spectr

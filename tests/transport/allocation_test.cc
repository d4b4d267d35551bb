// Selecting allocates nothing: plans do all of that when they are built.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "spectr/base/counter_random.h"
#include "spectr/transport/plans.h"

namespace {

std::atomic<std::size_t> allocations = 0;

}  // namespace

// Every allocation of this program passes here. (Inlined, GCC takes malloc and free for a mismatched pair.)
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace spectr {
namespace {

TEST(Select, AllocatesNothing) {
  const auto p = Distribution::from_weights({0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05});
  const auto q = Distribution::from_weights({0.05, 0.05, 0.3, 0.1, 0.1, 0.1, 0.1, 0.2});
  for (const PlanRule& rule : plan_rules()) {
    const auto plan = rule.build(DraftLaws(p, rule.most_drafts == 1 ? 1 : 3), q, {.epsilon = 0.01});
    ASSERT_TRUE(plan) << rule.name;
    CounterRandom choices(7);
    std::vector<Token> drafts((*plan)->drafts());
    std::size_t inside = 0, rejected = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
      choices.enter({.block = i});
      (*plan)->draw(drafts, choices);
      const std::size_t before = allocations;
      const Selection y = (*plan)->select(drafts, choices);
      inside += allocations - before;
      rejected += y.accepted ? 0 : 1;
    }
    EXPECT_EQ(inside, 0u) << rule.name;
    EXPECT_GT(rejected, 0u) << rule.name << ": the residual was never drawn from";
  }
}

}  // namespace
}  // namespace spectr

#include "spectr/transport/tickets.h"

#include <gtest/gtest.h>

#include "spectr/transport/plan_check.h"

namespace spectr {
namespace {

TEST(Tickets, AcceptanceMatchesGoldenValues) {
  const Distribution p = Distribution::from_weights({3, 2, 1}), q = Distribution::from_weights({1, 2, 3});
  const auto two = build_tickets({p, 2}, q, {});
  EXPECT_NEAR((*two)->acceptance(), 29.0 / 36.0, 1e-15);
  const auto law = enumerate_law(**two, 3);
  for (int x = 0; x < 3; ++x) EXPECT_NEAR(law[static_cast<std::size_t>(x)], q[x], 1e-15);
}

}  // namespace
}  // namespace spectr

#include "spectr/backend/sharded/stoppable_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "spectr/backend/sharded/messages.h"

namespace spectr {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// Records the orders that it receives.
class NotingCommunicator final : public Communicator {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t ranks() const override { return 2; }
  std::size_t all_ranks() const override { return 2; }
  void use_first(std::size_t /*ranks*/) override {}
  std::string name_of(std::size_t rank) const override { return fmt::format("rank {}", rank); }
  Result<void> broadcast(std::vector<std::byte>& bytes) override {
    MessageReader(bytes).get(orders.emplace_back());
    return {};
  }
  Result<void> send(std::size_t /*to*/, std::span<const float> /*numbers*/) override { return {}; }
  Result<void> receive(std::size_t /*from*/, std::span<float> /*numbers*/) override { return {}; }
  Result<void> all_reduce_sum(std::span<float> /*numbers*/) override { return {}; }
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> /*mine*/, Patience) override {
    return {};
  }

  std::vector<Order> orders = {};
};

bool tell(Communicator& ranks, Order order) {
  MessageWriter out;
  out.put(order);
  return ranks.broadcast(out.bytes()).has_value();
}

TEST(StoppableCommunicator, TakesNoNewOrdersOnceItIsStopped) {
  NotingCommunicator ranks;
  StoppableCommunicator leader(ranks);
  EXPECT_TRUE(tell(leader, Order::load) && tell(leader, Order::load) && tell(leader, Order::pass));
  leader.stop();
  EXPECT_FALSE(tell(leader, Order::pass));
  EXPECT_FALSE(tell(leader, Order::reserve));
  std::vector<float> numbers(3);
  EXPECT_TRUE(leader.all_reduce_sum(numbers)) << "what was begun is completed";
  EXPECT_TRUE(tell(leader, Order::end)) << "models may end";
  EXPECT_FALSE(tell(leader, Order::load));
  EXPECT_THAT(ranks.orders, ElementsAre(Order::load, Order::load, Order::pass, Order::end));
}

TEST(StoppableCommunicator, CompletesAnOrderToLoad) {
  NotingCommunicator ranks;
  StoppableCommunicator leader(ranks);
  EXPECT_TRUE(tell(leader, Order::load));
  leader.stop();
  EXPECT_TRUE(tell(leader, Order::load)) << "the other ranks wait for it";
  EXPECT_FALSE(tell(leader, Order::reserve));
}

TEST(StoppableCommunicator, LeavesNoRankWaiting) {
  const std::vector<std::pair<std::vector<Order>, std::vector<Order>>> cases = {
      {{}, {Order::end}},
      {{Order::load}, {Order::load, Order::end, Order::end}},
      {{Order::load, Order::load}, {Order::load, Order::load, Order::end, Order::end}},
      {{Order::load, Order::load, Order::end}, {Order::load, Order::load, Order::end, Order::end}},
      {{Order::load, Order::end}, {Order::load, Order::end, Order::end}},
  };
  for (const auto& [before, all] : cases) {
    NotingCommunicator ranks;
    StoppableCommunicator leader(ranks);
    for (const Order order : before) EXPECT_TRUE(tell(leader, order));
    EXPECT_TRUE(leader.leave(20s));
    EXPECT_EQ(ranks.orders, all) << "an end for the model, and one for the job";
  }
}

}  // namespace
}  // namespace spectr

// Ranks as threads of one process: communication between them.
#include "spectr/backend/sharded/thread_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace spectr {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Returns the results of `body` on every rank of a communicator.
template <class Body>
auto on_all(std::size_t ranks, std::chrono::milliseconds patience, const Body& body) {
  auto communicators = thread_communicators(ranks, patience);
  std::vector<decltype(body(*communicators.front()))> results(ranks);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank, mine = std::move(communicators[rank])] { results[rank] = body(*mine); });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

TEST(ThreadCommunicator, AddsInTheOrderOfRanksAndGivesAllTheSameBits) {
  constexpr std::size_t ranks = 3, count = 1001, rounds = 50;
  const auto number = [](std::size_t rank, std::size_t i, std::size_t round) {
    return std::sin(static_cast<float>(1 + rank + 7 * i + 13 * round)) * std::exp(static_cast<float>(i % 20));
  };
  const auto wrong = on_all(ranks, 20s, [&](Communicator& communicator) {
    std::size_t mistakes = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<float> numbers(count - round);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number(communicator.rank(), i, round);
      EXPECT_TRUE(communicator.all_reduce_sum(numbers));
      for (std::size_t i = 0; i < numbers.size(); ++i)
        mistakes += numbers[i] != number(0, i, round) + number(1, i, round) + number(2, i, round);
    }
    return mistakes;
  });
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0));
}

TEST(ThreadCommunicator, BringsBytesToAllAndToTheLeader) {
  const auto seen = on_all(3, 20s, [](Communicator& communicator) {
    std::string all;
    for (int round = 0; round < 20; ++round) {
      std::vector<std::byte> bytes;
      if (communicator.rank() == 0) bytes.assign(static_cast<std::size_t>(1 + round), std::byte{'a'});
      EXPECT_TRUE(communicator.broadcast(bytes));
      EXPECT_EQ(bytes.size(), 1 + round);
      const std::byte mine{static_cast<unsigned char>('0' + communicator.rank())};
      const auto gathered = communicator.gather(std::span(&mine, 1));
      EXPECT_TRUE(gathered);
      for (const auto& one : *gathered) all += static_cast<char>(one.front());
    }
    return all.substr(0, 6);
  });
  EXPECT_THAT(seen, ElementsAre("012012", "", ""));
}

TEST(ThreadCommunicator, PassesNumbersFromOneRankToAnother) {
  const auto seen = on_all(3, 20s, [](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    std::vector<float> numbers(3);
    for (int round = 0; round < 20; ++round) {
      if (rank == 0) numbers.assign(3, static_cast<float>(round));
      const bool came = rank == 0 || communicator.receive(rank - 1, numbers);
      for (float& one : numbers) one += 1;
      const bool went = communicator.send((rank + 1) % 3, numbers).has_value();
      EXPECT_TRUE(came && went);
      if (rank > 0) continue;
      EXPECT_TRUE(communicator.receive(2, numbers));
      EXPECT_THAT(numbers, testing::Each(static_cast<float>(round + 3)));
    }
    return numbers.front();
  });
  EXPECT_THAT(seen, ElementsAre(22, 21, 22));
  const auto errors = on_all(2, 20s, [](Communicator& communicator) {
    std::vector<float> numbers(communicator.rank() + 1);
    if (communicator.rank() == 0) return communicator.send(1, numbers) ? "" : "not sent";
    return communicator.receive(0, numbers) ? "" : "another size";
  });
  EXPECT_THAT(errors, ElementsAre("", "another size"));
}

TEST(ThreadCommunicator, TheFirstRanksAreByThemselvesWhereTheOthersTakeNoPart) {
  const auto sums = on_all(3, 20s, [](Communicator& communicator) {
    float sum = 0;
    for (const std::size_t ranks : {2, 3, 1, 2}) {
      if (communicator.rank() >= ranks) continue;
      communicator.use_first(ranks);
      for (int round = 0; round < 3; ++round) {
        float one = 1;
        EXPECT_TRUE(communicator.all_reduce_sum({&one, 1}));
        sum += one;
      }
    }
    return sum;
  });
  EXPECT_THAT(sums, ElementsAre(24, 21, 9));
}

TEST(ThreadCommunicator, NamesARankThatDoesNotAnswerAndOneThatHasGone) {
  const auto errors = on_all(3, 50ms, [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(500ms);
      return std::string();
    }
    std::vector<float> numbers(10);
    const auto first = communicator.all_reduce_sum(numbers);
    const auto second = communicator.gather({});
    return first || second ? std::string("no error") : first.error().message + "; " + second.error().message;
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 1 has not answered for 50 ms; rank 1"));
  const auto gone = on_all(2, 20s, [](Communicator& communicator) {
    if (communicator.rank() == 1) return std::string();
    const auto result = communicator.gather({});
    return result ? std::string() : result.error().message;
  });
  EXPECT_EQ(gone[0], "rank 1 has gone");
}

}  // namespace
}  // namespace spectr

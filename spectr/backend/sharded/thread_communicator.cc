#include "spectr/backend/sharded/thread_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "spectr/backend/sharded/model_part.h"
#include "spectr/base/check.h"
#include "spectr/base/relax.h"

namespace spectr {
namespace {

using Clock = std::chrono::steady_clock;

/// What a rank shows the others, who read it between two steps.
struct alignas(64) Place {
  std::atomic<std::uint64_t> step = 0;  // that it has come to; `gone` beside it where there will be no other
  std::span<const float> numbers;
  std::span<const std::byte> bytes;
  std::array<std::vector<float>, 2> sums;  // of its part of a reduction, and of the one before
};
constexpr std::uint64_t gone = std::uint64_t{1} << 63;

struct Meeting {
  Meeting(std::size_t ranks, std::chrono::milliseconds longest) : places(ranks), patience(longest) {}
  std::vector<Place> places;
  std::chrono::milliseconds patience;
  std::atomic<bool> has_failed = false;  // somebody has given up: what others show may be gone
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Meeting> meeting, std::size_t rank)
      : meeting_(std::move(meeting)), rank_(rank) {}

  /// Whoever waits for this rank is told so.
  ~ThreadCommunicator() override { come(step_ | gone); }

  std::size_t rank() const override { return rank_; }
  std::size_t ranks() const override { return meeting_->places.size(); }
  std::string name_of(std::size_t rank) const override { return fmt::format("rank {}", rank); }

  Result<void> broadcast(std::vector<std::byte>& bytes) override {
    if (rank_ == 0) mine().bytes = bytes;
    come(++step_);
    if (rank_ > 0) {
      SPECTR_TRY_VOID(wait_for(0, Patience::endless));
      const std::span<const std::byte> sent = meeting_->places[0].bytes;
      bytes.assign(sent.begin(), sent.end());
    }
    return meet();  // the leader may change them
  }

  Result<void> all_reduce_sum(std::span<float> numbers) override {
    // Sums are read until their readers come to the next reduction: two are kept in turn.
    turn_ ^= 1U;
    const Range part = part_of(numbers.size(), {rank_, ranks()});
    std::vector<float>& sums = mine().sums[turn_];
    sums.resize(part.size);
    mine().numbers = numbers;
    SPECTR_TRY_VOID(meet());
    const auto share_of = [&](const Place& place) { return place.numbers.subspan(part.first, part.size); };
    std::ranges::copy(share_of(meeting_->places[0]), sums.begin());
    for (std::size_t other = 1; other < ranks(); ++other) {
      const std::span<const float> more = share_of(meeting_->places[other]);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
    }
    SPECTR_TRY_VOID(meet());
    auto out = numbers.begin();
    for (const Place& place : meeting_->places) out = std::ranges::copy(place.sums[turn_], out).out;
    return {};
  }

  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes,
                                                     Patience patience) override {
    mine().bytes = bytes;
    SPECTR_TRY_VOID(meet(patience));
    std::vector<std::vector<std::byte>> all;
    if (rank_ == 0) {
      for (const Place& place : meeting_->places) all.emplace_back(place.bytes.begin(), place.bytes.end());
    }
    SPECTR_TRY_VOID(meet());
    return all;
  }

 private:
  Place& mine() { return meeting_->places[rank_]; }

  void come(std::uint64_t step) {
    mine().step.store(step, std::memory_order_release);
    mine().step.notify_all();
  }

  /// Until all have come so far.
  Result<void> meet(Patience patience = Patience::usual) {
    come(++step_);
    for (std::size_t other = 0; other < ranks(); ++other) {
      if (other != rank_) SPECTR_TRY_VOID(wait_for(other, patience));
    }
    return {};
  }

  Result<void> wait_for(std::size_t other, Patience patience) {
    // Parts of a layer are hundreds of microseconds apart where a rank was held up; who sleeps comes later.
    constexpr int spins = 10'000, yields = 2000;
    if (failure_) return std::unexpected(*failure_);
    const std::atomic<std::uint64_t>& step = meeting_->places[other].step;
    std::uint64_t seen = step.load(std::memory_order_acquire);
    const auto waits = [&] { return seen < step_; };  // one that has gone is far ahead
    for (int i = 0; waits() && i < spins; ++i) {
      relax();
      seen = step.load(std::memory_order_acquire);
    }
    const auto end = Clock::now() + meeting_->patience;
    for (int i = 0; waits(); ++i) {
      if (patience == Patience::endless) {
        step.wait(seen, std::memory_order_acquire);
      } else if (Clock::now() > end) {
        return fail(fmt::format("{} has not answered for {} ms", name_of(other), meeting_->patience.count()));
      } else if (i < yields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      seen = step.load(std::memory_order_acquire);
    }
    if ((seen & ~gone) < step_) return fail(fmt::format("{} has gone", name_of(other)));
    if (meeting_->has_failed.load()) return fail("another rank has given up");
    return {};
  }

  Result<void> fail(std::string message) {
    meeting_->has_failed.store(true);
    failure_ = Error{std::move(message)};
    return std::unexpected(*failure_);
  }

  std::shared_ptr<Meeting> meeting_;
  std::size_t rank_;
  std::uint64_t step_ = 0;
  unsigned turn_ = 0;  // of the sums
  std::optional<Error> failure_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> thread_communicators(std::size_t ranks,
                                                                std::chrono::milliseconds patience) {
  SPECTR_CHECK(ranks >= 1);
  const auto meeting = std::make_shared<Meeting>(ranks, patience);
  std::vector<std::unique_ptr<Communicator>> all;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    all.push_back(std::make_unique<ThreadCommunicator>(meeting, rank));
  return all;
}

}  // namespace spectr

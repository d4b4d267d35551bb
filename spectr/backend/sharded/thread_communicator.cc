#include "spectr/backend/sharded/thread_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "spectr/backend/sharded/mailbox.h"
#include "spectr/backend/sharded/range.h"
#include "spectr/base/check.h"
#include "spectr/base/relax.h"

namespace spectr {
namespace {

/// A rank's state that is visible to the others, who read it between two barriers.
struct alignas(64) RankState {
  Count steps;  // barriers reached
  std::span<const float> numbers;
  std::array<std::vector<float>, 2> sums;  // of its part of this reduction and of the previous one
};

struct Meeting {
  Meeting(std::size_t count, std::chrono::milliseconds longest)
      : ranks(count), orders(count), answers(count), numbers(count * count), patience(longest) {
    for (std::size_t some = 1; some <= count; ++some) rank_states.emplace_back(some);
  }
  std::size_t ranks;
  std::vector<std::vector<RankState>> rank_states;  // of the participants, by their number minus one
  std::vector<Mailbox> orders, answers;  // from the leader to a rank, and from a rank to the leader
  std::vector<Mailbox> numbers;          // [from * ranks + to]
  std::chrono::milliseconds patience;
  std::atomic<bool> has_failed = false;  // a rank gave up: what others expose may be gone
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Meeting> meeting, std::size_t rank)
      : meeting_(std::move(meeting)), rank_(rank), ranks_(meeting_->ranks) {}

  /// Notifies all ranks that wait for this one.
  ~ThreadCommunicator() override {
    for (std::size_t some = rank_; some < all_ranks(); ++some) meeting_->rank_states[some][rank_].steps.end();
    if (rank_ == 0) {
      for (Mailbox& box : meeting_->orders) box.puts.end();
    }
    meeting_->answers[rank_].puts.end();
    for (std::size_t other = 0; other < all_ranks(); ++other) {
      box(rank_, other).puts.end();
      box(other, rank_).takes.end();
    }
  }

  std::size_t rank() const override { return rank_; }
  std::size_t ranks() const override { return ranks_; }
  std::size_t all_ranks() const override { return meeting_->ranks; }
  void use_first(std::size_t ranks) override { ranks_ = ranks; }
  std::string name_of(std::size_t rank) const override { return fmt::format("rank {}", rank); }

  Result<void> broadcast(std::vector<std::byte>& bytes) override {
    SPECTR_TRY_VOID(state());
    if (rank_ > 0) return take(meeting_->orders[rank_], 0, bytes, Patience::endless);
    for (std::size_t other = 1; other < ranks_; ++other) meeting_->orders[other].put(bytes);
    return {};
  }

  Result<void> send(std::size_t to, std::span<const float> numbers) override {
    // At most one message may be pending, which limits how far a rank can run ahead of the next.
    Mailbox& out = box(rank_, to);
    const std::uint64_t put = out.puts.load();
    if (put > 0) SPECTR_TRY_VOID(wait_for(out.takes, put, to, Patience::usual));
    out.put(std::as_bytes(numbers));
    return state();
  }

  Result<void> receive(std::size_t from, std::span<float> numbers) override {
    std::vector<std::byte> bytes;
    SPECTR_TRY_VOID(take(box(from, rank_), from, bytes, Patience::usual));
    if (bytes.size() != numbers.size_bytes()) return fail(from, "has sent a message of another size");
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return {};
  }

  Result<void> all_reduce_sum(std::span<float> numbers) override {
    // Sums are read until their readers reach the next reduction (two barriers), so they are double-buffered.
    const std::size_t turn = mine().steps.load() / 2 % 2;
    const auto share_of = [&](std::size_t rank) {
      const Range part = part_of(numbers.size(), {rank_, ranks_});
      return rank_states()[rank].numbers.subspan(part.first, part.size);
    };
    mine().numbers = numbers;
    SPECTR_TRY_VOID(meet());
    std::vector<float>& sums = mine().sums[turn];
    sums.assign(share_of(0).begin(), share_of(0).end());
    for (std::size_t other = 1; other < ranks_; ++other) {
      const std::span<const float> more = share_of(other);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
    }
    SPECTR_TRY_VOID(meet());
    auto out = numbers.begin();
    for (std::size_t other = 0; other < ranks_; ++other)
      out = std::ranges::copy(rank_states()[other].sums[turn], out).out;
    return {};
  }

  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes,
                                                     Patience patience) override {
    SPECTR_TRY_VOID(state());
    std::vector<std::vector<std::byte>> all;
    if (rank_ > 0) {
      meeting_->answers[rank_].put(bytes);
      return all;
    }
    all.emplace_back(bytes.begin(), bytes.end());
    for (std::size_t other = 1; other < ranks_; ++other)
      SPECTR_TRY_VOID(take(meeting_->answers[other], other, all.emplace_back(), patience));
    return all;
  }

 private:
  std::vector<RankState>& rank_states() { return meeting_->rank_states[ranks_ - 1]; }
  RankState& mine() { return rank_states()[rank_]; }
  Mailbox& box(std::size_t from, std::size_t to) { return meeting_->numbers[from * all_ranks() + to]; }

  /// A barrier: waits until all ranks have reached this step.
  Result<void> meet() {
    mine().steps.add();
    const std::uint64_t step = mine().steps.load();
    for (std::size_t other = 0; other < ranks_; ++other) {
      if (other != rank_) SPECTR_TRY_VOID(wait_for(rank_states()[other].steps, step, other, Patience::usual));
    }
    return {};
  }

  Result<void> take(Mailbox& in, std::size_t other, std::vector<std::byte>& bytes, Patience patience) {
    SPECTR_TRY_VOID(wait_for(in.puts, (in.takes.load() & ~Count::gone) + 1, other, patience));
    bytes = in.take();
    return {};
  }

  /// Waits until another rank's counter reaches `goal`.
  Result<void> wait_for(const Count& count, std::uint64_t goal, std::size_t other, Patience patience) {
    // If a rank was delayed, the others wait for hundreds of µs within a layer; sleeping would add wake-up
    // latency. With more ranks than processors, spinning can keep the awaited rank from running.
    const int spins = ranks_ <= processors_ ? 10'000 : 100;
    constexpr int yields = 2000;
    SPECTR_TRY_VOID(state());
    std::uint64_t seen = count.load();
    const auto waits = [&] { return seen < goal; };  // `gone` is the top bit: it exceeds every goal
    for (int i = 0; waits() && i < spins; ++i) {
      relax();
      seen = count.load();
    }
    const auto end = std::chrono::steady_clock::now() + meeting_->patience;
    for (int i = 0; waits(); ++i) {
      if (patience == Patience::endless) {
        count.wait(seen);
      } else if (std::chrono::steady_clock::now() > end) {
        return fail(other, fmt::format("has not answered for {} ms", meeting_->patience.count()));
      } else if (i < yields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      seen = count.load();
    }
    if ((seen & ~Count::gone) < goal) return fail(other, "has gone");
    if (meeting_->has_failed.load()) return give_up("another rank has given up");
    return {};
  }

  Result<void> state() const {
    if (failure_) return std::unexpected(*failure_);
    return {};
  }
  Result<void> fail(std::size_t other, std::string_view what) {
    return give_up(fmt::format("{} {}", name_of(other), what));
  }
  Result<void> give_up(std::string message) {
    meeting_->has_failed.store(true);
    failure_ = Error{std::move(message), ErrorCode::device_lost};
    return std::unexpected(*failure_);
  }

  std::shared_ptr<Meeting> meeting_;
  std::size_t rank_, ranks_;
  std::size_t processors_ = std::thread::hardware_concurrency();
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

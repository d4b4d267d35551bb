#include "spectr/backend/sharded/mpi_job.h"

#ifdef SPECTR_MPI

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spectr/backend/sharded/range.h"

// NOLINTBEGIN(bugprone-casting-through-void,*mpi.MPI-Checker): its macros cast; requests end in other calls
namespace spectr {
namespace {

using Clock = std::chrono::steady_clock;

// Message tags. A mismatch of tags reveals ranks that are in different calls.
constexpr int orders = 1, answers = 2, numbers = 3, sums = 4, passed_on = 5;
constexpr std::size_t largest_message = std::numeric_limits<int>::max();
// Numbers are sent in pieces small enough for MPI's eager protocol: larger messages over TCP need a
// rendezvous, which costs two more messages.
constexpr std::size_t piece = std::size_t{32} << 10;

std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// Polls with backoff: spins, then yields, then sleeps for a small fraction of the time waited so far.
class Waiting {
 public:
  Waiting(Patience patience, std::chrono::milliseconds usual)
      : is_endless_(patience == Patience::endless), usual_(usual), begin_(Clock::now()) {}

  /// Waits a moment. Returns false on timeout.
  bool goes_on() {
    constexpr int spins = 2000, yields = 2000;
    if (++turns_ < spins) return true;
    const auto waited = Clock::now() - begin_;
    if (turns_ < spins + yields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::min<Clock::duration>(waited / 32, std::chrono::milliseconds(1)));
    }
    return is_endless_ || waited < usual_;
  }

 private:
  bool is_endless_;
  std::chrono::milliseconds usual_;
  Clock::time_point begin_;
  int turns_ = 0;
};

/// All messages are sent from and received into memory of the communicator: a late rank can still access the
/// buffer of a request after the wait for it has failed, when the caller's memory may be gone. After a
/// failure the communicator is not used any more, but stays alive until the job is aborted.
class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(std::chrono::milliseconds patience) : patience_(patience) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &all_ranks_);
    ranks_ = all_ranks_;
    std::array<char, MPI_MAX_PROCESSOR_NAME> mine{};
    int length = 0;
    MPI_Get_processor_name(mine.data(), &length);
    std::vector<char> all(mine.size() * static_cast<std::size_t>(all_ranks_));
    MPI_Allgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                  MPI_COMM_WORLD);
    for (int rank = 0; rank < all_ranks_; ++rank)
      hosts_.emplace_back(all.data() + mine.size() * static_cast<std::size_t>(rank));
  }

  bool has_failed() const { return failure_.has_value(); }
  /// Waits until all sent messages have been received, unless a rank has failed.
  void finish() {
    if (!failure_) (void)forget_orders(0);
  }

  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t ranks() const override { return static_cast<std::size_t>(ranks_); }
  std::size_t all_ranks() const override { return static_cast<std::size_t>(all_ranks_); }
  void use_first(std::size_t ranks) override { ranks_ = static_cast<int>(ranks); }
  std::string name_of(std::size_t rank) const override {
    return fmt::format("rank {} ({})", rank, hosts_[rank]);
  }

  Result<void> broadcast(std::vector<std::byte>& bytes) override {
    SPECTR_TRY_VOID(state());
    if (rank_ > 0) return receive(0, orders, bytes, Patience::endless);
    Order& order = orders_.emplace_back(bytes);
    for (int other = 1; other < ranks_; ++other)
      SPECTR_TRY_VOID(send(other, orders, order.bytes, order.pending));
    return forget_orders(max_orders);
  }

  Result<void> send(std::size_t to, std::span<const float> mine) override {
    SPECTR_TRY_VOID(state());
    own_.assign(mine.begin(), mine.end());
    std::vector<Pending> pending;
    SPECTR_TRY_VOID(send_numbers(static_cast<int>(to), passed_on, own_, pending));
    return wait_for(pending);
  }

  Result<void> receive(std::size_t from, std::span<float> out) override {
    SPECTR_TRY_VOID(state());
    received_.resize(out.size());
    std::vector<Pending> pending;
    SPECTR_TRY_VOID(expect_numbers(static_cast<int>(from), passed_on, received_, pending));
    SPECTR_TRY_VOID(wait_for(pending));
    std::ranges::copy(received_, out.begin());
    return {};
  }

  Result<void> all_reduce_sum(std::span<float> mine) override {
    SPECTR_TRY_VOID(state());
    if (ranks_ == 1) return {};
    own_.assign(mine.begin(), mine.end());
    const bool in_one = ranks_ == 2 || mine.size_bytes() <= one_exchange_bytes;
    SPECTR_TRY_VOID(in_one ? exchange_all(own_) : exchange_parts(own_));
    std::ranges::copy(own_, mine.begin());
    return {};
  }

  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> mine,
                                                     Patience patience) override {
    SPECTR_TRY_VOID(state());
    std::vector<std::vector<std::byte>> all;
    if (rank_ > 0) {
      answer_.assign(mine.begin(), mine.end());
      std::vector<Pending> pending;
      SPECTR_TRY_VOID(send(0, answers, answer_, pending));
      SPECTR_TRY_VOID(wait_for(pending, patience));
      return all;
    }
    all.emplace_back(mine.begin(), mine.end());
    for (int other = 1; other < ranks_; ++other)
      SPECTR_TRY_VOID(receive(other, answers, all.emplace_back(), patience));
    return all;
  }

 private:
  /// A message in flight.
  struct Pending {
    MPI_Request request;
    int other;
    std::size_t bytes;  // expected size, if it is received
    bool is_received;
  };

  Result<void> state() const {
    if (failure_) return std::unexpected(*failure_);
    return {};
  }
  Result<void> fail(int other, std::string_view what) {
    failure_ =
        Error{fmt::format("{} {}", name_of(static_cast<std::size_t>(other)), what), ErrorCode::device_lost};
    return std::unexpected(*failure_);
  }
  Result<void> no_answer(int other) {
    return fail(other, fmt::format("has not answered for {} ms", patience_.count()));
  }
  Result<void> check(int code, int other) {
    if (code == MPI_SUCCESS) return {};
    return fail(other, "cannot be reached: " + text_of(code));
  }

  Result<void> send(int other, int tag, std::span<const std::byte> bytes, std::vector<Pending>& pending) {
    if (bytes.size() > largest_message) return fail(other, "cannot be sent a message of over two gigabytes");
    Pending one{MPI_REQUEST_NULL, other, bytes.size(), false};
    SPECTR_TRY_VOID(check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, other, tag,
                                    MPI_COMM_WORLD, &one.request),
                          other));
    pending.push_back(one);
    return {};
  }
  /// Sends numbers in pieces of at most `piece` bytes.
  Result<void> send_numbers(int other, int tag, std::span<const float> all, std::vector<Pending>& pending) {
    for (auto bytes = std::as_bytes(all); !bytes.empty();) {
      const std::size_t size = std::min(bytes.size(), piece);
      SPECTR_TRY_VOID(send(other, tag, bytes.first(size), pending));
      bytes = bytes.subspan(size);
    }
    return {};
  }
  Result<void> expect_numbers(int other, int tag, std::span<float> all, std::vector<Pending>& pending) {
    for (auto bytes = std::as_writable_bytes(all); !bytes.empty();) {
      const std::size_t size = std::min(bytes.size(), piece);
      SPECTR_TRY_VOID(expect(other, tag, bytes.first(size), pending));
      bytes = bytes.subspan(size);
    }
    return {};
  }
  /// Starts to receive a message of exactly bytes.size() bytes.
  Result<void> expect(int other, int tag, std::span<std::byte> bytes, std::vector<Pending>& pending) {
    Pending one{MPI_REQUEST_NULL, other, bytes.size(), true};
    SPECTR_TRY_VOID(check(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, other, tag,
                                    MPI_COMM_WORLD, &one.request),
                          other));
    pending.push_back(one);
    return {};
  }

  Result<void> wait_for(std::span<Pending> pending, Patience patience = Patience::usual) {
    Waiting waiting(patience, patience_);
    for (Pending& one : pending) {
      int done = 0;
      MPI_Status status{};
      for (;;) {
        SPECTR_TRY_VOID(check(MPI_Test(&one.request, &done, &status), one.other));
        if (done != 0) break;
        if (!waiting.goes_on()) return no_answer(one.other);
      }
      int count = 0;
      if (one.is_received) MPI_Get_count(&status, MPI_BYTE, &count);
      if (one.is_received && static_cast<std::size_t>(count) != one.bytes)
        return fail(one.other, "has sent a message of another size");
    }
    return {};
  }

  /// Drops the leader's broadcasts that have been received, and waits for the oldest while more than `left`
  /// are pending: pipeline stages may lag behind by some.
  Result<void> forget_orders(std::size_t left) {
    while (!orders_.empty()) {
      std::vector<Pending>& pending = orders_.front().pending;
      if (orders_.size() > left) {
        SPECTR_TRY_VOID(wait_for(pending));
      } else {
        for (Pending& one : pending) {
          int done = 0;
          SPECTR_TRY_VOID(check(MPI_Test(&one.request, &done, MPI_STATUS_IGNORE), one.other));
          if (done == 0) return {};
        }
      }
      orders_.pop_front();
    }
    return {};
  }

  /// Receives a message of any size.
  Result<void> receive(int other, int tag, std::vector<std::byte>& bytes, Patience patience) {
    Waiting waiting(patience, patience_);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status{};
    for (int found = 0;;) {
      SPECTR_TRY_VOID(check(MPI_Improbe(other, tag, MPI_COMM_WORLD, &found, &message, &status), other));
      if (found != 0) break;
      if (!waiting.goes_on()) return no_answer(other);
    }
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    incoming_.resize(static_cast<std::size_t>(count));
    Pending one{MPI_REQUEST_NULL, other, incoming_.size(), true};
    SPECTR_TRY_VOID(check(MPI_Imrecv(incoming_.data(), count, MPI_BYTE, &message, &one.request), other));
    SPECTR_TRY_VOID(wait_for({&one, 1}));
    bytes.swap(incoming_);
    return {};
  }

  /// All-reduces by an all-to-all exchange of all numbers.
  Result<void> exchange_all(std::span<float> mine) {
    const std::size_t count = mine.size();
    received_.resize(count * ranks());
    const auto of = [&](int rank) {
      return std::span(received_).subspan(count * static_cast<std::size_t>(rank), count);
    };
    std::vector<Pending> pending;
    for (int other = 0; other < ranks_; ++other) {
      if (other == rank_) continue;
      SPECTR_TRY_VOID(expect_numbers(other, numbers, of(other), pending));
      SPECTR_TRY_VOID(send_numbers(other, numbers, mine, pending));
    }
    SPECTR_TRY_VOID(wait_for(pending));
    std::ranges::copy(mine, of(rank_).begin());
    add_in_order(count, mine);
    return {};
  }

  /// All-reduces by a reduce-scatter and an all-gather: each rank sums one part.
  Result<void> exchange_parts(std::span<float> mine) {
    const auto part = [&](int rank) {
      const Range range = part_of(mine.size(), {static_cast<std::size_t>(rank), ranks()});
      return mine.subspan(range.first, range.size);
    };
    const std::span<float> own = part(rank_);
    received_.resize(own.size() * ranks());
    const auto of = [&](int rank) {
      return std::span(received_).subspan(own.size() * static_cast<std::size_t>(rank), own.size());
    };
    std::vector<Pending> pending;
    for (int other = 0; other < ranks_; ++other) {
      if (other == rank_) continue;
      SPECTR_TRY_VOID(expect_numbers(other, numbers, of(other), pending));
      SPECTR_TRY_VOID(send_numbers(other, numbers, part(other), pending));
    }
    SPECTR_TRY_VOID(wait_for(pending));
    std::ranges::copy(own, of(rank_).begin());
    add_in_order(own.size(), own);
    pending.clear();
    for (int other = 0; other < ranks_; ++other) {
      if (other == rank_) continue;
      SPECTR_TRY_VOID(expect_numbers(other, sums, part(other), pending));
      SPECTR_TRY_VOID(send_numbers(other, sums, own, pending));
    }
    return wait_for(pending);
  }

  /// Sets out[i] to the sum over ranks of their `count` numbers in received_, added in rank order.
  void add_in_order(std::size_t count, std::span<float> out) const {
    std::ranges::copy(std::span(received_).first(count), out.begin());
    for (std::size_t rank = 1; rank < ranks(); ++rank) {
      const std::span<const float> more = std::span(received_).subspan(count * rank, count);
      for (std::size_t i = 0; i < count; ++i) out[i] += more[i];
    }
  }

  std::chrono::milliseconds patience_;
  int rank_ = 0, ranks_ = 1, all_ranks_ = 1;
  std::vector<std::string> hosts_;
  /// A broadcast in flight.
  struct Order {
    std::vector<std::byte> bytes;
    std::vector<Pending> pending = {};
  };
  static constexpr std::size_t max_orders = 16;
  std::deque<Order> orders_;
  std::vector<float> own_, received_;         // numbers of this rank, and of the others by rank
  std::vector<std::byte> answer_, incoming_;  // bytes being sent and received
  std::optional<Error> failure_;
};

class Job final : public MpiJob {
 public:
  explicit Job(std::chrono::milliseconds patience) : communicator_(patience) {}
  ~Job() override {
    communicator_.finish();
    if (communicator_.has_failed()) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
      MPI_Finalize();
    }
  }
  Communicator& communicator() override { return communicator_; }

 private:
  MpiCommunicator communicator_;
};

}  // namespace

bool has_mpi() {
  return true;
}

Result<std::unique_ptr<MpiJob>> MpiJob::start(std::chrono::milliseconds patience) {
  int has = 0;
  const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &has);
  if (code != MPI_SUCCESS) return error(ErrorCode::unsupported, "MPI cannot be started: {}", text_of(code));
  if (has < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    return error(ErrorCode::unsupported, "this MPI cannot be used by a program with threads");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return std::make_unique<Job>(patience);
}

}  // namespace spectr
// NOLINTEND(bugprone-casting-through-void,*mpi.MPI-Checker)

#else

namespace spectr {

bool has_mpi() {
  return false;
}

Result<std::unique_ptr<MpiJob>> MpiJob::start(std::chrono::milliseconds) {
  return error(
      ErrorCode::unsupported,
      "this build has no MPI: install libopenmpi-dev and openmpi-bin (or another MPI-3) and build it again, "
      "with -DSPECTR_MPI=ON");
}

}  // namespace spectr

#endif

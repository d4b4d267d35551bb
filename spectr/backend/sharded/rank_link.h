#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <utility>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/stopwatch.h"

namespace spectr {

/// Time that a rank has spent on passes, in seconds.
struct RankTimes {
  std::size_t passes = 0;
  std::size_t exchanges = 0;
  double computing = 0.0;
  double exchanging = 0.0;  ///< in communication, including waits for other ranks
};

/// A rank's link to the other ranks of a model. Once the communicator has failed, passes run on with
/// undefined numbers and finish with its error.
class RankLink {
 public:
  /// The communicator must outlive the link.
  explicit RankLink(Communicator& communicator) : communicator_(communicator) {}

  std::size_t rank() const { return communicator_.rank(); }
  std::size_t ranks() const { return communicator_.ranks(); }
  const std::optional<Error>& failure() const { return failure_; }

  /// Returns the result of call(communicator) and keeps its first error, after which nothing is called.
  /// Running out of memory counts as an error, because the ranks are then out of step.
  template <class Call>
  auto attempt(const Call& call) -> decltype(call(std::declval<Communicator&>())) {
    if (failure_) return std::unexpected(*failure_);
    Stopwatch watch;
    try {
      auto result = call(communicator_);
      if (!result) failure_ = result.error();
      exchanging_ += watch.lap();
      ++exchanges_;
      return result;
    } catch (const std::bad_alloc&) {
      failure_ = Error{"no memory", ErrorCode::out_of_memory};
      return std::unexpected(*failure_);
    }
  }

  void begin_pass() {
    pass_ = Stopwatch();
    exchanging_ = 0.0;
    exchanges_ = 0;
  }
  void end_pass() {
    ++times_.passes;
    times_.exchanges += exchanges_;
    times_.computing += pass_.lap() - exchanging_;
    times_.exchanging += exchanging_;
  }
  /// Returns and resets the times of all passes since the last call.
  RankTimes take_times() { return std::exchange(times_, {}); }

 private:
  Communicator& communicator_;
  std::optional<Error> failure_;
  Stopwatch pass_;
  std::size_t exchanges_ = 0;  // in the current pass
  double exchanging_ = 0.0;
  RankTimes times_;
};

}  // namespace spectr

#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <utility>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/stopwatch.h"

namespace spectr {

/// What a rank has spent on passes, in seconds.
struct RankTimes {
  std::size_t passes = 0;
  std::size_t exchanges = 0;
  double computing = 0.0;
  double exchanging = 0.0;  ///< with others, for whom it may have waited
};

/// A rank's link to the others of a model. Once the communicator has failed, passes go on with what is there
/// and end with its error.
class RankLink {
 public:
  /// The communicator must outlive it.
  explicit RankLink(Communicator& communicator) : communicator_(communicator) {}

  std::size_t rank() const { return communicator_.rank(); }
  std::size_t ranks() const { return communicator_.ranks(); }
  const std::optional<Error>& failure() const { return failure_; }

  /// What call(communicator) gives; its first error is kept. Missing memory is one: ranks are out of step
  /// then.
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
  /// Of all passes since this was last asked.
  RankTimes take_times() { return std::exchange(times_, {}); }

 private:
  Communicator& communicator_;
  std::optional<Error> failure_;
  Stopwatch pass_;
  std::size_t exchanges_ = 0;  // in this pass
  double exchanging_ = 0.0;
  RankTimes times_;
};

}  // namespace spectr

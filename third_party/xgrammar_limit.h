#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

/// A limit on the processor time of calls of xgrammar.
namespace xgrammar_limit {

/// Thrown by a call of xgrammar that has used up its time.
struct LimitExceeded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// During its lifetime, calls of xgrammar in this thread throw LimitExceeded once they have used this much
/// processor time. At most one exists per thread.
class TimeLimit {
 public:
  explicit TimeLimit(std::chrono::milliseconds time);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
};

inline thread_local int steps = 0;  // calls of step() until the clock is read
void check_clock();

/// Called by xgrammar in its loops.
inline void step() {
  if (--steps < 0) check_clock();
}

}  // namespace xgrammar_limit

#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

/// A limit of the processor time that xgrammar spends in a call.
namespace xgrammar_limit {

/// Thrown by a call of xgrammar that has used up its time.
struct TimeIsOver : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Makes calls of xgrammar in this thread throw TimeIsOver once they have used this much processor time, as
/// long as it lives. One at a time in a thread.
class TimeLimit {
 public:
  explicit TimeLimit(std::chrono::milliseconds time);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
};

inline thread_local int steps = 0;  // calls of step() until the clock is read
void look_at_clock();

/// Called by xgrammar in its loops.
inline void step() {
  if (--steps < 0) look_at_clock();
}

}  // namespace xgrammar_limit

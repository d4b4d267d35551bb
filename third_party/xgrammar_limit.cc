#include <time.h>
#include <xgrammar_limit.h>

#include <limits>

namespace xgrammar_limit {
namespace {

constexpr int steps_between = 256;
thread_local long long deadline = 0;  // nanoseconds of this thread's processor time; 0: there is none

long long now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1'000'000'000LL * time.tv_sec + time.tv_nsec;
}

}  // namespace

TimeLimit::TimeLimit(std::chrono::milliseconds time) {
  deadline = now() + 1'000'000LL * time.count();
  steps = 0;
}

TimeLimit::~TimeLimit() {
  deadline = 0;
}

void look_at_clock() {
  if (deadline == 0) {
    steps = std::numeric_limits<int>::max();
    return;
  }
  steps = steps_between;
  if (now() > deadline) throw TimeIsOver("takes too long");
}

}  // namespace xgrammar_limit

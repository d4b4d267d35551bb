#include <xgrammar_limit.h>

#include <ctime>
#include <limits>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPECTR_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPECTR_SANITIZED 1
#endif
#endif

namespace xgrammar_limit {
namespace {

// Sanitizers slow the code down by about this factor.
#ifdef SPECTR_SANITIZED
constexpr int slowdown = 8;
#else
constexpr int slowdown = 1;
#endif

constexpr int steps_between = 256;
thread_local long long deadline = 0;  // nanoseconds of this thread's processor time; 0: no limit

long long now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1'000'000'000LL * time.tv_sec + time.tv_nsec;
}

}  // namespace

TimeLimit::TimeLimit(std::chrono::milliseconds time) {
  deadline = now() + 1'000'000LL * slowdown * time.count();
  steps = 0;
}

TimeLimit::~TimeLimit() {
  deadline = 0;
}

void check_clock() {
  if (deadline == 0) {
    steps = std::numeric_limits<int>::max();
    return;
  }
  steps = steps_between;
  if (now() > deadline) throw LimitExceeded("takes too long");
}

}  // namespace xgrammar_limit

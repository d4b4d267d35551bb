#include "spectr/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

#include "spectr/base/check.h"

namespace spectr {
namespace {

/// Returns how often each index was run.
std::vector<int> coverage(ThreadPool& pool, std::size_t count, std::size_t grain) {
  std::vector<std::atomic<int>> hits(count);
  pool.parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
    EXPECT_LT(begin, end);
    EXPECT_LE(end, count);
    for (std::size_t i = begin; i < end; ++i) hits[i].fetch_add(1, std::memory_order_relaxed);
  });
  return {hits.begin(), hits.end()};
}

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (int threads : {1, 2, 3, 5, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::size_t count : {0u, 1u, 2u, 7u, 8u, 9u, 65u, 1000u}) {
      for (std::size_t grain : {0u, 1u, 7u, 64u, 1001u}) {
        ASSERT_EQ(coverage(pool, count, grain), std::vector<int>(count, 1))
            << threads << " threads, " << count << " indices, grain " << grain;
      }
    }
  }
}

TEST(ThreadPool, PiecesAreWholeGrains) {
  ThreadPool pool(3);
  for (std::size_t grain : {4u, 16u}) {
    const std::size_t count = 1003;
    std::atomic<bool> whole = true;
    pool.parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
      if (begin % grain != 0 || (end % grain != 0 && end != count)) whole = false;
    });
    EXPECT_TRUE(whole);
  }
}

// The hot case of a decoder: consecutive loops over a few indices, each of which must
// see the writes of the previous one.
TEST(ThreadPool, RepeatedTinyLoopsSeeEachOther) {
  for (int threads : {2, 4}) {
    ThreadPool pool(threads);
    std::vector<std::size_t> numbers(5, 0), next(5, 0);
    for (std::size_t round = 0; round < 500; ++round) {
      pool.parallel_for(numbers.size(), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) next[i] = numbers[(i + 1) % numbers.size()] + 1;
      });
      numbers.swap(next);
    }
    EXPECT_EQ(numbers, std::vector<std::size_t>(5, 500));
  }
}

// Bodies wait for each other, so the loop ends only if every thread runs one.
TEST(ThreadPool, SleepingWorkersWakeUp) {
  constexpr std::size_t threads = 3;
  ThreadPool pool(threads);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // far longer than a worker spins
    std::vector<std::atomic<int>> bodies(threads);              // [thread]
    std::atomic<std::size_t> begun = 0;
    const auto end_of_patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    pool.parallel_for(threads, 1, [&](std::size_t, std::size_t, std::size_t thread) {
      ASSERT_LT(thread, threads);
      ++bodies[thread];
      ++begun;
      while (begun < threads && std::chrono::steady_clock::now() < end_of_patience) std::this_thread::yield();
    });
    for (const auto& of_thread : bodies) EXPECT_EQ(of_thread, 1);
  }
}

TEST(ThreadPool, StartsAndStopsWithoutWork) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(1 + i % 4);
}

TEST(ThreadPoolDeathTest, AnExceptionOutOfABodyEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int threads : {1, 3}) {
    const auto break_contract = [&] {
      ThreadPool pool(threads);
      pool.parallel_for(100, 1, [](std::size_t, std::size_t end) { SPECTR_CHECK(end <= 50); });
    };
    EXPECT_DEATH(break_contract(), "") << threads << " threads";
  }
}

/// Requests a thousand threads, although the address space suffices for the stacks of only a few; exits with
/// 0 if the pool reports the failure.
[[noreturn]] void start_more_threads_than_fit() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t room = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
  const rlimit limit{room, room};
  setrlimit(RLIMIT_AS, &limit);
  try {
    ThreadPool pool(1000);
  } catch (const std::system_error&) {
    std::_Exit(0);
  }
  std::_Exit(1);
}

TEST(ThreadPoolDeathTest, AThreadThatCannotBeStartedIsAnException) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer does not outlive a lack of address space";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(start_more_threads_than_fit(), testing::ExitedWithCode(0), "");
}

// A worker that arrives after the loop has ended must still notice that the pool is being destroyed.
TEST(ThreadPool, StopsRightAfterALoop) {
  for (int n = 0; n < 300; ++n) {
    ThreadPool pool(3);
    std::atomic<int> done = 0;
    pool.parallel_for(3, 1,
                      [&](std::size_t begin, std::size_t end) { done += static_cast<int>(end - begin); });
    ASSERT_EQ(done, 3);
  }
}

TEST(ThreadPool, RunsLoopsOfSeveralThreadsOneAfterTheOther) {
  ThreadPool pool(3);
  std::vector<std::jthread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        std::vector<int> seen(40, 0);
        pool.parallel_for(seen.size(), 1, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++seen[i];
        });
        wrong += seen != std::vector<int>(40, 1);
      }
    });
  }
  callers.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, NeedsAThread) {
  EXPECT_THROW(ThreadPool(0), BrokenContract);
  EXPECT_THROW(ThreadPool(-3), BrokenContract);
}

}  // namespace
}  // namespace spectr

#include "spectr/base/thread_pool.h"

#include <algorithm>

#include "spectr/base/check.h"

namespace spectr {
namespace {

// About 20 µs at today's clocks: longer than the gaps within a pass, far shorter than a pass.
constexpr int spins_before_sleep = 10'000;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  SPECTR_CHECK(threads >= 1);
  workers_.reserve(static_cast<std::size_t>(threads) - 1);
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(const Loop& loop) {
  if (loop.count == 0) return;
  if (workers_.empty() || loop.count <= loop.grain) {
    loop.call(loop.body, 0, loop.count);
    return;
  }
  loop_ = loop;
  // Four chunks a thread: a late thread costs at most a quarter of its share.
  const std::size_t pieces = 4 * (workers_.size() + 1);
  const std::size_t even = (loop.count + pieces - 1) / pieces;
  chunk_ = (even + loop.grain - 1) / loop.grain * loop.grain;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_chunks();
  for (int spins = 0; busy_.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins < spins_before_sleep) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::take_chunks() {
  for (;;) {
    const std::size_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= loop_.count) return;
    loop_.call(loop_.body, begin, std::min(begin + chunk_, loop_.count));
  }
}

void ThreadPool::work() {
  unsigned seen = 0;
  for (;;) {
    for (int spins = 0; generation_.load(std::memory_order_acquire) == seen; ++spins) {
      if (spins < spins_before_sleep) {
        relax();
      } else {
        generation_.wait(seen, std::memory_order_acquire);
      }
    }
    ++seen;
    if (stop_.load()) return;
    take_chunks();
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace spectr

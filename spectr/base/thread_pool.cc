#include "spectr/base/thread_pool.h"

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/relax.h"

namespace spectr {
namespace {

// About 0.2 to 0.5 ms: longer than the pause between two passes.
constexpr int spins_before_sleep = 10'000;

// A late thread delays a loop by at most an eighth of its share.
constexpr std::size_t pieces_per_share = 8;

}  // namespace

ThreadPool::ThreadPool(int threads) : shares_(static_cast<std::size_t>(std::max(threads, 1))) {
  SPECTR_CHECK(threads >= 1);
  workers_.reserve(shares_.size() - 1);
  try {
    for (std::size_t i = 1; i < shares_.size(); ++i) workers_.emplace_back([this, i] { work(i); });
  } catch (...) {
    stop();
    throw;
  }
}

void ThreadPool::stop() {
  stop_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(const Loop& loop) {
  if (loop.count == 0) return;
  if (workers_.empty() || loop.count <= loop.grain) {
    loop.call(loop.body, 0, loop.count, 0);
    return;
  }
  const std::lock_guard lock(mutex_);
  loop_ = loop;
  const auto whole_grains = [&](std::size_t n, std::size_t parts) {
    return round_up(div_up(n, parts), loop.grain);
  };
  const std::size_t share = whole_grains(loop.count, shares_.size());
  piece_ = whole_grains(share, pieces_per_share);
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    shares_[i].next.store(std::min(i * share, loop.count), std::memory_order_relaxed);
    shares_[i].end = std::min((i + 1) * share, loop.count);
  }
  members_.store(open, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_pieces(0);
  // All pieces are taken. Workers that come now find the loop closed; the others finish their pieces.
  members_.fetch_and(~open, std::memory_order_relaxed);
  for (int spins = 0; members_.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins < spins_before_sleep) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

/// Joins the current loop, whose data stay valid until all members have left. Returns false if it is over.
bool ThreadPool::join() {
  unsigned members = members_.load(std::memory_order_relaxed);
  while ((members & open) != 0) {
    if (members_.compare_exchange_weak(members, members + 1, std::memory_order_acquire)) return true;
  }
  return false;
}

void ThreadPool::take_pieces(std::size_t self) {
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    Share& share = shares_[(self + i) % shares_.size()];
    for (;;) {
      const std::size_t begin = share.next.fetch_add(piece_, std::memory_order_relaxed);
      if (begin >= share.end) break;
      loop_.call(loop_.body, begin, std::min(begin + piece_, share.end), self);
    }
  }
}

void ThreadPool::work(std::size_t self) {
  unsigned seen = 0;
  for (;;) {
    for (int spins = 0; generation_.load(std::memory_order_acquire) == seen; ++spins) {
      if (spins < spins_before_sleep) {
        relax();
      } else {
        generation_.wait(seen, std::memory_order_acquire);
      }
    }
    seen = generation_.load(std::memory_order_acquire);  // an earlier store to stop_ is visible, too
    if (stop_.load()) return;
    if (!join()) continue;
    take_pieces(self);
    members_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace spectr

#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace spectr {

/// A fixed team of threads (the caller is one of them) for loops of a few microseconds: workers spin for a
/// short while after a loop and then sleep, so that a busy decoder pays no system call and an idle one no
/// cycles. Each thread has a contiguous share of a loop's indices, goes through it in order, piece by piece,
/// and then helps the others with theirs. A loop waits for pieces that were begun, not for threads: one that
/// the system keeps from running joins a later loop. Which thread runs which index never influences a result.
class ThreadPool {
 public:
  /// Requires: threads ≥ 1. One thread starts none. Throws std::system_error where the system does not start
  /// them all.
  explicit ThreadPool(int threads);
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Runs body(begin, end), or body(begin, end, thread) with its 0 ≤ thread < threads(), on disjoint ranges
  /// that cover [0, count), at most one per `grain` indices; returns when all are done. May be called from
  /// several threads at once: loops that take several threads follow one another, and numbers of threads are
  /// different within one loop only. Calls of one pool do not nest. An exception out of body ends the
  /// process, on whatever thread: the others still work on what the caller would leave behind.
  template <class Body>
  void parallel_for(std::size_t count, std::size_t grain, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run({count, grain == 0 ? 1 : grain, const_cast<void*>(static_cast<const void*>(&body)),
         [](void* f, std::size_t begin, std::size_t end, std::size_t thread) noexcept {
           if constexpr (std::is_invocable_v<Plain&, std::size_t, std::size_t, std::size_t>) {
             (*static_cast<Plain*>(f))(begin, end, thread);
           } else {
             (*static_cast<Plain*>(f))(begin, end);
           }
         }});
  }

 private:
  struct Loop {
    std::size_t count = 0;
    std::size_t grain = 1;
    void* body = nullptr;
    void (*call)(void*, std::size_t, std::size_t, std::size_t) noexcept = nullptr;
  };

  /// A thread's part of the indices.
  struct alignas(64) Share {
    std::atomic<std::size_t> next = 0;  // first index that nobody has taken
    std::size_t end = 0;
  };

  void stop();
  void run(const Loop& loop);
  void work(std::size_t self);
  bool join();
  void take_pieces(std::size_t self);

  std::mutex mutex_;           // held by the loop that runs
  std::vector<Share> shares_;  // the caller's first
  std::vector<std::thread> workers_;
  Loop loop_;
  std::size_t piece_ = 1;
  alignas(64) std::atomic<unsigned> generation_ = 0;  // counts loops; workers wait for it to change
  // Workers inside the loop, and `open` while more may join it.
  static constexpr unsigned open = 1U << 31U;
  alignas(64) std::atomic<unsigned> members_ = 0;
  std::atomic<bool> stop_ = false;
};

}  // namespace spectr

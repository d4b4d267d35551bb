#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace spectr {

/// A fixed team of threads, including the caller, for loops of a few microseconds. Workers spin for a short
/// time after a loop and then sleep, so that a busy decoder makes no system calls and an idle one uses no
/// cycles. Each thread has a contiguous share of a loop's indices, processes it piece by piece in order, and
/// then helps the others with theirs. A loop waits only for pieces that were started, not for threads: a
/// thread that is scheduled late joins a later loop. Results do not depend on which thread runs an index.
class ThreadPool {
 public:
  /// Starts threads − 1 workers. Requires: threads ≥ 1. Throws std::system_error if the system cannot start
  /// all of them.
  explicit ThreadPool(int threads);
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Runs body(begin, end), or body(begin, end, thread) with 0 ≤ thread < threads(), on disjoint ranges that
  /// cover [0, count). Ranges start at multiples of `grain`. Returns when all are done. Can be called from
  /// several threads at once: loops that need workers run one after another. Thread numbers are unique only
  /// within one loop. Calls on one pool must not nest. An exception thrown by body terminates the process,
  /// because other threads may still use data that unwinding would destroy.
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

  /// A thread's share of the indices.
  struct alignas(64) Share {
    std::atomic<std::size_t> next = 0;  // first index not taken yet
    std::size_t end = 0;
  };

  void stop();
  void run(const Loop& loop);
  void work(std::size_t self);
  bool join();
  void take_pieces(std::size_t self);

  std::mutex mutex_;           // held by the running loop
  std::vector<Share> shares_;  // the caller's first
  std::vector<std::thread> workers_;
  Loop loop_;
  std::size_t piece_ = 1;
  alignas(64) std::atomic<unsigned> generation_ = 0;  // counts loops; workers wait for it to change
  // Number of workers inside the loop, plus `open` while more may join it.
  static constexpr unsigned open = 1U << 31U;
  alignas(64) std::atomic<unsigned> members_ = 0;
  std::atomic<bool> stop_ = false;
};

}  // namespace spectr

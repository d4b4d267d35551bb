#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace spectr {

/// A counter that other threads can wait on. The bit `gone` is set once it will not increase any more.
class Count {
 public:
  static constexpr std::uint64_t gone = std::uint64_t{1} << 63;

  void add() { count_.fetch_add(1, std::memory_order_release), count_.notify_all(); }
  void end() { count_.fetch_or(gone), count_.notify_all(); }
  std::uint64_t load() const { return count_.load(std::memory_order_acquire); }
  /// Blocks until the value differs from `seen`.
  void wait(std::uint64_t seen) const { count_.wait(seen, std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> count_ = 0;
};

/// A FIFO queue of messages between two threads, one of which writes.
class Mailbox {
 public:
  void put(std::span<const std::byte> message) {
    {
      const std::lock_guard lock(mutex_);
      messages_.emplace_back(message.begin(), message.end());
    }
    puts.add();
  }
  /// Pops the oldest message. Requires: the queue is not empty.
  std::vector<std::byte> take() {
    std::vector<std::byte> message;
    {
      const std::lock_guard lock(mutex_);
      message = std::move(messages_.front());
      messages_.pop_front();
    }
    takes.add();
    return message;
  }

  Count puts, takes;  ///< numbers of put() and take() calls so far

 private:
  std::mutex mutex_;
  std::deque<std::vector<std::byte>> messages_;
};

}  // namespace spectr

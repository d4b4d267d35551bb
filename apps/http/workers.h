#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace spectr::http {

/// Threads that do one task each at a time, in the order in which they come.
class Workers {
 public:
  /// Throws std::system_error where a thread cannot be had.
  explicit Workers(std::size_t count);

  void enqueue(std::function<void()> task);
  /// Returns when all tasks are done.
  void finish();

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::jthread> threads_;  // last: they end first
};

}  // namespace spectr::http

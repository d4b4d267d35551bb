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

/// A thread pool that runs tasks in the order in which they are submitted.
class Workers {
 public:
  /// Throws std::system_error if a thread cannot be started.
  explicit Workers(std::size_t count);

  void enqueue(std::function<void()> task);
  /// Returns when all tasks are done and the threads have ended.
  void finish();

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::jthread> threads_;  // declared last so that the threads end first
};

}  // namespace spectr::http

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace spectr::server {

/// The threads that serve connections, one at a time each.
class ConnectionThreads {
 public:
  /// Throws std::system_error where a thread cannot be had.
  explicit ConnectionThreads(std::size_t count);

  void enqueue(std::function<void()> connection);
  /// Whether a connection waits for a thread.
  bool are_wanted() const;
  /// Returns when all connections have been served.
  void finish();

 private:
  void serve(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::jthread> threads_;  // last: they end first
};

}  // namespace spectr::server

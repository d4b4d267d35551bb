#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace spectr::server {

/// The threads that serve connections, one at a time each. The library's own would end the process where the
/// system has not enough of them.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  /// Throws std::system_error where a thread cannot be had.
  explicit ConnectionThreads(std::size_t count);

  void enqueue(std::function<void()> connection) override;
  /// Whether a connection waits for a thread.
  bool are_wanted() const;
  /// Returns when all connections have been served.
  void shutdown() override;

 private:
  void serve(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::jthread> threads_;  // last: they end first
};

}  // namespace spectr::server

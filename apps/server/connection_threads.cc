#include "apps/server/connection_threads.h"

#include <utility>

namespace spectr::server {

ConnectionThreads::ConnectionThreads(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }
}

void ConnectionThreads::enqueue(std::function<void()> connection) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(connection));
  }
  changed_.notify_one();
}

bool ConnectionThreads::are_wanted() const {
  const std::lock_guard lock(mutex_);
  return !waiting_.empty();
}

void ConnectionThreads::finish() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void ConnectionThreads::serve(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    const std::function<void()> connection = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    connection();
    lock.lock();
  }
}

}  // namespace spectr::server

#include "apps/http/workers.h"

#include <utility>

namespace spectr::http {

Workers::Workers(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

void Workers::enqueue(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Workers::finish() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void Workers::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // releases what the task holds before the next wait
    lock.lock();
  }
}

}  // namespace spectr::http

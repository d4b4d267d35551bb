#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "apps/http/handler.h"
#include "apps/http/limits.h"

namespace spectr::http {

class Connection;

/// How other threads reach an event loop: also one that has ended, which hears nothing.
class Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& loop) : loop_(&loop) {}

  void post(std::function<void()> letter) {
    const std::lock_guard lock(mutex_);
    if (loop_ != nullptr) boost::asio::post(*loop_, std::move(letter));
  }
  void close() {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* loop_;
};

/// What the connections of an event loop share. All of it belongs to the loop's thread but the handler.
struct Loop {
  Loop(const Handler& answers, const Limits& bounds) : handler(answers), limits(bounds) {}

  boost::asio::io_context context{1};
  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>(context);
  const Handler& handler;
  Limits limits;
  std::function<void(std::function<void()>)> work;   ///< runs a task in a thread that may take its time
  std::function<void(std::function<void()>)> brief;  ///< runs a brief task, which never waits for the others
  std::function<void(Connection&)> closed;           ///< hears of every connection once
  std::size_t body_bytes = 0;                        ///< of the bodies that are being read
  bool draining = false;                             ///< every answer is its connection's last, and says so
  bool finishing = false;                            ///< no request is begun any more
};

}  // namespace spectr::http

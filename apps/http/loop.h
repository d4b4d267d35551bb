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

/// Posts tasks to an event loop. Thread-safe; after close(), tasks are discarded.
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

/// State shared by the connections of an event loop. Only the loop's thread may use it, except the handler.
struct Loop {
  Loop(const Handler& answers, const Limits& bounds) : handler(answers), limits(bounds) {}

  boost::asio::io_context context{1};
  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>(context);
  const Handler& handler;
  Limits limits;
  std::function<void(std::function<void()>)> work;   ///< runs a task that may block in a worker thread
  std::function<void(std::function<void()>)> brief;  ///< runs a brief task in a thread of its own
  std::function<void(Connection&)> closed;           ///< called once for every closed connection
  std::size_t body_bytes = 0;                        ///< total of the bodies that are being read
  bool draining = false;                             ///< every answer closes its connection and says so
  bool finishing = false;                            ///< no new requests are accepted
};

}  // namespace spectr::http

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/http/connection.h"
#include "tests/http/memory_channel.h"

namespace spectr::http {

/// A client of a connection without a socket. Everything runs in the calling thread.
class MemoryClient {
 public:
  explicit MemoryClient(const Handler& handler, const Limits& limits = {}) : loop_(handler, limits) {
    loop_.work = [this](std::function<void()> task) { boost::asio::post(loop_.context, std::move(task)); };
    loop_.brief = [this](std::function<void()> task) {
      ++brief_;
      boost::asio::post(loop_.context, std::move(task));
    };
    loop_.closed = [this](Connection&) { connection_.reset(); };
    auto channel = std::make_unique<MemoryChannel>(loop_.context, wire_);
    channel_ = channel.get();
    connection_ = std::make_shared<Connection>(std::move(channel), loop_);
    connection_->start();
    settle();
  }
  // NOLINTNEXTLINE(bugprone-exception-escape): a test whose loop throws here may end.
  ~MemoryClient() {
    loop_.mailbox->close();
    if (const auto last = connection_) last->close();
    settle();
  }
  MemoryClient(const MemoryClient&) = delete;
  MemoryClient& operator=(const MemoryClient&) = delete;

  void send(std::string piece) {
    if (!piece.empty()) wire_->pieces.push_back(std::move(piece));
    if (connection_) channel_->deliver();
    settle();
  }
  /// Ends its side of the stream.
  void end() {
    wire_->ended = true;
    if (connection_) channel_->deliver();
    settle();
  }
  /// Runs the loop for this time.
  void wait(std::chrono::milliseconds time) {
    loop_.context.restart();
    loop_.context.run_for(time);
  }

  Wire& wire() { return *wire_; }
  const std::string& received() const { return wire_->received; }
  Loop& loop() { return loop_; }
  Connection* connection() { return connection_.get(); }
  /// Returns the number of requests that were handled as brief.
  int brief() const { return brief_; }

 private:
  /// Runs the loop until only time or the client can cause further events.
  void settle() {
    loop_.context.restart();
    while (loop_.context.poll() > 0) loop_.context.restart();
  }

  Loop loop_;
  int brief_ = 0;
  std::shared_ptr<Wire> wire_ = std::make_shared<Wire>();
  MemoryChannel* channel_ = nullptr;
  std::shared_ptr<Connection> connection_;
};

}  // namespace spectr::http

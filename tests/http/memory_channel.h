#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "apps/http/channel.h"

namespace spectr::http {

/// The client's end of a channel: its input and its output.
struct Wire {
  std::deque<std::string> pieces = {};  ///< bytes that it sends, one piece per read
  bool ended = false;                   ///< true if it sends no more
  Peer peer = Peer::there;
  std::size_t most = std::string::npos;  ///< maximum bytes that it accepts per write; 0: it does not read

  std::string received = {};
  bool finished = false, closed = false;  ///< set by the server
};

/// A channel in memory, without a socket.
class MemoryChannel final : public Channel {
 public:
  MemoryChannel(boost::asio::io_context& loop, std::shared_ptr<Wire> wire)
      : loop_(loop), wire_(std::move(wire)) {}

  void open(Done done) override { later(std::move(done), {}, 0); }
  void read(std::span<char> to, Done done) override {
    to_ = to;
    reader_ = std::move(done);
    deliver();
  }
  void write(std::string_view from, Done done) override {
    const std::size_t size = std::min(from.size(), wire_->most);
    if (size == 0) {
      writer_ = std::move(done);
      return;
    }
    wire_->received += from.substr(0, size);
    later(std::move(done), {}, size);
  }
  void finish(Done done) override {
    wire_->finished = true;
    later(std::move(done), {}, 0);
  }
  void close() override {
    wire_->closed = true;
    for (Done* waiting : {&reader_, &writer_}) {
      if (*waiting)
        later(std::exchange(*waiting, {}), std::make_error_code(std::errc::operation_canceled), 0);
    }
  }
  Peer peer() override { return wire_->peer; }
  std::string client() override { return "memory"; }

  /// Completes a pending read with the bytes that have arrived.
  void deliver() {
    if (!reader_) return;
    if (!wire_->pieces.empty()) {
      std::string& piece = wire_->pieces.front();
      const std::size_t size = std::min(piece.size(), to_.size());
      std::copy_n(piece.begin(), size, to_.begin());
      piece.erase(0, size);
      if (piece.empty()) wire_->pieces.pop_front();
      later(std::exchange(reader_, {}), {}, size);
    } else if (wire_->ended) {
      later(std::exchange(reader_, {}), std::make_error_code(std::errc::connection_aborted), 0);
    }
  }

 private:
  void later(Done done, std::error_code code, std::size_t size) {
    boost::asio::post(loop_, [done = std::move(done), code, size] { done(code, size); });
  }

  boost::asio::io_context& loop_;
  std::shared_ptr<Wire> wire_;
  std::span<char> to_;
  Done reader_, writer_;
};

}  // namespace spectr::http

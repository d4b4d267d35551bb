#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <utility>

#include "apps/http/channel.h"

namespace spectr::http {

/// Returns the peer's state as the operating system knows it.
Peer peer_of(int socket);

/// A channel over an Asio stream.
template <class Stream>
class SocketChannel : public Channel {
 public:
  template <class... Arguments>
  explicit SocketChannel(Arguments&&... arguments) : stream_(std::forward<Arguments>(arguments)...) {}

  void read(std::span<char> to, Done done) override {
    stream_.async_read_some(boost::asio::buffer(to.data(), to.size()), handler_of(std::move(done)));
  }
  void write(std::string_view from, Done done) override {
    stream_.async_write_some(boost::asio::buffer(from.data(), from.size()), handler_of(std::move(done)));
  }
  void close() override {
    boost::system::error_code ignored;
    socket().close(ignored);
  }
  Peer peer() override { return peer_of(socket().native_handle()); }
  std::string client() override {
    boost::system::error_code failed;
    const auto endpoint = socket().remote_endpoint(failed);
    return failed ? std::string() : endpoint.address().to_string();
  }

 protected:
  static auto handler_of(Done done) {
    return [done = std::move(done)](const boost::system::error_code& code, std::size_t size) {
      done(code, size);
    };
  }
  Stream& stream() { return stream_; }
  auto& socket() { return stream_.lowest_layer(); }

 private:
  Stream stream_;
};

std::unique_ptr<Channel> tcp_channel(boost::asio::ip::tcp::socket socket);

}  // namespace spectr::http

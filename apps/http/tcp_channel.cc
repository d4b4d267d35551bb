#include <poll.h>

#include <array>
#include <boost/asio/post.hpp>
#include <tuple>

#include "apps/http/socket_channel.h"

namespace spectr::http {
namespace {

constexpr std::size_t max_unwanted = 4 << 20;  // maximum input discarded after the last answer

class TcpChannel final : public SocketChannel<boost::asio::ip::tcp::socket> {
 public:
  using SocketChannel::SocketChannel;

  void open(Done done) override {
    boost::asio::post(stream().get_executor(), [done = std::move(done)] { done({}, 0); });
  }
  void finish(Done done) override {
    boost::system::error_code ignored;
    std::ignore = socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
    drain(max_unwanted, std::move(done));
  }

 private:
  void drain(std::size_t most, Done done) {
    read(unwanted_, [this, most, done = std::move(done)](std::error_code code, std::size_t size) mutable {
      if (code || size >= most) return done(code, 0);
      drain(most - size, std::move(done));
    });
  }

  std::array<char, 4096> unwanted_;
};

}  // namespace

Peer peer_of(int socket) {
  // Does not read: unread input would hide that the peer has closed its end.
  pollfd entry{socket, POLLRDHUP, 0};
  if (::poll(&entry, 1, 0) <= 0) return Peer::there;
  return (entry.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? Peer::gone : Peer::silent;
}

std::unique_ptr<Channel> tcp_channel(boost::asio::ip::tcp::socket socket) {
  return std::make_unique<TcpChannel>(std::move(socket));
}

}  // namespace spectr::http

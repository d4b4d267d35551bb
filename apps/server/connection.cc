#include "apps/server/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>

namespace spectr::server {
namespace {

constexpr std::chrono::seconds max_lingering{1};
constexpr std::chrono::milliseconds after_failure{10};  // of taking a connection

thread_local Connection* connection_of_this_thread = nullptr;

void address(const sockaddr_storage& from, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    port = ntohs(v4.sin_port);
  } else if (from.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    port = ntohs(v6.sin6_port);
  }
  ip = text.data();
}

}  // namespace

Connection::Connection(int socket) : socket_(socket) {
  connection_of_this_thread = this;
}

Connection::~Connection() {
  connection_of_this_thread = nullptr;
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
}

Connection* Connection::current() {
  return connection_of_this_thread;
}

bool Connection::wait(short event, std::chrono::milliseconds timeout) const {
  pollfd entry{socket_, event, 0};
  int ready = 0;
  do {
    ready = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(timeout.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool Connection::wait_for_request(const std::function<bool()>& wanted) {
  constexpr std::chrono::milliseconds moment{100};
  const auto end = Clock::now() + connection_limits.keep_alive;
  while (begin_ == end_ && !wait(POLLIN, moment)) {
    if (Clock::now() >= end || wanted()) return false;
  }
  part_ = Part::first_line;
  head_lines_ = {};
  bytes_left_ = connection_limits.header_bytes;
  deadline_ = Clock::now() + connection_limits.head;
  return true;
}

void Connection::begin_body() {
  part_ = Part::body;
  bytes_left_ = connection_limits.body_bytes;
  deadline_ = Clock::now() + connection_limits.body;
}

bool Connection::gone() const {
  // Not by reading: bytes that nobody has asked for yet would hide the end behind them.
  pollfd entry{socket_, POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void Connection::linger() {
  ::shutdown(socket_, SHUT_WR);
  part_ = Part::body;
  bytes_left_ = connection_limits.body_bytes;
  deadline_ = Clock::now() + max_lingering;
  std::array<char, 4096> unwanted;
  while (read(unwanted.data(), unwanted.size()) > 0) {
  }
}

bool Connection::is_readable() const {
  return begin_ < end_ || wait(POLLIN, std::chrono::milliseconds(0));
}

bool Connection::is_writable() const {
  return wait(POLLOUT, connection_limits.send) && !gone();
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (!encoded_.empty()) {
    *to = encoded_.front();
    encoded_.remove_prefix(1);
    return 1;
  }
  if (begin_ == end_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    if (bytes_left_ == 0 || left.count() <= 0 || !wait(POLLIN, left)) {
      closing_ = true;
      return -1;
    }
    const ssize_t got = ::recv(socket_, buffer_.data(), std::min(buffer_.size(), bytes_left_), 0);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
    bytes_left_ -= end_;
  }
  const std::size_t given = part_ == Part::body ? std::min(size, end_ - begin_) : 1;
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), given, to);
  begin_ += given;
  if (part_ != Part::body && !head_lines_.take(*to)) {
    closing_ = true;
    return -1;
  }
  if (part_ == Part::headers && *to == '%') encoded_ = "25";
  if (part_ == Part::first_line && *to == '\n') part_ = Part::headers;
  return static_cast<ssize_t>(given);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  // All of it: the library takes a part for the whole.
  const auto end =
      Clock::now() + connection_limits.send + std::chrono::seconds(size / connection_limits.min_rate);
  for (std::size_t sent = 0; sent < size;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (!wait(POLLOUT, std::min<std::chrono::milliseconds>(left, connection_limits.send))) return -1;
    const ssize_t part = ::send(socket_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (part > 0) sent += static_cast<std::size_t>(part);
    if (part < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return -1;
  }
  return static_cast<ssize_t>(size);
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&peer), &length) == 0) address(peer, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &length) == 0) address(own, ip, port);
}

HttpServer::HttpServer(std::size_t threads) : threads_(threads) {
  // The library's own options would let a second server have the same port, and half of the connections.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

HttpServer::~HttpServer() {
  if (svr_sock_ != INVALID_SOCKET) ::close(svr_sock_);
}

void HttpServer::serve(int backlog) {
  ::listen(svr_sock_, backlog);
  while (!finished_) {
    const socket_t socket = ::accept4(svr_sock_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) {
      threads_.enqueue([this, socket] { process_and_close_socket(socket); });
    } else if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK) {
      return;  // this socket takes no connections any more
    } else {
      // Without memory or descriptors for one more, or a connection broken before it was taken.
      std::this_thread::sleep_for(after_failure);
    }
  }
}

/// A connection that is being served.
class HttpServer::OpenConnection {
 public:
  OpenConnection(HttpServer& server, socket_t socket) : server_(server), socket_(socket) {
    const std::lock_guard lock(server_.mutex_);
    server_.open_.insert(socket_);
  }
  ~OpenConnection() {
    const std::lock_guard lock(server_.mutex_);
    server_.open_.erase(socket_);
    server_.left_.notify_all();
  }
  OpenConnection(const OpenConnection&) = delete;
  OpenConnection& operator=(const OpenConnection&) = delete;

 private:
  HttpServer& server_;
  socket_t socket_;
};

void HttpServer::finish(std::chrono::steady_clock::time_point end) {
  finished_ = true;
  ::shutdown(svr_sock_, SHUT_RDWR);  // accept ends; so does whoever comes to it later
  std::unique_lock lock(mutex_);
  for (const socket_t socket : open_) ::shutdown(socket, SHUT_RD);
  left_.wait_until(lock, end, [this] { return open_.empty(); });
  for (const socket_t socket : open_) ::shutdown(socket, SHUT_RDWR);
  lock.unlock();
  threads_.finish();
}

bool HttpServer::process_and_close_socket(socket_t socket) {
  try {
    Connection connection(socket);
    const OpenConnection open(*this, socket);
    const auto set_up = [&connection](httplib::Request& request) {
      connection.begin_body();
      simplify(request);
    };
    // Whoever has been answered gives way to those who wait.
    bool answered = false;
    const auto wanted = [&] { return answered && threads_.are_wanted(); };
    for (int left = connection_limits.requests; left > 0 && !finished_ && connection.wait_for_request(wanted);
         --left) {
      answered = true;
      bool closed = false;
      const bool last = left == 1 || wanted();
      const bool served = process_request(connection, last, closed, set_up);
      if (connection.closing()) connection.linger();
      if (!served || closed || last || connection.closing()) break;
    }
  } catch (const std::exception&) {
    return false;  // from inside the library: only this connection ends
  }
  return true;
}

}  // namespace spectr::server

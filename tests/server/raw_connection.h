#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>

namespace spectr::server {

/// Raises this process's limit on open files to the maximum.
inline void allow_many_files() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

/// A client with full control of its socket. Throws if the server neither accepts nor sends a byte during two
/// minutes of waiting, nor closes the connection.
class RawConnection {
 public:
  /// Small buffers hold only some kilobytes at the receiver. With small segments the sender, too, buffers
  /// little more, because it sizes its buffer by the number of segments.
  enum class Buffers { usual, small };

  explicit RawConnection(int port, Buffers buffers = Buffers::usual, const std::string& host = "127.0.0.1")
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (buffers == Buffers::small) {
      constexpr int bytes = 4096, segment = 536;
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
      ::setsockopt(socket_, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    open_ =
        socket_ >= 0 && ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawConnection() { ::close(socket_); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  /// Returns false if the server has closed the connection.
  bool send(const std::string& bytes) {
    for (std::size_t sent = 0; open_ && sent < bytes.size();) {
      const ssize_t part = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      open_ = part > 0;
      if (!open_) expect_no_timeout("taken", part);
      if (open_) sent += static_cast<std::size_t>(part);
    }
    return open_;
  }
  bool send_post(const std::string& path, const std::string& body) {
    return send("POST " + path +
                " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  /// Shuts down the sending side.
  void shut() { ::shutdown(socket_, SHUT_WR); }

  /// Receives the next bytes; an empty string means that the server has closed the connection.
  std::string receive() {
    std::string bytes(1 << 16, '\0');
    const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), 0);
    expect_no_timeout("sent", got);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  /// Receives until these words arrive, possibly more; until the end if they do not arrive.
  std::string receive_until(const std::string& words) {
    std::string all;
    while (all.find(words) == std::string::npos) {
      const std::string more = receive();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }
  /// Receives everything until the server closes the connection.
  std::string receive_all() {
    std::string all;
    for (std::string more = receive(); !more.empty(); more = receive()) all += more;
    return all;
  }

 private:
  static constexpr timeval patience{120, 0};

  static void expect_no_timeout(const char* what, ssize_t result) {
    if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      throw std::runtime_error("the server has " + std::string(what) + " nothing for " +
                               std::to_string(patience.tv_sec) + " s");
    }
  }

  int socket_;
  bool open_ = false;
};

}  // namespace spectr::server

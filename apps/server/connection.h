#pragma once

#include <httplib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "apps/server/connection_threads.h"
#include "apps/server/framing.h"

namespace spectr::server {

/// What a connection may take.
inline constexpr struct ConnectionLimits {
  std::size_t header_bytes = 64 << 10;
  std::size_t body_bytes = 4 << 20;
  std::chrono::seconds head{5};     ///< from its first byte to its end
  std::chrono::seconds body{30};    ///< for a whole body
  std::chrono::seconds send{30};    ///< for a client that has stopped reading
  std::size_t min_rate = 16 << 10;  ///< bytes a second that a client must read of what takes longer
  std::chrono::seconds keep_alive{5};
  int requests = 1000;  ///< over one connection
} connection_limits;

/// A connection between the HTTP library and a socket. It bounds what the library leaves open: the bytes and
/// the time of a request as a whole, however it is cut into pieces, and the time of each piece of an answer;
/// and it tells when the client has gone.
class Connection final : public httplib::Stream {
 public:
  /// Takes the socket, and closes it in the end.
  explicit Connection(int socket);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The connection whose request this thread handles.
  static Connection* current();

  /// Waits for the first byte of a request; false when none comes, or while `wanted` by another connection.
  bool wait_for_request(const std::function<bool()>& wanted);
  /// The head has been read: from now on the limits of a body hold.
  void begin_body();
  /// Whether the client has closed the connection, or its sending half.
  bool gone() const;
  /// After this answer the connection is closed: the rest of its request is not wanted.
  void close_after_answer() { closing_ = true; }
  bool closing() const { return closing_; }
  /// Says that nothing more comes, and takes what the client is still sending for a moment: a connection
  /// closed over unread bytes is reset, and the client may lose the answer.
  void linger();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  /// Of a request. The library decodes percent signs in the values of headers, as if they were addresses;
  /// here every one of them is handed on encoded, so that values are what was sent.
  enum class Part { first_line, headers, body };

  using Clock = std::chrono::steady_clock;
  bool wait(short event, std::chrono::milliseconds timeout) const;

  int socket_;
  std::size_t bytes_left_ = 0;
  Clock::time_point deadline_;
  bool closing_ = false;
  Part part_ = Part::body;
  std::string_view encoded_;  // the rest of a percent sign
  HeadLines head_lines_;
  std::array<char, 4096> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is in the buffer
};

/// The HTTP library's server with bounded connections, and a loop of its own that takes them: the library's
/// ends at the first connection that the system cannot give, and its threads would end the process where the
/// system has not enough of them.
class HttpServer final : public httplib::Server {
 public:
  /// Throws std::system_error where the system has not so many threads for connections.
  explicit HttpServer(std::size_t threads);
  ~HttpServer() override;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// After binding, once: takes connections until finish(), or until the system breaks the socket. `backlog`:
  /// how many may wait to be taken.
  void serve(int backlog);
  /// Ends listening and reading. Connections end after the answer that they are giving; those that have not
  /// given it by `end` are cut off.
  void finish(std::chrono::steady_clock::time_point end);

 private:
  class OpenConnection;
  bool process_and_close_socket(socket_t socket) override;

  std::atomic<bool> finished_ = false;
  std::mutex mutex_;
  std::condition_variable left_;
  std::set<socket_t> open_;
  ConnectionThreads threads_;  // last: they end first
};

}  // namespace spectr::server

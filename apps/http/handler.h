#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "apps/http/message.h"

namespace spectr::http {

// Interface between the server and its request handlers; independent of sockets.

/// Receives the answer of a Reply: either send(), or begin(), any number of write(), and end().
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void send(Response whole) = 0;
  /// Sends the head of a stream. `filler` is a piece that readers of the stream ignore. The connection sends
  /// it when the stream has been quiet for a while, to detect that the client has gone.
  virtual void begin(Response head, std::string filler) = 0;
  virtual void write(std::string_view piece) = 0;
  virtual void end() = 0;
  /// Adds a field to the log entry of the exchange, or replaces the field of that name.
  virtual void note(std::string name, Note value) = 0;
};

/// An answer that is produced over time. It is destroyed once it has been sent or its client has gone.
class Reply {
 public:
  virtual ~Reply() = default;
  /// Sends what is available, possibly nothing. Called by one thread at a time: several times a second, after
  /// a Wake, and only when the client has taken all previous output.
  virtual void advance(Sink& sink) = 0;
};

/// Makes the connection call advance(). Thread-safe; it may be called after the reply has been destroyed.
using Wake = std::function<void()>;

/// Outcome of a request, for the log.
struct Exchange {
  /// Status of an exchange whose client left before the answer.
  static constexpr int client_left = 499;

  int status = client_left;
  std::chrono::microseconds duration{0};  ///< since the first byte of the head
  bool complete = false;                  ///< the whole answer was sent
  Notes notes = {};
};

using Answer = std::variant<Response, std::unique_ptr<Reply>>;

/// Answers the requests of a server. Its functions are called from several threads at a time.
class Handler {
 public:
  virtual ~Handler() = default;
  /// Returns an answer that makes the body unnecessary. Must be fast: it blocks all connections.
  virtual std::optional<Response> refuse(const Request& head) const = 0;
  /// Returns true if handle() is fast for this request. Such requests are handled in a separate thread, so
  /// that a health check does not wait for slow requests.
  virtual bool is_brief(const Request& request) const = 0;
  /// Returns the fields that every answer to the request gets in addition to X-Request-Id.
  virtual Headers headers(const Request& request) const = 0;
  /// Answers or begins to. May throw a std::exception, which is answered with failure(500).
  virtual Answer handle(const Request& request, const Wake& wake) const = 0;
  /// Returns the answer to a request that is malformed or cannot be handled.
  virtual Response failure(int status, std::string message) const = 0;
  /// Called once for every request that was answered or refused, even if the client left before the end.
  virtual void note(const Request& request, const Exchange& exchange) const = 0;
};

}  // namespace spectr::http

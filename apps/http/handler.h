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

// What handles requests sees these types and no socket.

/// Where an answer goes that is not there at once: either send(), or begin(), writes, and end().
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void send(Response whole) = 0;
  /// The head of a stream. `filler`: a piece that means nothing to whoever reads the stream. The connection
  /// sends it where nothing else has come for a while, and so finds out whether somebody is there.
  virtual void begin(Response head, std::string filler) = 0;
  virtual void write(std::string_view piece) = 0;
  virtual void end() = 0;
  /// Adds to the log of the exchange, or replaces what was added under that name.
  virtual void note(std::string name, Note value) = 0;
};

/// An answer that takes a while. It is dropped once it has been sent, or as soon as its client has gone.
class Reply {
 public:
  virtual ~Reply() = default;
  /// Says what there is to say by now, perhaps nothing. Called by one thread at a time, again and again: some
  /// times a second, when it was woken, and only when the client has taken what was said before.
  virtual void advance(Sink& sink) = 0;
};

/// Makes the connection call advance(). From any thread, at any time, also when the reply is no more.
using Wake = std::function<void()>;

/// What became of a request.
struct Exchange {
  /// Stands for an answer that the client did not wait for.
  static constexpr int client_left = 499;

  int status = client_left;
  std::chrono::microseconds duration{0};  ///< from the first byte of the head
  bool complete = false;                  ///< the whole answer was sent
  Notes notes = {};
};

using Answer = std::variant<Response, std::unique_ptr<Reply>>;

/// What a server answers. Its functions are called by several threads at a time.
class Handler {
 public:
  virtual ~Handler() = default;
  /// Before the body is read: an answer that makes it unwanted. It must not take long, all connections wait.
  virtual std::optional<Response> refuse(const Request& head) const = 0;
  /// Whether handle() takes next to no time for it. Such requests have a thread of their own, so that a probe
  /// does not wait for requests that take long.
  virtual bool is_brief(const Request& request) const = 0;
  /// Fields that every answer to it has, besides X-Request-Id.
  virtual Headers headers(const Request& request) const = 0;
  /// Answers, or begins to. May throw what is a std::exception: the answer is failure(500).
  virtual Answer handle(const Request& request, const Wake& wake) const = 0;
  /// The answer to what is no request that could be handled.
  virtual Response failure(int status, std::string message) const = 0;
  /// Called once for every request that was answered or refused, also if the client left before the end.
  virtual void note(const Request& request, const Exchange& exchange) const = 0;
};

}  // namespace spectr::http

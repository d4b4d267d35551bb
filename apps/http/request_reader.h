#pragma once

#include <memory>
#include <string>

#include "apps/http/limits.h"
#include "apps/http/message.h"

namespace spectr::http {

/// Parses one request incrementally from the bytes of a connection (RFC 9112). Ambiguous input is refused, so
/// that a proxy and this server cannot disagree on request boundaries.
class RequestReader {
 public:
  enum class Progress {
    more,    ///< all usable bytes were consumed; more are needed
    head,    ///< returned once, when the head is complete; the next call reads the body, if any
    whole,   ///< the request is complete; remaining bytes belong to the next one
    failed,  ///< the request is malformed: see failure()
  };
  struct Failure {
    int status;
    std::string message;
  };

  explicit RequestReader(const Limits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Consumes bytes of the request at the front of `bytes`.
  Progress take(std::string& bytes);
  /// Returns true if part of the request has arrived. Leading empty lines do not count.
  bool begun() const;
  const Failure& failure() const;

  // Valid once the head is complete.
  Request& request();
  bool http10() const;
  /// Returns true if the client wants to send more requests on this connection.
  bool keeps_alive() const;
  /// Returns true if, according to the head, a body follows.
  bool announces_body() const;
  bool chunked() const;
  /// Returns true if the client waits for a 100 response before it sends the body.
  bool expects_continue() const;

 private:
  class Parser;
  Progress fail(int status, std::string message);
  Progress take_head(std::string& bytes);
  Progress take_body(std::string& bytes);

  Limits limits_;
  std::unique_ptr<Parser> parser_;
  bool begun_ = false;
  bool head_returned_ = false;
  Failure failure_{};
};

}  // namespace spectr::http

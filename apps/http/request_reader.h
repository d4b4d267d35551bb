#pragma once

#include <memory>
#include <string>

#include "apps/http/limits.h"
#include "apps/http/message.h"

namespace spectr::http {

/// Takes one request out of the bytes of a connection as they come, however they are cut (RFC 9112). What can
/// be read in two ways is refused, so that a proxy and this server see the same requests.
class RequestReader {
 public:
  enum class Progress {
    more,    ///< all bytes have been taken that can be: more are needed
    head,    ///< once: the head is complete; the body, if there is one, is read by the next call
    whole,   ///< the request is complete; what is left of the bytes is not its own
    failed,  ///< it is no request: see failure()
  };
  struct Failure {
    int status;
    std::string message;
  };

  explicit RequestReader(const Limits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Takes from the front of `bytes` what belongs to the request.
  Progress take(std::string& bytes);
  /// Whether anything of a request has come: empty lines before it are none of it.
  bool begun() const;
  const Failure& failure() const;

  // From the head on.
  Request& request();
  bool http10() const;
  /// Whether the client wants to send more requests.
  bool keeps_alive() const;
  /// Whether bytes of a body follow, according to the head.
  bool announces_body() const;
  bool chunked() const;
  /// Whether the client waits to be asked for the body.
  bool expects_continue() const;

 private:
  class Parser;
  Progress fail(int status, std::string message);
  Progress take_head(std::string& bytes);
  Progress take_body(std::string& bytes);

  Limits limits_;
  std::unique_ptr<Parser> parser_;
  bool begun_ = false;
  bool head_told_ = false;
  Failure failure_{};
};

}  // namespace spectr::http

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "apps/http/handler.h"
#include "apps/http/limits.h"
#include "spectr/base/result.h"

namespace spectr::http {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;          ///< 0: any that is free
  std::size_t threads = 4;  ///< that requests are handled in; brief ones have one more
  Limits limits = {};
  std::string certificate_file = {}, key_file = {};  ///< of TLS, in PEM; empty: none
};

/// Listens, and answers what a handler says. One thread owns all connections and only moves bytes, so that a
/// slow client costs a connection and no thread; requests are handled in others, brief ones
/// (Handler::is_brief) in one that does nothing else. There are as many connections as the process may have
/// files open; where there is one more, the one that has been waiting longest for a request ends.
class HttpServer {
 public:
  /// Accepts connections from now on. The handler must outlive it.
  /// Error: the address cannot be had, or what TLS needs; there are no threads.
  static Result<std::unique_ptr<HttpServer>> listen(const HttpOptions& options, const Handler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  /// False once connections are no longer taken: after finish(), or where the system broke the socket.
  bool listening() const;
  /// From now on every answer is its connection's last and says so: whoever keeps connections open goes
  /// elsewhere.
  void drain();
  /// Takes no more connections and requests. Connections end behind the answer that they are giving; those
  /// that have not given it by `end` are cut off. What is just being handled ends first.
  void finish(std::chrono::steady_clock::time_point end);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace spectr::http

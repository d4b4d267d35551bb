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
  int port = 8080;          ///< 0: any free port
  std::size_t threads = 4;  ///< threads that handle requests, plus one for brief requests
  Limits limits = {};
  std::string certificate_file = {}, key_file = {};  ///< PEM files for TLS; empty: no TLS
};

/// An HTTP server that answers with a Handler. One thread does the I/O of all connections, so that
/// a slow client occupies no thread. A pool handles requests, and a separate thread the brief ones
/// (Handler::is_brief). The limit of open files bounds connections; beyond it, the one idle
/// longest is closed.
class HttpServer {
 public:
  /// Starts to accept connections. The handler must outlive the server.
  /// Fails if the address is unavailable, the TLS files are invalid, or threads cannot be started.
  static Result<std::unique_ptr<HttpServer>> listen(const HttpOptions& options, const Handler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  /// Returns false once connections are no longer accepted: after finish(), or if the socket failed.
  bool listening() const;
  /// From now on, every answer closes its connection and says so, so that clients reconnect to
  /// another server.
  void drain();
  /// Stops accepting connections and requests. Connections close after their current answer; those that are
  /// still open at `end` are cut off. Waits for requests that are being handled.
  void finish(std::chrono::steady_clock::time_point end);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace spectr::http

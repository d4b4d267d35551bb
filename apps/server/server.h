#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/http/http_server.h"
#include "apps/server/keys.h"
#include "apps/server/models/served_models.h"
#include "apps/server/routes.h"

namespace spectr::server {

struct ServerOptions {
  ServiceOptions service;              ///< the model, if there is only one
  std::vector<ServiceOptions> models;  ///< several models, which requests name; empty: only one
  ModelLimits limits;                  ///< of several models
  http::HttpOptions http;
  Keys keys;
  bool metrics = false;
  LogFormat log = LogFormat::text;
  std::vector<std::string> names;  ///< host names that a local server accepts in addition to local ones
  std::vector<std::string> cors;   ///< allowed CORS origins; "localhost": this machine's; "*": any
};

/// The HTTP server in front of its models.
class Server {
 public:
  /// Starts to listen; requests are answered with "loading" until load() returns. Fails if the address is
  /// unavailable or the TLS files are invalid.
  static Result<std::unique_ptr<Server>> listen(ServerOptions options);
  ~Server();

  /// Loads the model, or those of several that are loaded at start. Requests are served from then on.
  Result<void> load();
  int port() const { return http_->port(); }
  /// Returns false once connections are no longer accepted: after stop(), or if the socket failed.
  bool listening() const { return http_->listening(); }

  /// Fails if the model can no longer be computed. No new completions are accepted in that case.
  Result<void> check_alive() { return models_.check_alive(); }
  /// Returns true while a model is being loaded, which the destructor waits for.
  bool loading() { return models_.loading(); }

  /// Makes /health report not ready and announces the end on every connection, but serves requests for
  /// `notice`, so that load balancers stop sending requests before any is refused. `hurry`: see stop().
  void announce_end(std::chrono::seconds notice, const std::function<bool()>& hurry = {});
  /// Stops accepting completions, lets running ones finish for up to `patience`, cancels the rest, and
  /// closes. `hurry` is polled; true ends the waiting immediately. Takes at most a few seconds longer than
  /// `patience` (tokenization of a long text that is in progress is not interrupted).
  void stop(std::chrono::seconds patience, const std::function<bool()>& hurry = {});

 private:
  explicit Server(ServerOptions options);
  /// Waits until all requests have been answered, but at most until `end`.
  void wait_for_answers(std::chrono::steady_clock::time_point end, const std::function<bool()>& hurry);

  ServedModels models_;
  Routes routes_;
  std::unique_ptr<http::HttpServer> http_;
  bool stopped_ = false;
};

}  // namespace spectr::server

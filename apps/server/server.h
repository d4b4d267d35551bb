#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/http/http_server.h"
#include "apps/server/keys.h"
#include "apps/server/routes.h"
#include "apps/server/service.h"

namespace spectr::server {

struct ServerOptions {
  ServiceOptions service;
  http::HttpOptions http;
  Keys keys;
  bool metrics = false;
  LogFormat log = LogFormat::text;
  std::vector<std::string> names;  ///< which a local server answers to besides the local ones
  std::vector<std::string> cors;   ///< the allowed CORS origins; "localhost": this machine's; "*": any
};

/// The HTTP server in front of a Service.
class Server {
 public:
  /// Listens, and answers that the model is being loaded. Error: the address cannot be had, or what TLS
  /// needs.
  static Result<std::unique_ptr<Server>> listen(ServerOptions options);
  ~Server();

  /// Loads the models; what is asked from now on is answered.
  Result<void> load();
  int port() const { return http_->port(); }
  /// False once connections are no longer taken: after stop(), or where the system broke the socket.
  bool listening() const { return http_->listening(); }

  /// Whether texts can be written. Error: the model cannot be computed any more; no new texts are taken then.
  Result<void> check_alive() { return service_.check_alive(); }

  /// Tells /health that it is not ready, and every connection that its answer is the last, but goes on
  /// answering for so long: a balancer stops sending requests before any is refused. `hurry` as of stop().
  void announce_end(std::chrono::seconds notice, const std::function<bool()>& hurry = {});
  /// Takes no new texts, lets those that are being written end for so long, cancels the rest, and closes.
  /// `hurry` is asked again and again: true ends the patience at once. Takes a few seconds more than the
  /// patience at most, whatever clients do (a long text that is just being tokenized ends first).
  void stop(std::chrono::seconds patience, const std::function<bool()>& hurry = {});

 private:
  explicit Server(ServerOptions options);
  /// Waits until every answer has been given, at most until `end`.
  void wait_for_answers(std::chrono::steady_clock::time_point end, const std::function<bool()>& hurry) const;

  Service service_;
  Routes routes_;
  std::unique_ptr<http::HttpServer> http_;
  bool stopped_ = false;
};

}  // namespace spectr::server

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/server/keys.h"
#include "apps/server/service.h"

namespace spectr::server {

struct ServerOptions {
  ServiceOptions service;
  std::string host = "127.0.0.1";
  int port = 8080;  ///< 0: any that is free
  Keys keys;
  bool metrics = false;
  std::vector<std::string> names;  ///< which a local server answers to besides the local ones
  std::vector<std::string> cors;   ///< the allowed CORS origins; "*": any
  std::size_t threads = 32;        ///< for connections, beyond those that slots and queue need
};

class HttpServer;

/// The HTTP server in front of a Service.
class Server {
 public:
  /// Listens, and answers that the model is being loaded. Error: the address cannot be had.
  static Result<std::unique_ptr<Server>> listen(ServerOptions options);
  ~Server();

  /// Loads the models; what is asked from now on is answered.
  Result<void> load();
  int port() const { return port_; }
  /// False once connections are no longer taken: after stop(), or where the system broke the socket.
  bool listening() const { return !ended_; }

  /// Takes no new texts, lets those that are being written end for so long, cancels the rest, and closes.
  /// `hurry` is asked again and again: true ends the patience at once. Takes a few seconds more than the
  /// patience at most, whatever clients do (a long text that is just being tokenized ends first).
  void stop(std::chrono::seconds patience, const std::function<bool()>& hurry = {});

 private:
  explicit Server(ServerOptions options);
  /// Waits until every answer has been given, at most until `end`.
  void wait_for_answers(std::chrono::steady_clock::time_point end, const std::function<bool()>& hurry);

  ServerOptions options_;
  Service service_;
  std::unique_ptr<HttpServer> http_;
  int port_ = 0;
  std::atomic<bool> ended_ = false;
  std::jthread listener_;
};

}  // namespace spectr::server

#include "apps/server/server.h"

#include <thread>
#include <utility>

namespace spectr::server {
namespace {

constexpr std::chrono::milliseconds between_looks{20};
constexpr std::chrono::seconds to_say_goodbye{2};

/// Waits until `so` returns true, `end` is reached, or `hurry`, if given, returns true.
void wait_until(const std::function<bool()>& so, std::chrono::steady_clock::time_point end,
                const std::function<bool()>& hurry) {
  while (!so() && std::chrono::steady_clock::now() < end && !(hurry && hurry()))
    std::this_thread::sleep_for(between_looks);
}

}  // namespace

Server::Server(ServerOptions options)
    : models_(options.models.empty() ? ServedModels(std::move(options.service))
                                     : ServedModels(std::move(options.models), options.limits)),
      routes_(models_, Origins(options.http.host, std::move(options.names), std::move(options.cors)),
              std::move(options.keys), options.metrics, options.log) {}

Result<std::unique_ptr<Server>> Server::listen(ServerOptions options) {
  const http::HttpOptions http = options.http;
  std::unique_ptr<Server> server(new Server(std::move(options)));
  SPECTR_TRY(server->http_, http::HttpServer::listen(http, server->routes_));
  return server;
}

Server::~Server() {
  if (http_) stop(std::chrono::seconds(0));
}

Result<void> Server::load() {
  return models_.load();
}

void Server::wait_for_answers(std::chrono::steady_clock::time_point end, const std::function<bool()>& hurry) {
  wait_until([this] { return models_.idle(); }, end, hurry);
}

void Server::announce_end(std::chrono::seconds notice, const std::function<bool()>& hurry) {
  models_.announce_end();
  http_->drain();
  wait_until([] { return false; }, std::chrono::steady_clock::now() + notice, hurry);
}

void Server::stop(std::chrono::seconds patience, const std::function<bool()>& hurry) {
  if (std::exchange(stopped_, true)) return;
  models_.drain();
  http_->drain();
  wait_for_answers(std::chrono::steady_clock::now() + patience, hurry);
  models_.cancel_all();
  const auto end = std::chrono::steady_clock::now() + to_say_goodbye;
  wait_for_answers(end, {});
  http_->finish(end);
}

}  // namespace spectr::server

#include "apps/server/server.h"

#include <netdb.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "apps/server/connection.h"
#include "apps/server/routes.h"

namespace spectr::server {
namespace {

constexpr int backlog = 512;
constexpr std::chrono::milliseconds between_looks{20};
constexpr std::chrono::seconds to_say_goodbye{2};

/// Error: no address has that name.
Result<void> check_host(const std::string& host) {
  if (host.empty()) return error("the host to listen on is empty");
  addrinfo* found = nullptr;
  if (const int failed = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found); failed != 0)
    return error("'{}' cannot be listened on: {}", host, ::gai_strerror(failed));
  ::freeaddrinfo(found);
  return {};
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      service_(options_.service),
      // A connection holds a thread for as long as its texts are waited for.
      http_(std::make_unique<HttpServer>(options_.service.slots.slots + options_.service.slots.queue +
                                         options_.threads)) {}

Result<std::unique_ptr<Server>> Server::listen(ServerOptions options) try {
  std::unique_ptr<Server> server(new Server(std::move(options)));
  const ServerOptions& o = server->options_;
  HttpServer& http = *server->http_;
  http.set_tcp_nodelay(true);
  add_routes(http, server->service_, o);
  SPECTR_TRY_VOID(check_host(o.host));
  errno = 0;
  if (o.port == 0) {
    server->port_ = http.bind_to_any_port(o.host);
  } else if (http.bind_to_port(o.host, o.port)) {
    server->port_ = o.port;
  }
  if (server->port_ <= 0) {
    return error("{}:{} cannot be listened on: {}", o.host, o.port, std::generic_category().message(errno));
  }
  server->listener_ = std::jthread([&http, &ended = server->ended_] {
    try {
      http.serve(backlog);
    } catch (const std::exception&) {
      // As where the system broke the socket: the owner sees that it ended.
    }
    ended = true;
  });
  return server;
} catch (const std::system_error& failure) {
  return error("there are no threads for all connections: {}", failure.what());
}

Server::~Server() {
  stop(std::chrono::seconds(0));
}

Result<void> Server::load() {
  return service_.load();
}

void Server::wait_for_answers(std::chrono::steady_clock::time_point end, const std::function<bool()>& hurry) {
  while (!service_.idle() && std::chrono::steady_clock::now() < end && !(hurry && hurry())) {
    std::this_thread::sleep_for(between_looks);
  }
}

void Server::stop(std::chrono::seconds patience, const std::function<bool()>& hurry) {
  if (!listener_.joinable()) return;
  if (service_.loaded()) service_.drain();
  wait_for_answers(std::chrono::steady_clock::now() + patience, hurry);
  service_.cancel_all();
  const auto end = std::chrono::steady_clock::now() + to_say_goodbye;
  wait_for_answers(end, {});
  http_->finish(end);
  listener_.join();
}

}  // namespace spectr::server

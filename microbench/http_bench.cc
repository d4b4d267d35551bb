// Measures how slow clients affect others: the median time of a normal request while 500 connections send one
// byte per second each, alternating with none.
//   http_bench [CONNECTIONS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/http/http_server.h"
#include "tests/server/raw_connection.h"

namespace {

using namespace spectr;
using Clock = std::chrono::steady_clock;
using server::RawConnection;

constexpr int rounds = 20, requests = 200;

class Hello final : public http::Handler {
 public:
  std::optional<http::Response> refuse(const http::Request& /*head*/) const override { return std::nullopt; }
  http::Headers headers(const http::Request& /*request*/) const override { return {}; }
  http::Answer handle(const http::Request& /*request*/, const http::Wake& /*wake*/) const override {
    return http::Response::of("text/plain", "hello");
  }
  http::Response failure(int status, std::string message) const override {
    return http::Response::of("text/plain", std::move(message), status);
  }
  bool is_brief(const http::Request& /*request*/) const override { return false; }
  void note(const http::Request& /*request*/, const http::Exchange& /*exchange*/) const override {}
};

/// Clients that send an endless head slowly.
class SlowClients {
 public:
  SlowClients(int port, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      clients_.push_back(std::make_unique<RawConnection>(port));
      clients_.back()->send("GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
    }
    if (count > 0) drip_ = std::jthread([this](const std::stop_token& stop) { drip(stop); });
  }

 private:
  void drip(const std::stop_token& stop) {
    for (std::size_t i = 0; !stop.stop_requested(); i = (i + 1) % clients_.size()) {
      clients_[i]->send("x");
      std::this_thread::sleep_for(std::chrono::seconds(1) / clients_.size());
    }
  }

  std::vector<std::unique_ptr<RawConnection>> clients_;
  std::jthread drip_;
};

void ask(int port, std::vector<double>& microseconds) {
  for (int i = 0; i < requests; ++i) {
    const auto begin = Clock::now();
    RawConnection client(port);
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    if (!client.receive_all().ends_with("hello")) std::abort();
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void compare(std::size_t connections) {
  server::allow_many_files();
  const Hello hello;
  http::HttpOptions options{.port = 0};
  options.limits.head = std::chrono::hours(1);
  const auto server = http::HttpServer::listen(options, hello).value();
  std::vector<double> alone, among;
  for (int round = 0; round < rounds; ++round) {
    ask(server->port(), alone);
    const SlowClients slow(server->port(), connections);
    ask(server->port(), among);
  }
  std::printf("median of %zu requests: %.1f us alone, %.1f us among %zu slow clients, ratio %.3f\n",
              alone.size(), median(alone), median(among), connections, median(among) / median(alone));
}

}  // namespace

int main(int argc, char** argv) try {
  compare(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 500);
} catch (const std::exception& error) {
  std::fprintf(stderr, "http_bench: %s\n", error.what());
  return 1;
}

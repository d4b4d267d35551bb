#include "apps/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/server/raw_connection.h"

namespace spectr::http {
namespace {

using server::RawConnection;
using testing::EndsWith;
using testing::HasSubstr;

/// Handles only probes until it is released.
class BusyHandler final : public Handler {
 public:
  std::optional<Response> refuse(const Request& /*head*/) const override { return std::nullopt; }
  bool is_brief(const Request& request) const override { return request.method != "POST"; }
  Headers headers(const Request& /*request*/) const override { return {}; }
  Answer handle(const Request& request, const Wake& /*wake*/) const override {
    if (is_brief(request)) return Response::of("text/plain", "ready");
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_; });
    return Response::of("text/plain", "done");
  }
  Response failure(int status, std::string message) const override {
    return Response::of("text/plain", std::move(message), status);
  }
  void note(const Request& /*request*/, const Exchange& /*exchange*/) const override {}

  void wait_for(int handled) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= handled; });
  }
  void release() const {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int waiting_ = 0;
  mutable bool released_ = false;
};

TEST(HttpServer, AnswersProbesWhileAllItsThreadsAreBusy) {
  constexpr int threads = 2;
  const BusyHandler handler;
  HttpOptions options;
  options.port = 0;
  options.threads = threads;
  const auto server = HttpServer::listen(options, handler).value();
  std::vector<std::unique_ptr<RawConnection>> busy;
  for (int i = 0; i < 2 * threads; ++i) {
    busy.push_back(std::make_unique<RawConnection>(server->port()));
    busy.back()->send_post("/work", "{}");
  }
  handler.wait_for(threads);
  for (int i = 0; i < 5; ++i) {
    RawConnection probe(server->port());
    probe.send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(probe.receive_all(), EndsWith("\r\n\r\nready"));
  }
  handler.release();
  for (const auto& client : busy) EXPECT_THAT(client->receive_until("done"), HasSubstr("done"));
}

TEST(HttpServer, HandlesAsManyRequestsAtATimeAsItHasThreads) {
  constexpr int threads = 3;
  const BusyHandler handler;
  HttpOptions options;
  options.port = 0;
  options.threads = threads;
  const auto server = HttpServer::listen(options, handler).value();
  std::vector<std::unique_ptr<RawConnection>> busy;
  for (int i = 0; i < threads; ++i) {
    busy.push_back(std::make_unique<RawConnection>(server->port()));
    busy.back()->send_post("/work", "{}");
  }
  handler.wait_for(threads);  // returns only if all of them are being handled
  handler.release();
}

}  // namespace
}  // namespace spectr::http

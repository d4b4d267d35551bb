// What is answered, without a connection.
#include "apps/server/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Said : http::Sink {
  void send(http::Response answer) override {
    whole = std::move(answer);
    ended = true;
  }
  void begin(http::Response answer, std::string) override { head = std::move(answer); }
  void write(std::string_view piece) override { body += piece; }
  void end() override { ended = true; }

  http::Response whole = {}, head = {};
  std::string body = {};
  bool ended = false;
};

class RoutesOfAService : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    service_ = std::make_unique<Service>(TestServer::options(1).service);
    service_->load().value();
  }
  static void TearDownTestSuite() { service_.reset(); }

  static http::Request post(const std::string& path, const TestJson& body) {
    return {.method = "POST", .path = path, .headers = {{"Host", "localhost"}}, .body = body.dump()};
  }
  http::Answer ask(const http::Request& request) const {
    return routes.handle(request, [] {});
  }
  int status_of(const http::Request& request) const {
    const auto refused = routes.refuse(request);
    return refused ? refused->status : 200;
  }

  static inline std::unique_ptr<Service> service_;
  const Routes routes{*service_, Origins("127.0.0.1", {}, {}), Keys(), false};
};

Said all_of(http::Answer answer) {
  Said said;
  const auto reply = std::get<std::unique_ptr<http::Reply>>(std::move(answer));
  for (reply->advance(said); !said.ended; reply->advance(said)) std::this_thread::sleep_for(1ms);
  return said;
}

TEST_F(RoutesOfAService, StreamATextAsItIsWritten) {
  TestJson body = {{"prompt", "Once"}, {"n_predict", 5}, {"stream", true}, {"ignore_eos", true}};
  const Said said = all_of(ask(post("/v1/completions", body)));
  EXPECT_EQ(said.head.headers.get("content-type"), "text/event-stream");
  EXPECT_THAT(said.body, StartsWith("data: {"));
  EXPECT_THAT(said.body, EndsWith("data: [DONE]\n\n"));
}

TEST_F(RoutesOfAService, TellATextAtOnceWhenItIsComplete) {
  const Said said =
      all_of(ask(post("/completion", {{"prompt", "Once"}, {"n_predict", 5}, {"ignore_eos", true}})));
  EXPECT_EQ(said.whole.status, 200);
  EXPECT_THAT(said.whole.body, HasSubstr("\"tokens_predicted\":5"));
}

TEST_F(RoutesOfAService, CancelATextThatNobodyWaitsFor) {
  auto answer = ask(post("/completion", {{"prompt", "Once"}, {"n", 16}, {"ignore_eos", true}}));
  EXPECT_FALSE(service_->idle());
  answer = http::Response{};
  EXPECT_TRUE(service_->idle());
  EXPECT_TRUE(comes_true([] { return !service_->slots().states().front().busy; }));
}

TEST_F(RoutesOfAService, TakeTextsForAWhileWhenTheyAreReadyNoMore) {
  Service ending(TestServer::options(1).service);
  ending.load().value();
  const Routes of_it(ending, Origins("127.0.0.1", {}, {}), Keys(), false);
  const auto status = [&](const http::Request& request) {
    const http::Answer answer = of_it.handle(request, [] {});
    const auto* response = std::get_if<http::Response>(&answer);
    return response == nullptr ? 200 : response->status;  // else a text that is being written
  };
  const http::Request health = {.method = "GET", .path = "/health", .headers = {}, .body = ""};
  const http::Request props = {.method = "GET", .path = "/props", .headers = {}, .body = ""};
  const http::Request text = post("/v1/completions", {{"prompt", "Once"}, {"max_tokens", 1}});
  EXPECT_EQ(status(health), 200);
  ending.announce_end();
  EXPECT_EQ(status(health), 503);
  EXPECT_EQ(status(text), 200);
  ending.drain();
  EXPECT_EQ(status(health), 503);
  EXPECT_EQ(status(text), 503);
  EXPECT_EQ(status(props), 200);
}

TEST_F(RoutesOfAService, RefuseByTheHeadAlone) {
  http::Request request = post("/tokenize", {});
  EXPECT_EQ(status_of(request), 200);
  request.headers.add("Content-Encoding", "gzip");
  EXPECT_EQ(status_of(request), 415);
  request.headers = {{"Host", "evil.example"}};
  EXPECT_EQ(status_of(request), 403);
  request.headers = {{"Host", "localhost"}};
  request.path = "/nope";
  EXPECT_EQ(status_of(request), 404);
  request.path = "/health";
  EXPECT_EQ(status_of(request), 405);
}

}  // namespace
}  // namespace spectr::server

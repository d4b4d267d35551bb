// Routing and replies, tested without a connection.
#include "apps/server/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  void note(std::string name, http::Note value) override { notes[std::move(name)] = std::move(value); }

  http::Response whole = {}, head = {};
  std::string body = {};
  http::Notes notes = {};
  bool ended = false;
};

class RoutesOfAService : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    models_ = std::make_unique<ServedModels>(TestServer::options(1).service);
    models_->load().value();
  }
  static void TearDownTestSuite() { models_.reset(); }

  static http::Request post(const std::string& path, const TestJson& body) {
    return {.method = "POST", .path = path, .headers = {{"Host", "localhost"}}, .body = body.dump()};
  }
  http::Answer ask(const http::Request& request) const {
    return routes_.handle(request, [] {});
  }
  int status_of(const http::Request& request) const {
    const auto refused = routes_.refuse(request);
    return refused ? refused->status : 200;
  }

  static inline std::unique_ptr<ServedModels> models_;
  const Routes routes_{*models_, Origins("127.0.0.1", {}, {}), Keys(), false};
};

TEST(Aliases, AreNamesOfTheSameModel) {
  ServerOptions options = TestServer::options(1);
  options.service.aliases = {"first", "second"};
  const TestServer server(std::move(options));
  const TestJson model = server.get("/v1/models").json()["data"][0];
  EXPECT_EQ(model["id"], "first");
  EXPECT_EQ(model["aliases"], TestJson({"first", "second"}));
  EXPECT_EQ(server.get("/v1/models/second").json(), model);
  EXPECT_EQ(server.get("/v1/models/third").status, 404);
  const TestJson body = {{"prompt", "Once"}, {"max_tokens", 1}, {"model", "second"}};
  EXPECT_EQ(server.post("/v1/completions", body).json()["model"], "first");
}

Said all_of(http::Answer answer) {
  Said said;
  const auto reply = std::get<std::unique_ptr<http::Reply>>(std::move(answer));
  EXPECT_TRUE(test::comes_true(
      [&] {
        reply->advance(said);
        return said.ended;
      },
      1ms))
      << "the answer does not end: " << said.body;
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

TEST_F(RoutesOfAService, NoteTheTokensOfATextForTheLog) {
  for (const bool stream : {true, false}) {
    const TestJson body = {{"prompt", {1, 2, 3}}, {"n_predict", 5}, {"ignore_eos", true}, {"stream", stream}};
    Said said = all_of(ask(post("/completion", body)));
    EXPECT_EQ(std::get<std::uint64_t>(said.notes["prompt_tokens"]), 3u);
    EXPECT_EQ(std::get<std::uint64_t>(said.notes["generated_tokens"]), 5u);
  }
}

TEST_F(RoutesOfAService, NoteWhyARequestIsRefused) {
  const http::Answer answer = ask(post("/completion", {{"prompt", "Once"}, {"temperature", -1}}));
  const auto& notes = std::get<http::Response>(answer).notes;
  EXPECT_THAT(std::get<std::string>(notes.at("reason")), HasSubstr("'temperature'"));
}

TEST_F(RoutesOfAService, CallNothingBriefThatHasABody) {
  EXPECT_TRUE(routes_.is_brief({.method = "GET", .path = "/health"}));
  EXPECT_TRUE(routes_.is_brief({.method = "HEAD", .path = "/metrics"}));
  EXPECT_FALSE(routes_.is_brief({.method = "POST", .path = "/tokenize"}));
}

TEST_F(RoutesOfAService, CancelATextThatNobodyWaitsFor) {
  auto answer = ask(post("/completion", {{"prompt", "Once"}, {"n", 16}, {"ignore_eos", true}}));
  EXPECT_FALSE(models_->idle());
  answer = http::Response{};
  EXPECT_TRUE(models_->idle());
  const ModelLease model = models_->states().front().lease;
  EXPECT_TRUE(comes_true([&] { return !model->engine().slots().states().front().busy; }));
}

TEST_F(RoutesOfAService, TakeTextsForAWhileWhenTheyAreReadyNoMore) {
  ServedModels ending(TestServer::options(1).service);
  ending.load().value();
  const Routes of_it(ending, Origins("127.0.0.1", {}, {}), Keys(), false);
  const auto status = [&](const http::Request& request) {
    const http::Answer answer = of_it.handle(request, [] {});
    const auto* response = std::get_if<http::Response>(&answer);
    return response == nullptr ? 200 : response->status;  // otherwise a reply that is streamed
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
  for (const char* encoding : {"gzip", "identity, gzip", "br", "identityx", "x-identity"}) {
    request.headers.set("Content-Encoding", encoding);
    EXPECT_EQ(status_of(request), 415) << encoding;
  }
  for (const char* encoding : {"identity", "Identity", " identity ", "identity, IDENTITY", ""}) {
    request.headers.set("Content-Encoding", encoding);
    EXPECT_EQ(status_of(request), 200) << encoding;
  }
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

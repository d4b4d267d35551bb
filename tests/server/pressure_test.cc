#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;

const TestJson endless = {{"prompt", "Once upon a time"}, {"ignore_eos", true}, {"stream", true}};

/// Waits until the condition holds; false where it does not within a minute.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

int busy(const TestServer& server) {
  int busy = 0;
  for (const TestJson& slot : server.get("/slots").json()) busy += slot["is_processing"] == true ? 1 : 0;
  return busy;
}

double metric(const TestServer& server, const std::string& name) {
  const std::string text = server.get("/metrics").body;
  const std::size_t at = text.find("\nspectr_" + name + " ");
  return at == std::string::npos ? -1.0 : std::stod(text.substr(at + name.size() + 9));
}

TEST(Pressure, AClientThatGoesFreesItsSlot) {
  const TestServer server(TestServer::options(1, 4));
  for (bool stream : {true, false}) {
    TestJson body = endless;
    body["stream"] = stream;
    auto client = std::make_unique<RawConnection>(server.server().port());
    client->send_post("/v1/completions", body.dump());
    ASSERT_TRUE(comes_true([&] { return busy(server) == 1; }));
    client.reset();
    EXPECT_TRUE(comes_true([&] { return busy(server) == 0; }));
  }
  EXPECT_EQ(server.get("/metrics").body.find("ending=\"failed\"} 0") != std::string::npos, true);
}

TEST(Pressure, AFullQueueIsAnsweredWith429) {
  const TestServer server(TestServer::options(1, 1));
  RawConnection first(server.server().port()), second(server.server().port());
  first.send_post("/v1/completions", endless.dump());
  ASSERT_TRUE(comes_true([&] { return busy(server) == 1; }));
  second.send_post("/v1/completions", endless.dump());
  ASSERT_TRUE(comes_true([&] { return metric(server, "requests_deferred") == 1; }));
  const auto reply = server.post("/v1/completions", endless);
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.error(), "rate_limit_error");
  EXPECT_GE(std::stoi(reply.headers.find("Retry-After")->second), 1);
}

TEST(Pressure, ATextEndsWhenItsTimeIsOver) {
  ServerOptions options = TestServer::options(1);
  options.service.timeout = 0s;
  const TestServer server(std::move(options));
  TestJson body = endless;
  body["stream"] = false;
  const auto reply = server.post("/v1/completions", body);
  if (reply.status == 200) {
    EXPECT_EQ(reply.json()["choices"][0]["finish_reason"], "length");
    EXPECT_LT(reply.json()["usage"]["completion_tokens"], 400);
  } else {
    EXPECT_EQ(reply.status, 503);
  }
}

TEST(Pressure, SixtyFourClientsOnFourSlotsLoseNothing) {
  const TestServer server(TestServer::options(4, 64));
  const TestJson alone =
      server.post("/v1/completions", TestJson{{"prompt", "The sun"}, {"seed", 5}, {"max_tokens", 6}}).json();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 64; ++i) {
      clients.emplace_back([&, i] {
        TestJson body = {{"prompt", i % 2 == 0 ? "The sun" : "One day"}, {"seed", 5}, {"max_tokens", 6}};
        body["stream"] = i % 4 == 1;
        const auto reply = server.post("/v1/completions", body);
        const bool same = i % 2 != 0 || (reply.status == 200 &&
                                         reply.json()["choices"][0]["text"] == alone["choices"][0]["text"]);
        if (reply.status == 200 && same) ++good;
      });
    }
  }
  EXPECT_EQ(good, 64);
  EXPECT_GT(metric(server, "n_busy_slots_per_decode"), 1.5) << "texts share passes";
}

TEST(Pressure, AReaderThatDoesNotReadHoldsNobodyUp) {
  const TestServer server(TestServer::options(2));
  TestJson body = endless;
  body["logprobs"] = 5;
  RawConnection lazy(server.server().port());
  lazy.send_post("/v1/completions", body.dump());
  ASSERT_TRUE(comes_true([&] { return busy(server) == 1; }));
  EXPECT_EQ(server.post("/v1/completions", TestJson{{"prompt", "One day"}, {"max_tokens", 8}}).status, 200);
  EXPECT_TRUE(comes_true([&] { return busy(server) == 0; })) << "its text is written all the same";
}

TEST(Pressure, HeadersWithoutEndAreCutOff) {
  const TestServer server(TestServer::options(1));
  RawConnection flood(server.server().port());
  std::string header = "GET /health HTTP/1.1\r\n";
  bool open = flood.send(header);
  for (int i = 0; open && i < 100'000; ++i)
    open = flood.send("X-Flood-" + std::to_string(i) + ": " + std::string(1000, 'x') + "\r\n");
  EXPECT_FALSE(open);
  EXPECT_EQ(server.get("/health").status, 200);
}

TEST(Pressure, StoppingLetsTextsEndAndTakesNoNewOnes) {
  TestServer server(TestServer::options(1));
  TestServer::Reply running{};
  std::jthread client([&] {
    running = server.post("/v1/completions",
                          TestJson{{"prompt", "Once"}, {"max_tokens", 60}, {"ignore_eos", true}});
  });
  ASSERT_TRUE(comes_true([&] { return busy(server) == 1; }));
  std::jthread stopper([&] { server.server().stop(60s); });
  EXPECT_TRUE(comes_true([&] {
    const int status = server.post("/v1/completions", TestJson{{"prompt", "Once"}, {"max_tokens", 1}}).status;
    return status == 503 || status == -1;
  }));
  stopper.join();
  client.join();
  EXPECT_EQ(running.status, 200);
  EXPECT_EQ(running.json()["usage"]["completion_tokens"], 60);
  EXPECT_EQ(server.get("/health").status, -1);
}

}  // namespace
}  // namespace spectr::server

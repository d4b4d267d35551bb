#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

const TestJson endless = {{"prompt", "Once upon a time"}, {"ignore_eos", true}, {"stream", true}};

/// Returns options of a server with the model's maximum context.
ServerOptions long_texts(std::size_t slots) {
  ServerOptions options = TestServer::options(slots);
  options.service.engine.models.context = 0;
  return options;
}

/// Returns `endless` with n completions, which takes a while on one slot.
TestJson many(int n) {
  TestJson body = endless;
  body["n"] = n;
  return body;
}

TEST(Pressure, AClientThatGoesFreesItsSlot) {
  for (const bool stream : {true, false}) {
    for (const char* more : {"", "x"}) {  // bytes sent after its request
      const TestServer server(long_texts(1));
      TestJson body = many(16);
      body["stream"] = stream;
      auto client = std::make_unique<RawConnection>(server.server().port());
      client->send_post("/v1/completions", body.dump());
      ASSERT_TRUE(comes_true([&] { return server.busy() == 1; }));
      client->send(more);
      client.reset();
      EXPECT_TRUE(comes_true([&] { return server.busy() == 0; }));
      EXPECT_GE(server.ended("given_up"), 1.0) << "stream " << stream << ", beyond: '" << more << "'";
      EXPECT_EQ(server.ended("failed"), 0.0);
    }
  }
}

TEST(Pressure, FiveHundredSlowClientsAreHeldAndEverybodyElseIsAnswered) {
  allow_many_files();
  ServerOptions options = TestServer::options(1, 0);
  options.http.limits.head = options.http.limits.body = 1h;
  const TestServer server(std::move(options));
  const std::string heads[] = {"G", "GET /health HTTP/1.1\r\nX: y",
                               "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16\r\n\r\n{"};
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (std::size_t i = 0; i < 500; ++i) {
    slow.push_back(std::make_unique<RawConnection>(server.server().port()));
    ASSERT_TRUE(slow.back()->send(heads[i % std::size(heads)]));
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_EQ(server.post("/completion", {{"prompt", "Once"}, {"n_predict", 4}}).status, 200);
  // Each slow request can still be completed.
  slow[1]->send("\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(slow[1]->receive_until("}"), HasSubstr("200 OK"));
  slow[2]->send("\"content\": \"a\"}");
  EXPECT_THAT(slow[2]->receive_until("}"), HasSubstr("200 OK"));
}

TEST(Pressure, ASocketThatTheSystemBreaksEndsTheServerWithoutHangingIt) {
  const TestServer server;
  EXPECT_TRUE(server.server().listening());
  EXPECT_EQ(server.get("/health").status, 200);  // it is accepting now, and will not listen again
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    int listens = 0;
    socklen_t length = sizeof listens;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0) continue;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    if (ntohs(address.sin_port) == server.server().port()) ::shutdown(fd, SHUT_RDWR);
  }
  EXPECT_TRUE(comes_true([&] { return !server.server().listening(); }));
  server.server().stop(0s);
}

TEST(Pressure, ATextThatFailsLeavesTheServerAndItsSlot) {
  const std::filesystem::path broken = std::filesystem::path(testing::TempDir()) / "spectr-no-numbers.gguf";
  std::filesystem::copy_file(find_data("models/stories260K-f32.gguf").value(), broken,
                             std::filesystem::copy_options::overwrite_existing);
  constexpr std::size_t bytes = 1000;  // at the end of the last tensor
  std::fstream file(broken, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-static_cast<std::streamoff>(bytes), std::ios::end);
  file << std::string(bytes, '\xff');
  file.close();

  ServerOptions options = TestServer::options(1);
  options.service.engine.models.target = broken;
  options.service.engine.models.drafts.clear();
  const TestServer server(std::move(options));
  for (int i = 0; i < 3; ++i) {
    const auto reply = server.post("/completion", {{"prompt", "Once upon a time"}, {"n_predict", 4}});
    EXPECT_EQ(reply.status, 500);
    EXPECT_THAT(reply.body, HasSubstr("nan"));
  }
  EXPECT_EQ(server.ended("failed"), 3.0);
  std::filesystem::remove(broken);
}

TEST(Pressure, AFullQueueIsAnsweredWith429) {
  ServerOptions options = long_texts(1);
  options.service.engine.slots.queue = 15;
  const TestServer server(std::move(options));
  RawConnection first(server.server().port());
  first.send_post("/v1/completions", many(16).dump());
  ASSERT_TRUE(comes_true([&] { return server.metric("requests_deferred") > 0; }));
  const auto reply = server.post("/v1/completions", many(16));
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.error(), "rate_limit_error");
  EXPECT_GE(std::stoi(reply.header("Retry-After")), 1);
}

TEST(Pressure, ATextEndsWhenItsTimeIsOver) {
  ServerOptions options = long_texts(1);
  options.service.timeout = 0s;
  const TestServer server(std::move(options));
  TestJson body = endless;
  body["stream"] = false;
  const auto reply = server.post("/v1/completions", body);
  EXPECT_EQ(server.ended("given_up"), 1.0);
  if (server.metric("tokens_predicted_total") > 0.0) {
    ASSERT_EQ(reply.status, 200) << "the slot was free";
    EXPECT_EQ(reply.json()["choices"][0]["finish_reason"], "timeout");
    EXPECT_EQ(reply.json()["usage"]["completion_tokens"], server.metric("tokens_predicted_total"));
  } else {
    EXPECT_EQ(reply.status, 504);
    EXPECT_EQ(reply.error(), "timeout_error");
  }
  EXPECT_GT(server.metric("prompt_seconds_total") + server.metric("tokens_predicted_seconds_total"), 0.0);
}

TEST(Pressure, ATextThatGotNoSlotInTimeIsNotToldAsOneThatEnded) {
  ServerOptions options = long_texts(1);
  options.service.timeout = 0s;
  const TestServer server(std::move(options));
  TestJson body = many(3);
  int ended = 0, failed = 0;
  for (const std::string& event : server.post("/v1/completions", body).events()) {
    if (event == "[DONE]") continue;
    const TestJson json = TestJson::parse(event);
    if (!json.contains("error")) {
      ended += json["choices"][0]["finish_reason"] == "timeout" ? 1 : 0;
    } else if (json["error"]["code"] == 504) {
      ++ended;
    } else {
      EXPECT_EQ(json["error"]["code"], 503);
      ++failed;
    }
  }
  EXPECT_EQ(ended, 1) << "the first has the slot";
  EXPECT_EQ(failed, 2);
  body["stream"] = false;
  const auto reply = server.post("/v1/completions", body);
  EXPECT_THAT(reply.status, testing::AnyOf(503, 504));
}

TEST(Pressure, MoreTextsThanThereIsRoomForAreRefusedForGood) {
  const TestServer server(TestServer::options(1, 2));
  TestJson body = many(4);
  body["max_tokens"] = 1;
  const auto reply = server.post("/v1/completions", body);
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, AllOf(HasSubstr("'n': 4"), HasSubstr("room for 3")));
  body["n"] = 3;
  EXPECT_EQ(server.post("/v1/completions", body).status, 200);
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
  EXPECT_GT(server.metric("n_busy_slots_per_decode"), 1.5) << "texts share passes";
  for (const char* histogram : {"request_queue_time_seconds", "time_to_first_token_seconds"})
    EXPECT_EQ(server.metric(fmt::format("{}_count", histogram)), server.ended("finished")) << histogram;
  EXPECT_GT(server.metric("inter_token_latency_seconds_count"), 0);
  EXPECT_EQ(server.metric("iteration_tokens_total_count"), server.metric("n_decode_total"));
  EXPECT_EQ(server.metric("iteration_drafted_share_count"), server.metric("n_decode_total"));
  EXPECT_GT(server.metric("kv_cache_usage_perc"), 0.0);
  EXPECT_LE(server.metric("kv_cache_usage_perc"), 1.0);
}

/// Requests more than the socket's buffers hold.
void ask_for_much(RawConnection& client) {
  TestJson body = many(2);
  body["max_tokens"] = 100;
  body["messages"] = {{{"role", "user"}, {"content", "Once upon a time"}}};
  body["logprobs"] = true;
  body["top_logprobs"] = 20;
  body.erase("prompt");
  client.send_post("/v1/chat/completions", body.dump());
}

TEST(Pressure, AReaderThatDoesNotReadHoldsNobodyUp) {
  const TestServer server(long_texts(2));
  RawConnection lazy(server.server().port(), RawConnection::Buffers::small);
  ask_for_much(lazy);
  EXPECT_EQ(server.post("/v1/completions", TestJson{{"prompt", "One day"}, {"max_tokens", 8}}).status, 200);
  EXPECT_TRUE(comes_true([&] { return server.ended("finished") == 3.0; }))
      << "its texts are written all the same";
}

TEST(Pressure, AReaderThatDoesNotReadDoesNotKeepTheServerFromStopping) {
  TestServer server(long_texts(2));
  RawConnection lazy(server.server().port(), RawConnection::Buffers::small);
  ask_for_much(lazy);
  ASSERT_TRUE(comes_true([&] { return server.ended("finished") >= 1.0; }));
  std::atomic<bool> hurry = false;
  auto stopped =
      std::async(std::launch::async, [&] { server.server().stop(1h, [&] { return hurry.load(); }); });
  EXPECT_TRUE(comes_true([&] { return server.get("/health").status == 503; })) << "it is stopping";
  hurry = true;
  EXPECT_EQ(stopped.wait_for(20s), std::future_status::ready) << "though the answer has not been read";
}

TEST(Pressure, TextsThatAStopCutsOffAreNotToldAsFinished) {
  TestServer server(long_texts(1));
  TestJson body = many(16);
  RawConnection streamed(server.server().port());
  streamed.send_post("/v1/completions", body.dump());
  std::string begin = streamed.receive_until("data: ");
  body["stream"] = false;
  RawConnection whole(server.server().port());
  whole.send_post("/v1/completions", body.dump());
  ASSERT_TRUE(comes_true([&] { return server.metric("requests_deferred") > 16; }));
  server.server().stop(1h, [] { return true; });

  EXPECT_THAT(whole.receive_all(), AllOf(HasSubstr("HTTP/1.1 503"), HasSubstr("unavailable_error")));
  TestServer::Reply reply{read_reply(begin + streamed.receive_all())};
  int finished = 0, cancelled = 0;
  ASSERT_FALSE(reply.events().empty());
  EXPECT_EQ(reply.events().back(), "[DONE]");
  for (const std::string& event : reply.events()) {
    if (event == "[DONE]") continue;
    const TestJson json = TestJson::parse(event);
    cancelled += json.contains("error") && json["error"]["code"] == 503 ? 1 : 0;
    finished += json.contains("choices") && json["choices"][0]["finish_reason"] != nullptr ? 1 : 0;
  }
  EXPECT_EQ(finished + cancelled, 16);
  EXPECT_GE(cancelled, 1);
}

TEST(Pressure, AClientThatSendsNoMoreGetsItsWholeText) {
  const TestServer server(TestServer::options(1));
  for (const bool stream : {true, false}) {
    const TestJson body = {
        {"prompt", "Once"}, {"ignore_eos", true}, {"n_predict", 40}, {"stream", stream}, {"temperature", 0}};
    RawConnection client(server.server().port());
    client.send_post("/completion", body.dump());
    client.shut();
    EXPECT_THAT(client.receive_all(), HasSubstr("\"tokens_predicted\":40"));
  }
  EXPECT_EQ(server.ended("given_up"), 0.0);
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
  constexpr int texts = 4;
  TestServer server(long_texts(1));
  TestJson body = many(texts);
  body["stream"] = false;
  body["max_tokens"] = 150;
  TestServer::Reply running{};
  std::jthread client([&] { running = server.post("/v1/completions", body); });
  ASSERT_TRUE(comes_true([&] { return server.busy() == 1; }));
  std::jthread stopper([&] { server.server().stop(10min); });
  EXPECT_TRUE(comes_true([&] {
    const int status = server.post("/v1/completions", TestJson{{"prompt", "Once"}, {"max_tokens", 1}}).status;
    return status == 503 || status == -1;
  }));
  stopper.join();
  client.join();
  ASSERT_EQ(running.status, 200) << running.body;
  const TestJson choices = running.json()["choices"];
  EXPECT_EQ(choices.size(), texts);
  for (const TestJson& choice : choices) EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_EQ(server.get("/health").status, -1);
}

}  // namespace
}  // namespace spectr::server

// A connection's handling of requests, replies and clients, tested without sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/http/memory_client.h"
#include "tests/http/test_handler.h"

namespace spectr::http {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string get(const std::string& path, const std::string& more = "", const char* version = "1.1") {
  return "GET " + path + " HTTP/" + version + "\r\nHost: localhost\r\n" + more + "\r\n";
}

std::string post(const std::string& path, const std::string& more) {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more;
}

std::size_t answers(const std::string& received) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = received.find("HTTP/1.1 ", at)) != std::string::npos; ++at) ++count;
  return count;
}

/// Returns the X-Request-Id of the last reply.
std::string id_in(const std::string& received) {
  const std::string field = "X-Request-Id: ";
  const std::size_t begin = received.rfind(field) + field.size();
  return received.substr(begin, received.find("\r\n", begin) - begin);
}

class Connections : public testing::Test {
 protected:
  TestHandler handler_;
  MemoryClient client_{handler_};
};

TEST_F(Connections, AnswerOneRequestAfterTheOther) {
  client_.send(get("/a") + post("/b", "Content-Length: 3\r\n\r\nxyz") + "GET /c");
  EXPECT_THAT(client_.received(), HasSubstr("GET /a []"));
  EXPECT_THAT(client_.received(), EndsWith("POST /b [xyz]"));
  EXPECT_THAT(client_.received(), HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_THAT(client_.received(), HasSubstr("X-Test: yes\r\n"));
  client_.send(" HTTP/1.1\r\nHost: localhost\r\nConnection: TE, Close\r\n\r\n");
  EXPECT_THAT(client_.received(), HasSubstr("GET /c []"));
  EXPECT_THAT(client_.received(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client_.wire().finished);
  EXPECT_TRUE(client_.wire().closed);
  EXPECT_EQ(handler_.noted, std::vector<int>({200, 200, 200}));
}

TEST_F(Connections, ReturnARequestIdThatIsFitForALog) {
  const std::string ids[] = {"a", "0b1e-4F.7_x", "Root=1-67891233-abcdef", std::string(128, 'x')};
  for (const std::string& id : ids) {
    client_.send(get("/a", "X-Request-Id: " + id + "\r\n"));
    EXPECT_EQ(id_in(client_.received()), id);
    EXPECT_EQ(handler_.ids.back(), id);
  }
}

TEST_F(Connections, MakeARequestIdWhereThereIsNoneOrNoneThatIsFit) {
  std::set<std::string> made;
  const std::string cases[] = {"",
                               "X-Request-Id: \r\n",
                               "X-Request-Id: two words\r\n",
                               "X-Request-Id: a\"b\r\n",
                               "X-Request-Id: \xc3\xa4\r\n",
                               "X-Request-Id: " + std::string(129, 'x') + "\r\n",
                               "X-Request-Id: a\r\nX-Request-Id: b\r\n"};
  for (const std::string& fields : cases) {
    client_.send(get("/a", fields));
    const std::string id = id_in(client_.received());
    EXPECT_THAT(id, testing::MatchesRegex("[0-9a-f]{16}")) << fields;
    EXPECT_EQ(handler_.ids.back(), id);
    EXPECT_TRUE(made.insert(id).second) << "each has its own";
  }
  client_.send("hello\r\n\r\n");
  EXPECT_THAT(client_.received(), HasSubstr("HTTP/1.1 400"));
  EXPECT_TRUE(made.insert(id_in(client_.received())).second) << "what is no request has one, too";
}

TEST_F(Connections, TellTheHandlerWhatBecameOfAnAnswer) {
  client_.send(get("/stream"));
  handler_.script->complete = true;
  handler_.script->wake();
  client_.wait(20ms);
  ASSERT_EQ(handler_.exchanges.size(), 1u);
  const Exchange& exchange = handler_.exchanges[0];
  EXPECT_TRUE(exchange.complete);
  EXPECT_GT(exchange.duration.count(), 0);
  EXPECT_GE(std::get<std::uint64_t>(exchange.notes.at("advanced")), 1u) << "what the reply noted last";
}

TEST_F(Connections, TellTheHandlerOfAnAnswerWhoseClientHasLeft) {
  client_.send(get("/stream"));
  client_.wire().peer = Peer::gone;
  client_.wait(300ms);
  ASSERT_EQ(handler_.exchanges.size(), 1u);
  EXPECT_FALSE(handler_.exchanges[0].complete);
  EXPECT_EQ(handler_.exchanges[0].status, 200);

  MemoryClient impatient(handler_);
  impatient.send(get("/late"));
  impatient.wire().peer = Peer::gone;
  impatient.wait(300ms);
  ASSERT_EQ(handler_.exchanges.size(), 2u);
  EXPECT_FALSE(handler_.exchanges[1].complete);
  EXPECT_EQ(handler_.exchanges[1].status, Exchange::client_left) << "it has not seen any";
}

TEST_F(Connections, HandleBriefRequestsApart) {
  client_.send(get("/a"));
  EXPECT_EQ(client_.brief(), 0);
  client_.send(get("/brief"));
  EXPECT_EQ(client_.brief(), 1);
}

TEST_F(Connections, AnswerOnceMoreWhenTheServerDrains) {
  client_.send(get("/a"));
  EXPECT_THAT(client_.received(), HasSubstr("Connection: keep-alive\r\n"));
  client_.loop().draining = true;
  EXPECT_FALSE(client_.wire().closed);
  client_.send(get("/b") + get("/c"));
  EXPECT_THAT(client_.received(), HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(client_.received(), EndsWith("GET /b []")) << "nothing is read behind it";
  EXPECT_TRUE(client_.wire().finished);
  EXPECT_TRUE(client_.wire().closed);
  MemoryClient late(handler_);
  late.loop().draining = true;
  late.send(get("/d"));
  EXPECT_THAT(late.received(), EndsWith("GET /d []"));
}

TEST_F(Connections, AnswerThoughTheClientSendsNoMore) {
  client_.send(get("/late"));
  client_.wire().peer = Peer::silent;
  client_.end();
  client_.wait(200ms);
  EXPECT_FALSE(handler_.script->dropped);
  EXPECT_EQ(client_.received(), "") << "nor is it asked whether it is there so soon";
  handler_.script->complete = true;
  handler_.script->wake();
  client_.wait(50ms);
  EXPECT_THAT(client_.received(), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(client_.received(), EndsWith("\r\n\r\nlate"));
  EXPECT_TRUE(client_.wire().closed);
}

TEST_F(Connections, AskASilentClientWhetherItIsThere) {
  client_.send(get("/late"));
  client_.wire().peer = Peer::silent;
  client_.wait(client_.loop().limits.probe_delay + 300ms);
  EXPECT_EQ(client_.received(), "HTTP/1.1 100 Continue\r\n\r\n");
  client_.wire().peer = Peer::gone;  // the client has gone
  client_.wait(300ms);
  EXPECT_TRUE(handler_.script->dropped);
  EXPECT_TRUE(client_.wire().closed);
}

TEST_F(Connections, DropAReplyWhoseClientHasGone) {
  client_.send(get("/stream"));
  EXPECT_THAT(client_.received(), HasSubstr("Transfer-Encoding: chunked\r\n"));
  client_.wire().peer = Peer::gone;
  client_.wait(300ms);
  EXPECT_TRUE(handler_.script->dropped);
  handler_.script->wake();  // has no effect
  client_.wait(10ms);
}

TEST_F(Connections, SendAStreamAsItIsSaid) {
  client_.send(get("/stream"));
  handler_.script->pieces = {"ab", "c"};
  handler_.script->wake();
  client_.wait(20ms);
  EXPECT_THAT(client_.received(), EndsWith("\r\n\r\n2\r\nab\r\n1\r\nc\r\n"));
  handler_.script->complete = true;
  handler_.script->wake();
  client_.wait(20ms);
  EXPECT_THAT(client_.received(), EndsWith("0\r\n\r\n"));
  client_.send(get("/next"));
  EXPECT_THAT(client_.received(), EndsWith("GET /next []"));
}

TEST_F(Connections, SendAStreamToAnOldClientAsItIs) {
  handler_.script->pieces = {"ab", "c"};
  handler_.script->complete = true;
  client_.send(get("/stream", "Connection: keep-alive\r\n", "1.0") + get("/next"));
  EXPECT_THAT(client_.received(), EndsWith("\r\n\r\nabc"));
  EXPECT_THAT(client_.received(), Not(HasSubstr("chunked")));
  EXPECT_THAT(client_.received(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client_.wire().closed) << "that is its end";
}

TEST_F(Connections, HoldBackAStreamWhoseClientDoesNotRead) {
  client_.send(get("/stream"));
  client_.wire().most = 0;
  handler_.script->pieces = {"a"};
  handler_.script->wake();
  client_.wait(20ms);
  const int before = handler_.script->advanced;
  handler_.script->pieces = {"b"};
  handler_.script->wake();
  client_.wait(250ms);
  EXPECT_EQ(handler_.script->advanced, before) << "it is not asked for more";
}

TEST_F(Connections, SendWhateverAClientTakesAtATime) {
  client_.wire().most = 1;
  client_.send(get("/a") + get("/b"));
  EXPECT_EQ(answers(client_.received()), 2u);
  EXPECT_THAT(client_.received(), EndsWith("GET /b []"));
}

TEST_F(Connections, TellOnlyTheHeadToWhoWantsNoMore) {
  client_.send("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client_.received(), HasSubstr("Content-Length: 10\r\n"));
  EXPECT_THAT(client_.received(), EndsWith("\r\n\r\n"));
}

TEST_F(Connections, RefuseABodyBeforeItComes) {
  client_.send(post("/refused", "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_THAT(client_.received(), StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(answers(client_.received()), 1u);
  EXPECT_TRUE(client_.wire().closed);
}

TEST_F(Connections, AskForABodyThatIsWanted) {
  client_.send(post("/a", "Content-Length: 2\r\nExpect: 100-Continue\r\n\r\n"));
  EXPECT_EQ(client_.received(), "HTTP/1.1 100 Continue\r\n\r\n");
  client_.send("xy");
  EXPECT_THAT(client_.received(), EndsWith("POST /a [xy]"));
}

TEST_F(Connections, ReadNothingBehindABodyThatNobodyWants) {
  client_.send(get("/a", "Content-Length: 40\r\n") + get("/smuggled"));
  EXPECT_EQ(answers(client_.received()), 1u);
  EXPECT_THAT(client_.received(), HasSubstr("Connection: close\r\n"));
}

TEST_F(Connections, AnswerWhatThrowsAndWhatIsNoRequest) {
  client_.send(get("/broken"));
  EXPECT_THAT(client_.received(), StartsWith("HTTP/1.1 500"));
  client_.send("hello\r\n\r\n");
  EXPECT_THAT(client_.received(), HasSubstr("HTTP/1.1 400"));
  EXPECT_TRUE(client_.wire().closed);
}

TEST_F(Connections, EndBehindTheirAnswerWhenTheServerStops) {
  client_.send(get("/late"));
  client_.connection()->finish();
  EXPECT_FALSE(client_.wire().closed);
  handler_.script->complete = true;
  handler_.script->wake();
  client_.wait(20ms);
  EXPECT_THAT(client_.received(), EndsWith("late"));
  EXPECT_TRUE(client_.wire().closed);
}

TEST(SlowClients, AreToldThatTheyAreAndLeft) {
  Limits limits;
  limits.head = limits.body = limits.send = 50ms;
  limits.keep_alive = 150ms;
  limits.poll_interval = 10ms;
  const TestHandler handler;
  const std::pair<std::string, std::string> cases[] = {
      {"GET / HT", "HTTP/1.1 408"},
      {post("/a", "Content-Length: 9\r\n\r\nx"), "HTTP/1.1 408"},
      {"", ""},
      {"\r\n", ""}};
  for (const auto& [sent, answer] : cases) {
    MemoryClient client(handler, limits);
    client.send(sent);
    client.wait(300ms);
    EXPECT_THAT(client.received(), StartsWith(answer)) << sent;
    EXPECT_EQ(client.received().empty(), answer.empty()) << sent;
    EXPECT_TRUE(client.wire().closed) << sent;
  }
  MemoryClient reads_nothing(handler, limits);
  reads_nothing.wire().most = 0;
  reads_nothing.send(get("/a"));
  reads_nothing.wait(300ms);
  EXPECT_TRUE(reads_nothing.wire().closed);
}

TEST(LongBodies, ShareTheirMemory) {
  Limits limits;
  limits.all_bodies = 100;
  const TestHandler handler;
  MemoryClient client(handler, limits);
  client.send(post("/a", "Content-Length: 200\r\n\r\n" + std::string(101, 'x')));
  EXPECT_THAT(client.received(), StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(client.loop().body_bytes, 0u);
}

}  // namespace
}  // namespace spectr::http

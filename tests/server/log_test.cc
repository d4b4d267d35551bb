// Output on standard error, which never blocks an answer.
#include "apps/server/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include "apps/server/access_log.h"
#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class Pipe {
 public:
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    reading_ = ends[0];
    writing_ = ends[1];
    ::fcntl(reading_, F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close_reader();
    ::close(writing_);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writing() const { return writing_; }
  std::string read() const {
    std::string all(1 << 20, '\0');
    std::size_t size = 0;
    for (ssize_t part = 0; (part = ::read(reading_, all.data() + size, all.size() - size)) > 0;)
      size += static_cast<std::size_t>(part);
    all.resize(size);
    return all;
  }
  void close_reader() {
    if (reading_ >= 0) ::close(std::exchange(reading_, -1));
  }

 private:
  int reading_ = -1, writing_ = -1;
};

/// Redirects spdlog's messages into a pipe for the duration of a test.
class Log : public testing::Test {
 protected:
  Log() { std::signal(SIGPIPE, SIG_IGN); }
  ~Log() override {
    spdlog::drop_all();
    spdlog::set_default_logger(before_);
    spdlog::set_level(spdlog::level::info);
    std::signal(SIGPIPE, SIG_DFL);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void begin(LogFormat format, bool verbose = false) const {
    set_up_log(std::make_shared<LossySink>(pipe_.writing()), format, verbose);
  }
  std::vector<TestJson> objects() const {
    std::vector<TestJson> all;
    std::istringstream lines(pipe_.read());
    for (std::string line; std::getline(lines, line);) all.push_back(TestJson::parse(line));
    return all;
  }

  Pipe pipe_;

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(Log, DropsWhatFindsNoRoomAndSaysSoLater) {
  begin(LogFormat::text);
  for (int i = 0; i < 3000; ++i)
    spdlog::info("line {} {}", i, std::string(60, 'x'));  // exceeds a pipe's buffer
  EXPECT_THAT(pipe_.read(), HasSubstr("line 0 "));
  spdlog::info("the last one");
  const std::string rest = pipe_.read();
  EXPECT_THAT(rest, testing::ContainsRegex("[0-9]+ lines of the log were dropped"));
  EXPECT_THAT(rest, EndsWith(" info the last one\n"));
  spdlog::info("another one");
  EXPECT_THAT(pipe_.read(), Not(HasSubstr("dropped")));
}

TEST_F(Log, OutlivesItsReader) {
  begin(LogFormat::text);
  pipe_.close_reader();
  for (int i = 0; i < 100; ++i) spdlog::info("to nobody");
}

TEST_F(Log, IsAnObjectALineWhereThatIsWanted) {
  begin(LogFormat::json);
  spdlog::warn("a \"quoted\"\nwarning");
  AccessLog log(LogFormat::json);
  http::Request request = {.method = "POST", .path = "/v1/\"x\"", .client = "127.0.0.1", .id = "abc"};
  http::Exchange exchange = {.status = 400, .duration = std::chrono::microseconds(1500), .complete = true};
  exchange.notes = {{"reason", "no"}, {"prompt_tokens", std::uint64_t{7}}};
  log.add(request, exchange);
  const std::vector<TestJson> lines = objects();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["level"], "warning");
  EXPECT_EQ(lines[0]["message"], "a \"quoted\"\nwarning");
  EXPECT_THAT(lines[0]["time"].get<std::string>(),
              testing::MatchesRegex("[-0-9]{10}T[:0-9]{8}\\.[0-9]{3}[-+:0-9]{6}"));
  TestJson told = lines[1];
  told.erase("time");
  EXPECT_EQ(told, TestJson({{"level", "info"},
                            {"message", "request"},
                            {"client", "127.0.0.1"},
                            {"method", "POST"},
                            {"path", "/v1/\"x\""},
                            {"status", 400},
                            {"milliseconds", 1.5},
                            {"prompt_tokens", 7},
                            {"reason", "no"},
                            {"complete", true},
                            {"request_id", "abc"}}));
}

TEST_F(Log, CutsWhatClientsSendAlsoInObjects) {
  begin(LogFormat::json);
  AccessLog log(LogFormat::json);
  const std::string endless(100'000, 'x');
  log.add({.method = endless, .path = "/" + endless, .id = "abc"},
          {.status = 400, .notes = {{"reason", endless}}});
  const std::string line = pipe_.read();
  EXPECT_LT(line.size(), 2000u);
  EXPECT_THAT(TestJson::parse(line)["path"].get<std::string>(), EndsWith("x…"));
}

TEST_F(Log, TellsARequestOnOneLine) {
  begin(LogFormat::text);
  AccessLog log(LogFormat::text);
  http::Request request = {.method = "GET", .path = "/a b\n", .client = "::1", .id = "abc"};
  log.add(request,
          {.status = 404, .duration = std::chrono::microseconds(1500), .notes = {{"reason", "a \x1b[1m"}}});
  EXPECT_THAT(pipe_.read(),
              EndsWith(" info ::1 GET \"/a b\\n\" 404 1.5 ms reason=\"a \\x1b[1m\" complete=false "
                       "request_id=abc\n"));
}

TEST_F(Log, KeepsQuietAboutProbesThatSucceed) {
  begin(LogFormat::text);
  AccessLog log(LogFormat::text);
  const http::Request probe = {.method = "GET", .path = "/health", .id = "abc"};
  log.add(probe, {.status = 200, .complete = true});
  EXPECT_EQ(pipe_.read(), "");
  log.add(probe, {.status = 503, .complete = true});
  EXPECT_THAT(pipe_.read(), HasSubstr("/health 503"));
  begin(LogFormat::text, true);
  log.add(probe, {.status = 200, .complete = true});
  EXPECT_THAT(pipe_.read(), HasSubstr("/health 200"));
}

TEST_F(Log, NamesEveryRequestToAServer) {
  begin(LogFormat::json);
  ServerOptions options = TestServer::options(1);
  options.log = LogFormat::json;
  const TestServer server(std::move(options));
  (void)objects();
  server.post("/v1/completions", TestJson{{"prompt", {1, 2, 3}}, {"max_tokens", 2}, {"ignore_eos", true}});
  server.post("/v1/completions", "{\"prompt\": \"a\", \"tools\": [1]}", {{"X-Request-Id", "mine"}});
  server.get("/nope");
  RawConnection malformed(server.server().port());
  malformed.send("GET / HTTP/1.1\r\nno field\r\n\r\n");
  EXPECT_THAT(malformed.receive_all(), testing::StartsWith("HTTP/1.1 400"));
  std::vector<TestJson> lines;
  ASSERT_TRUE(comes_true([&] {
    for (TestJson& line : objects()) {
      if (line["message"] == "request") lines.push_back(std::move(line));
    }
    return lines.size() == 4;
  }));
  EXPECT_EQ(lines[0]["status"], 200);
  EXPECT_EQ(lines[0]["prompt_tokens"], 3);
  EXPECT_EQ(lines[0]["generated_tokens"], 2);
  EXPECT_GT(lines[0]["milliseconds"], 0.0);
  EXPECT_EQ(lines[1]["status"], 400);
  EXPECT_EQ(lines[1]["request_id"], "mine");
  EXPECT_THAT(lines[1]["reason"].get<std::string>(), HasSubstr("'tools'"));
  EXPECT_EQ(lines[2]["status"], 404);
  EXPECT_EQ(lines[2]["path"], "/nope");
  EXPECT_EQ(lines[3]["status"], 400);
  EXPECT_EQ(lines[3]["client"], "127.0.0.1");
}

TEST_F(Log, SaysWhyAStreamWasCutOff) {
  begin(LogFormat::json);
  ServerOptions options = TestServer::options(1);
  options.log = LogFormat::json;
  options.service.engine.models.context = 0;  // the model's maximum
  const TestServer server(std::move(options));
  RawConnection client(server.server().port());
  client.send_post("/v1/completions", R"({"prompt": "Once", "n": 16, "ignore_eos": true, "stream": true})");
  (void)client.receive_until("data: ");
  server.server().stop(std::chrono::hours(1), [] { return true; });
  std::vector<TestJson> streams;
  for (TestJson& line : objects()) {
    if (line.value("path", "") == "/v1/completions") streams.push_back(std::move(line));
  }
  ASSERT_EQ(streams.size(), 1u);
  EXPECT_THAT(streams[0]["reason"].get<std::string>(), HasSubstr("the server stops"));
}

}  // namespace
}  // namespace spectr::server

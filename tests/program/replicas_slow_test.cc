// contrib/replicas/haproxy.cfg, unmodified, with HAProxy before two servers: tests
// of the guarantees in docs/scale.md.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tests/program/spectr.h"
#include "tests/server/http_client.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

using namespace std::chrono_literals;
using server::HttpReply;
using server::RawConnection;
using testing::HasSubstr;
using testing::Not;

constexpr const char* haproxy = "/usr/sbin/haproxy";

sockaddr_in loopback(int port) {
  return {.sin_family = AF_INET,
          .sin_port = htons(static_cast<std::uint16_t>(port)),
          .sin_addr = {htonl(INADDR_LOOPBACK)},
          .sin_zero = {}};
}

bool bind(int socket, int port) {
  const sockaddr_in address = loopback(port);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Reserves a port among cooperating processes, by an abstract socket name that is held until this process
/// ends. Returns false if it is taken.
bool reserve(int port) {
  sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = {}};
  const auto size = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "spectr-port-%d", port);
  const auto length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(size));
  return ::bind(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), reinterpret_cast<const sockaddr*>(&name),
                length) == 0;
}

/// Returns a port without a listener, outside of the range of ephemeral ports, which connections
/// could take while a server restarts.
int free_port() {
  for (int port = 20'000;; ++port) {
    if (!reserve(port)) continue;
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const bool free = bind(socket, port);
    ::close(socket);
    if (free) return port;
  }
}

/// One of the servers, which keeps its port across restarts.
class Replica {
 public:
  explicit Replica(Arguments more) : more_(std::move(more)) { start(); }

  void start() {
    const std::string model = data("models/spectr-stories-7m-q8_0.gguf");
    run_.emplace(spectr_program(), Arguments{"serve", "-m", model, "--port", std::to_string(port_), "-np",
                                             "2", "-t", "1", "--api-key", "secret", "--metrics"} +
                                       more_);
    ASSERT_TRUE(says(*run_, "ready")) << run_->err();
  }
  /// Sends a signal and returns the outcome.
  Outcome end(int signal) {
    run_->send(signal);
    return run_->wait();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Returns a value of this server's metrics, by name and label.
  double metric(const std::string& name) const {
    const std::string text =
        server::ask("127.0.0.1", port_, "GET", "/metrics", {{"Authorization", "Bearer secret"}}).body;
    const std::string line = "\nspectr_" + name + " ";
    const std::size_t at = text.find(line);
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + line.size()));
  }
  double finished() const { return metric("texts_total{ending=\"finished\"}"); }

 private:
  Arguments more_;
  const int port_ = free_port();
  std::optional<RunningProgram> run_;
};

class Replicas : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(haproxy)) GTEST_SKIP() << "there is no " << haproxy;
  }

  /// Starts two servers with these flags, and the load balancer.
  void start(const Arguments& more = {}) {
    one_.emplace(more);
    two_.emplace(more);
    balance(one_->address(), two_->address());
  }
  void balance(const std::string& one, const std::string& two) {
    port_ = free_port();
    const std::string own = "127.0.0.1:" + std::to_string(port_);
    const Surroundings surroundings = {
        .variables = {{"BALANCER", own}, {"SPECTR_ONE", one}, {"SPECTR_TWO", two}}};
    balancer_.emplace(haproxy, Arguments{"-f", config()}, surroundings);
    ASSERT_TRUE(comes_true([&] { return ask("GET", "/health").status == 200; })) << balancer_->err();
  }
  static std::string config() { return (source_folder() / "contrib/replicas/haproxy.cfg").string(); }

  HttpReply ask(const std::string& method, const std::string& path, http::Headers headers = {},
                const std::string& body = "") const {
    if (!headers.has("Authorization")) headers.add("Authorization", "Bearer secret");
    return server::ask("127.0.0.1", port_, method, path, headers, body);
  }
  HttpReply post(const std::string& path, const Json& body, const http::Headers& headers = {}) const {
    return ask("POST", path, headers, body.dump());
  }
  /// Sends a request over its own connection, without waiting for the answer.
  void send(RawConnection& client, const Json& body) const {
    const std::string text = body.dump();
    client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n" +
                ("Content-Length: " + std::to_string(text.size())) + "\r\n\r\n" + text);
  }

  /// Returns true if the load balancer has logged `what` since it started.
  bool said(const std::string& what) const { return balancer_->err().find(what) != std::string::npos; }

  std::optional<Replica> one_, two_;
  std::optional<RunningProgram> balancer_;
  int port_ = 0;
};

Json message(const char* role, const Json& content) {
  return {{"role", role}, {"content", content}};
}

TEST_F(Replicas, AConversationGoesToTheServerThatRemembersIt) {
  start();
  for (int i = 0; i < 12; ++i) {
    const bool in_parts = i % 2 == 1, with_system = i % 4 > 1;
    const auto content = [&](const std::string& text) {
      return in_parts ? Json::array({{{"type", "text"}, {"text", text}}}) : Json(text);
    };
    Json body = {{"messages", Json::array()}, {"max_tokens", 8}};
    if (with_system) body["messages"].push_back(message("system", content("Tell a story.")));
    body["messages"].push_back(
        message("user", content("About a \"dog\"\nof " + std::to_string(i) + " years.")));
    const Json first = Json::parse(post("/v1/chat/completions", body).body);
    const Json& answer = first.at("choices")[0].at("message").at("content");
    body["messages"].push_back(message("assistant", content(answer)));
    body["messages"].push_back(message("user", content("And then?")));
    const Json second = Json::parse(post("/v1/chat/completions", body).body);
    EXPECT_GE(second.at("usage").at("prompt_tokens_details").at("cached_tokens"), 10) << second;
  }
  EXPECT_GT(one_->finished(), 0);
  EXPECT_GT(two_->finished(), 0);
}

TEST_F(Replicas, AConversationIsWhatTheClientSaysItIs) {
  start();
  const auto servers_of = [this](const auto& ask_for) {
    const double before[] = {one_->finished(), two_->finished()};
    for (int i = 0; i < 6; ++i) EXPECT_EQ(ask_for(std::to_string(i) + " dogs").status, 200);
    return int{one_->finished() > before[0]} + int{two_->finished() > before[1]};
  };
  const auto of = [](const std::string& prompt) { return Json{{"prompt", prompt}, {"max_tokens", 1}}; };
  EXPECT_EQ(servers_of([&](const std::string& prompt) { return post("/v1/completions", of(prompt)); }), 2);
  EXPECT_EQ(servers_of([&](const std::string& prompt) {
              Json body = of(prompt);
              body["prompt_cache_key"] = "mine";
              return post("/v1/completions", body);
            }),
            1);
  EXPECT_EQ(servers_of([&](const std::string& prompt) {
              return post("/v1/completions", of(prompt), {{"X-Session-Id", "mine"}});
            }),
            1);
}

TEST_F(Replicas, KeysAreTheServersAndCountsAreNotForClients) {
  start();
  const Json body = {{"prompt", "Once"}, {"max_tokens", 1}};
  EXPECT_EQ(post("/v1/completions", body).status, 200);
  EXPECT_EQ(post("/v1/completions", body, {{"Authorization", "Bearer wrong"}}).status, 401);
  EXPECT_EQ(post("/v1/completions", body, {{"Authorization", ""}}).status, 401);
  EXPECT_EQ(post("/v1/completions", body, {{"Authorization", ""}, {"X-Api-Key", "secret"}}).status, 200);
  EXPECT_EQ(ask("GET", "/metrics").status, 404);
}

TEST_F(Replicas, AStreamComesAsItIsWritten) {
  start();
  RawConnection client(port_);
  send(client, {{"prompt", "Once"}, {"n", 64}, {"ignore_eos", true}, {"stream", true}});
  const std::string begin = client.receive_until("data: ");
  EXPECT_THAT(begin, HasSubstr("200 OK"));
  EXPECT_THAT(begin, Not(HasSubstr("[DONE]")));
  EXPECT_GT(one_->metric("requests_processing") + two_->metric("requests_processing"), 0);
}

TEST_F(Replicas, ATextEndsWithItsReader) {
  start();
  const auto both = [this](const std::string& name) { return one_->metric(name) + two_->metric(name); };
  for (const bool stream : {true, false}) {
    const double before = both("texts_total{ending=\"given_up\"}");
    {
      RawConnection client(port_);
      send(client, {{"prompt", "Once"}, {"n", 64}, {"ignore_eos", true}, {"stream", stream}});
      ASSERT_TRUE(comes_true([&] { return both("requests_processing") > 0; }));
    }
    EXPECT_TRUE(comes_true([&] { return both("texts_total{ending=\"given_up\"}") > before + 32; }));
    EXPECT_TRUE(comes_true([&] { return both("requests_processing") == 0; }));
  }
}

/// A fake server that sends an empty reply to every request and records the heads.
class Listener {
 public:
  Listener() {
    bind(socket_, port_);
    ::listen(socket_, 64);
    thread_ = std::jthread([this] {
      for (int client = 0; (client = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(client)) {
        std::string head(1 << 16, '\0');
        head.resize(
            static_cast<std::size_t>(std::max<ssize_t>(::recv(client, head.data(), head.size(), 0), 0)));
        ::send(client, nothing.data(), nothing.size(), MSG_NOSIGNAL);
        const std::lock_guard lock(mutex_);
        heads_ += head;
      }
    });
  }
  ~Listener() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string heads() {
    const std::lock_guard lock(mutex_);
    return heads_;
  }

 private:
  static constexpr std::string_view nothing =
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

  const int port_ = free_port();
  const int socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
  std::mutex mutex_;
  std::string heads_;
  std::jthread thread_;
};

TEST_F(Replicas, AreToldWhoAsksAndWithWhichKey) {
  Listener one, two;
  balance(one.address(), two.address());
  EXPECT_EQ(ask("GET", "/props").status, 200);
  const std::string heads = one.heads() + two.heads();
  EXPECT_THAT(heads, HasSubstr("GET /props HTTP/1.1"));
  EXPECT_THAT(heads, HasSubstr("authorization: Bearer secret\r\n"));
  EXPECT_THAT(heads, HasSubstr("x-forwarded-for: 127.0.0.1\r\n"));
}

TEST_F(Replicas, MayBeFoundBehindOneName) {
  const Outcome checked =
      run_program(haproxy, {"-c", "-f", config()}, {.variables = {{"SPECTR_SERVERS", "spectr:8080"}}});
  EXPECT_EQ(checked.status, 0) << checked.err;
}

TEST_F(Replicas, SayInJsonThatNoneOfThemIsReady) {
  start();
  EXPECT_EQ(one_->end(SIGTERM).status, 0);
  EXPECT_EQ(two_->end(SIGTERM).status, 0);
  ASSERT_TRUE(comes_true([this] { return said("no server available"); }));
  const HttpReply reply = post("/v1/completions", {{"prompt", "Once"}});
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(Json::parse(reply.body).at("error").at("type"), "unavailable_error");
}

/// Clients that send requests one after another during the lifetime of this object.
class Load {
 public:
  /// Calls `ask` with unique numbers. It must return a description of the failure, or an empty string.
  explicit Load(const std::function<std::string(int)>& ask) {
    for (int i = 0; i < 4; ++i) {
      clients_.emplace_back([this, ask](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          const std::string wrong = ask(asked_++);
          const std::lock_guard lock(mutex_);
          if (!wrong.empty()) wrong_.push_back(wrong);
        }
      });
    }
  }
  /// Waits until `texts` more requests have started.
  bool goes_on(int texts = 20) const {
    const int before = asked_;
    return comes_true([&] { return asked_ >= before + texts; });
  }
  /// Waits for all answers and returns the failures.
  std::vector<std::string> end() {
    clients_.clear();
    return wrong_;
  }

 private:
  std::atomic<int> asked_ = 0;
  std::mutex mutex_;
  std::vector<std::string> wrong_;
  std::vector<std::jthread> clients_;
};

constexpr int tokens = 16;

/// Returns an empty string if the reply is a complete text of `tokens` tokens, or else the reply.
std::string whole_text(const HttpReply& reply) {
  const bool whole =
      reply.status == 200 && reply.body.find("\"finish_reason\":\"length\"") != std::string::npos;
  return whole ? "" : std::to_string(reply.status) + ": " + reply.body;
}

Json story(int i) {
  return {{"prompt", "Once upon a time there were " + std::to_string(i) + " dogs"},
          {"max_tokens", tokens},
          {"ignore_eos", true}};
}

TEST_F(Replicas, ARollingRestartLosesNoRequestOfAnyKind) {
  start({"--drain-notice", "8", "--drain-timeout", "600"});
  Load load([this](int i) {
    Json body = story(i);
    if (i % 3 == 1) body["stream"] = true;
    if (i % 3 == 2) body["metadata"] = std::string(100'000, 'x');  // too large for the load balancer to retry
    return whole_text(post("/v1/completions", body));
  });
  ASSERT_TRUE(load.goes_on());
  EXPECT_EQ(one_->end(SIGTERM).status, 0);
  EXPECT_TRUE(said("servers/one is DOWN"));
  ASSERT_TRUE(load.goes_on());
  one_->start();
  ASSERT_TRUE(comes_true([this] { return said("servers/one is UP"); }));
  ASSERT_TRUE(load.goes_on());
  EXPECT_EQ(two_->end(SIGTERM).status, 0);
  ASSERT_TRUE(load.goes_on());
  two_->start();
  ASSERT_TRUE(comes_true([this] { return said("servers/two is UP"); }));
  EXPECT_THAT(load.end(), testing::IsEmpty());
}

TEST_F(Replicas, AServerThatStopsAtOnceFinishesItsTextsAndOthersDoTheRest) {
  start({"--drain-timeout", "600"});
  Load load([this](int i) { return whole_text(post("/v1/completions", story(i))); });
  ASSERT_TRUE(load.goes_on());
  EXPECT_EQ(one_->end(SIGTERM).status, 0);
  ASSERT_TRUE(load.goes_on(200));
  EXPECT_THAT(load.end(), testing::IsEmpty());
}

TEST_F(Replicas, AServerThatIsKilledLosesNoTextOfWhichNothingHadCome) {
  start();
  Load load([this](int i) { return whole_text(post("/v1/completions", story(i))); });
  ASSERT_TRUE(load.goes_on());
  EXPECT_EQ(one_->end(SIGKILL).status, -1);
  ASSERT_TRUE(load.goes_on(200));
  EXPECT_THAT(load.end(), testing::IsEmpty());
}

}  // namespace
}  // namespace spectr::test

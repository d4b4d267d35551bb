// The origins and host names to which a server replies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/server/origin.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

TEST(ServerCors, PermitsTheNamedOriginOnly) {
  ServerOptions options = TestServer::options(1);
  options.cors = {"https://mine.example", "https://also.example"};
  const TestServer server(std::move(options));
  const auto mine = server.get("/props", {{"Origin", "https://mine.example"}});
  EXPECT_EQ(mine.status, 200);
  EXPECT_EQ(mine.header("Access-Control-Allow-Origin"), "https://mine.example");
  const auto also = server.get("/props", {{"Origin", "https://also.example"}});
  EXPECT_EQ(also.header("Access-Control-Allow-Origin"), "https://also.example");
  EXPECT_EQ(server.get("/props", {{"Origin", "https://other.example"}}).status, 403);
}

TEST(ServerCors, PermitsPagesOfThisMachineByOneWord) {
  ServerOptions options = TestServer::options(1);
  options.cors = {"localhost"};
  const TestServer server(std::move(options));
  for (const char* origin : {"http://localhost:3000", "https://127.0.0.1", "http://[::1]:5173"}) {
    const auto reply = server.get("/props", {{"Origin", origin}});
    EXPECT_EQ(reply.status, 200) << origin;
    EXPECT_EQ(reply.header("Access-Control-Allow-Origin"), origin);
  }
  for (const char* origin : {"https://localhost.example", "https://other.example", "null", "localhost"})
    EXPECT_EQ(server.get("/props", {{"Origin", origin}}).status, 403) << origin;
}

TEST(ServerCors, ThePreflightPermitsWhatThePageWantsToSend) {
  ServerOptions options = TestServer::options(1);
  options.cors = {"https://mine.example", "https://also.example"};
  const TestServer server(std::move(options));
  const auto ask = [&](const char* origin) {
    return server.ask("OPTIONS", "/v1/completions",
                      {{"Origin", origin},
                       {"Access-Control-Request-Method", "POST"},
                       {"Access-Control-Request-Headers", "content-type, x-stainless-os"}});
  };
  const auto mine = ask("https://mine.example");
  EXPECT_EQ(mine.status, 204);
  EXPECT_EQ(mine.header("Access-Control-Allow-Origin"), "https://mine.example");
  EXPECT_EQ(mine.header("Access-Control-Allow-Headers"), "content-type, x-stainless-os");
  EXPECT_THAT(mine.header("Access-Control-Allow-Methods"), HasSubstr("POST"));
  EXPECT_EQ(mine.header("Access-Control-Expose-Headers"), "Retry-After, X-Request-Id");
  EXPECT_GT(std::stoi(mine.header("Access-Control-Max-Age")), 0);
  const auto other = ask("https://other.example");
  EXPECT_EQ(other.status, 403);
  EXPECT_FALSE(other.headers.has("Access-Control-Allow-Headers"));
}

TEST(ServerHosts, AreTheLocalNamesAndThoseThatAreAllowed) {
  ServerOptions options = TestServer::options(1);
  options.names = {"llm.example.com"};
  const TestServer server(std::move(options));
  for (const char* host : {"LOCALHOST:80", "127.0.0.1", "127.8.0.2:80", "[::1]:8080", "[0:0:0:0:0:0:0:1]",
                           "llm.example.com", "LLM.example.com:443"}) {
    EXPECT_EQ(server.get("/props", {{"Host", host}}).status, 200) << host;
  }
  const auto own = server.get("/props", {{"Host", "llm.example.com"}, {"Origin", "https://llm.example.com"}});
  EXPECT_EQ(own.status, 200) << "its own page";
  for (const char* host : {"evil.example", "llm.example.com.evil.example", "example.com", "127.0.0.1.example",
                           "128.0.0.1", "[::2]"}) {
    const auto reply = server.get("/props", {{"Host", host}});
    EXPECT_EQ(reply.status, 403) << host;
    EXPECT_THAT(reply.body, HasSubstr(std::string("--allowed-host ") + host));
  }
}

TEST(ServerHosts, WithAPortAreThoseOfThatPort) {
  ServerOptions options = TestServer::options(1);
  options.names = {"d.example:8443", "e.example:443"};
  options.cors = {"https://mine.example:443"};
  const TestServer server(std::move(options));
  for (const char* host : {"d.example:8443", "D.example:8443", "e.example:443", "e.example"})
    EXPECT_EQ(server.get("/props", {{"Host", host}}).status, 200) << host;
  for (const char* host : {"d.example", "d.example:8444", "e.example:8443"})
    EXPECT_EQ(server.get("/props", {{"Host", host}}).status, 403) << host;
  EXPECT_EQ(server.get("/props", {{"Origin", "https://mine.example"}}).status, 200);
}

TEST(ServerHosts, OfThisMachineOnlyAreLocalInEverySpelling) {
  ServerOptions options = TestServer::options(1);
  options.http.host = "127.0.0.2";
  const TestServer server(std::move(options));
  EXPECT_EQ(server.get("/props", {{"Host", "127.0.0.2"}}).status, 200);
  EXPECT_EQ(server.get("/props", {{"Host", "evil.example"}}).status, 403);
}

TEST(ServerHosts, HaveTheDefaultPortOfTheOrigin) {
  const TestServer local(TestServer::options(1));
  const std::pair<const char*, const char*> own[] = {{"localhost:443", "https://localhost"},
                                                     {"localhost", "https://localhost:443"},
                                                     {"localhost:80", "http://localhost"},
                                                     {"localhost", "http://localhost:80"},
                                                     {"[::1]:443", "https://[::1]"},
                                                     {"LOCALHOST:443", "HTTPS://localhost"},
                                                     {"127.0.0.1:8443", "https://127.0.0.1:8443"}};
  for (const auto& [host, origin] : own)
    EXPECT_EQ(local.get("/props", {{"Host", host}, {"Origin", origin}}).status, 200) << host << ' ' << origin;
  const std::pair<const char*, const char*> foreign[] = {{"localhost:443", "http://localhost"},
                                                         {"localhost:80", "https://localhost"},
                                                         {"localhost:8443", "https://localhost"},
                                                         {"localhost", "https://localhost:8443"},
                                                         {"localhost", "null"},
                                                         {"localhost", "ftp://localhost"},
                                                         {"localhost", "http://localhost.evil.example"}};
  for (const auto& [host, origin] : foreign)
    EXPECT_EQ(local.get("/props", {{"Host", host}, {"Origin", origin}}).status, 403) << host << ' ' << origin;
}

TEST(Loopback, IsThisMachineInEverySpelling) {
  for (const char* host :
       {"localhost", "LOCALHOST", "127.0.0.1", "127.8.0.2", "::1", "[::1]", "0:0:0:0:0:0:0:1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "192.168.0.1", "example.com", "localhost.example", ""})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(HostNames, AreWhatClientsSend) {
  const std::tuple<const char*, const char*, int> hosts[] = {{"a.example", "a.example", 0},
                                                             {"a.example:8443", "a.example", 8443},
                                                             {"localhost:", "localhost", 0},
                                                             {"[::1]:80", "[::1]", 80},
                                                             {"::1", "[::1]", 0},
                                                             {"my_host-2", "my_host-2", 0},
                                                             {"192.168.0.1", "192.168.0.1", 0}};
  for (const auto& [text, name, port] : hosts) {
    const auto host = HostName::read(text);
    ASSERT_TRUE(host) << text;
    EXPECT_EQ(host->name, name);
    EXPECT_EQ(host->port.value_or(0), port);
  }
  for (const char* text : {"", ":80", "a b", "a/b", "http://a", "a:0", "a:65536", "a:-1", "a:1x", "[::1",
                           "[x]", "a@b", "\xc3\xa4"})
    EXPECT_FALSE(HostName::read(text)) << text;
}

}  // namespace
}  // namespace spectr::server

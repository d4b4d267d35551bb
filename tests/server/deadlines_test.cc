#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;

TEST(Deadlines, AHeadHasLessTimeThanABody) {
  EXPECT_LT(http::Limits().head, http::Limits().body);
  ServerOptions options = TestServer::options(1);
  options.http.limits.head = 300ms;
  const TestServer server(std::move(options));
  RawConnection body(server.server().port()), head(server.server().port());
  body.send("POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16\r\n\r\n{\"content\":");
  head.send("G");
  head.receive_all();  // until the server closes it
  body.send(" \"a\"}");
  EXPECT_THAT(body.receive_until("tokens"), testing::StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace spectr::server

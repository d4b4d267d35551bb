// The counts of replies in /metrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;

class StatusCounts : public WithServer<1> {};

TEST_F(StatusCounts, AreThoseOfAnswers) {
  const auto counted = [](const std::string& labels) { return server().metric("http_responses" + labels); };
  const double good = counted("_total{class=\"2xx\"}"), bad = counted("_total{class=\"4xx\"}");
  const double missing = std::max(counted("_by_status_total{status=\"404\"}"), 0.0);
  for (int i = 0; i < 3; ++i) server().get("/nope");
  EXPECT_EQ(counted("_total{class=\"4xx\"}"), bad + 3);
  EXPECT_EQ(counted("_by_status_total{status=\"404\"}"), missing + 3);
  EXPECT_GT(counted("_total{class=\"2xx\"}"), good) << "these questions";
  EXPECT_EQ(counted("_by_status_total{status=\"429\"}"), 0.0) << "there before the first";
  EXPECT_GE(counted("_total{class=\"5xx\"}"), 0.0);
}

TEST(StatusCountsOfOneServer, HaveNoClassForAnAnswerThatItsClientDidNotWaitFor) {
  // The answer takes many times longer than the server needs to notice.
  ServerOptions options = TestServer::options(1, 63);
  options.http.limits.poll_interval = 5ms;
  options.http.limits.probe_delay = 10ms;
  const TestServer server(std::move(options));
  const auto counted = [&](const std::string& labels) { return server.metric("http_responses" + labels); };
  {
    RawConnection client(server.server().port());
    client.send_post("/v1/completions", R"({"prompt": "Once", "n": 64, "ignore_eos": true})");
  }
  EXPECT_TRUE(comes_true([&] { return counted("_by_status_total{status=\"499\"}") == 1.0; }));
  EXPECT_EQ(counted("_total{class=\"4xx\"}"), 0.0);
}

}  // namespace
}  // namespace spectr::server

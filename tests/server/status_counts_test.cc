// The counts of replies in /metrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

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

TEST_F(StatusCounts, HaveNoClassForAnAnswerThatItsClientDidNotWaitFor) {
  const auto counted = [](const std::string& labels) { return server().metric("http_responses" + labels); };
  const double bad = counted("_total{class=\"4xx\"}");
  {
    RawConnection client(server().server().port());
    client.send_post("/v1/completions", R"({"prompt": "Once", "n": 16, "ignore_eos": true})");
  }
  EXPECT_TRUE(comes_true([&] { return counted("_by_status_total{status=\"499\"}") == 1.0; }));
  EXPECT_EQ(counted("_total{class=\"4xx\"}"), bad);
}

}  // namespace
}  // namespace spectr::server

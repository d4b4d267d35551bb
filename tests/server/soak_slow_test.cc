#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

constexpr int clients = 12, requests = 40, warming = 2, measured = 3;
constexpr long max_growth = 8'000;  // kilobytes: 6 per measured request

/// Returns this process's resident memory in kilobytes.
long resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

const char* methods[] = {"spectr", "plain", "speculative", "block", "traversal", "ngram", "mtad", "batch"};

TestJson good(std::mt19937& random, int seed) {
  return {{"prompt", "The sun was number " + std::to_string(seed)},
          {"max_tokens", 8},
          {"seed", seed},
          {"speculative", {{"method", methods[random() % std::size(methods)]}}},
          {"stream", random() % 2 == 0}};
}

std::string garbage(std::mt19937& random) {
  const char* bodies[] = {"",
                          "{",
                          "[]",
                          "{\"prompt\": 1e400}",
                          "{\"prompt\": [[[[]]]]}",
                          "{\"prompt\": \"a\", \"n\": -1}",
                          "{\"prompt\": \"\\ud800\"}",
                          "{\"prompt\": \"a\", \"logit_bias\": {\"\": 1}}"};
  std::string body = bodies[random() % std::size(bodies)];
  for (unsigned i = random() % 4; i > 0; --i) body += static_cast<char>(random() % 256);
  return body;
}

/// The outcomes of many requests.
struct Tally {
  std::atomic<int> answered = 0, refused = 0, wrong = 0;
};

/// Sends good, bad and aborted requests from several concurrent clients.
void soak(const TestServer& server, Tally& tally) {
  std::vector<std::jthread> threads;
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] {
      std::mt19937 random(static_cast<unsigned>(client));
      for (int i = 0; i < requests; ++i) {
        const unsigned what = random() % 4;
        if (what == 0) {
          const int status = server.post("/v1/completions", garbage(random)).status;
          if (status != 400) ++tally.wrong;
        } else if (what == 1) {
          RawConnection gone(server.server().port());
          TestJson body = good(random, i);
          body["max_tokens"] = 400;
          body["ignore_eos"] = true;
          const std::string text = body.dump();
          gone.send_post("/v1/completions", random() % 3 == 0 ? text.substr(text.size() / 2) : text);
          std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
        } else {
          const int status = server.post("/v1/completions", good(random, i)).status;
          ++(status == 200 ? tally.answered : status == 429 ? tally.refused : tally.wrong);
        }
      }
    });
  }
}

TEST(Soak, GoodBadAndAbortedRequestsLeaveNothingBehind) {
  const TestServer server(TestServer::options(3, 6));
  const auto text_of_seed = [&](int seed) {
    const TestJson body = {{"prompt", "The sun was number " + std::to_string(seed)},
                           {"max_tokens", 8},
                           {"seed", seed},
                           {"speculative", {{"method", "plain"}}}};
    return server.post("/v1/completions", body).json()["choices"][0]["text"];
  };
  const TestJson text = text_of_seed(0);
  const auto free = [&] { return server.busy() == 0; };
  Tally tally;
  // Caches for later requests are filled after a while.
  for (int round = 0; round < warming; ++round) soak(server, tally);
  ASSERT_TRUE(comes_true(free));
  const long before = resident();
  for (int round = 0; round < measured; ++round) soak(server, tally);
  ASSERT_TRUE(comes_true(free)) << "every slot is free";
  EXPECT_LT(resident() - before, max_growth) << "memory does not grow with the requests";
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_GT(tally.answered, clients);
  EXPECT_EQ(text_of_seed(0), text);
}

}  // namespace
}  // namespace spectr::server

// The server as a process: how it ends. Its answers are tested in tests/server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include "tests/program/spectr.h"
#include "tests/server/http_client.h"
#include "tests/server/raw_connection.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;
using testing::Not;

void wait_for(const RunningProgram& run, const std::string& said) {
  if (!says(run, said)) throw std::runtime_error("it has not said '" + said + "': " + run.err());
}

const Arguments serve = {"serve", "-m", target(), "-md", draft(), "--port", "0"};

TEST(Serve, EndsWhenItIsTold) {
  for (const int signal : {SIGTERM, SIGINT}) {
    RunningProgram run(spectr_program(), serve);
    wait_for(run, "ready");
    run.send(signal);
    const Outcome ended = run.wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("stopping"));
  }
}

TEST(Serve, TellsTheCostsThatItGoesBy) {
  const TemporaryFile costs("{}");
  const auto line = [&] {
    RunningProgram run(spectr_program(), serve + Arguments{"--cost-file", costs.path()});
    wait_for(run, "ready");
    run.send(SIGTERM);
    const std::string err = run.wait().err;
    const std::size_t hash = err.find(", hash ");
    return hash == std::string::npos ? "" : err.substr(hash, 23);
  };
  const std::string first = line();
  EXPECT_NE(first, "");
  EXPECT_EQ(line(), first);
}

TEST(Serve, WritesTextsByFlagsAndByLlamaCppsVariables) {
  RunningProgram run(
      spectr_program(), serve + Arguments{"--min-p", "0.25", "--method", "block", "--seed", "7"},
      {.variables = {{"LLAMA_ARG_TOP_K", "7"}, {"LLAMA_ARG_MIN_P", "0.5"}, {"LLAMA_ARG_N_PREDICT", "9"}}});
  wait_for(run, "ready");
  server::RawConnection client(port_of(run));
  client.send("GET /props HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string props = client.receive_all();
  run.send(SIGTERM);
  run.wait();
  EXPECT_THAT(props, HasSubstr(R"("top_k":7)"));
  EXPECT_THAT(props, HasSubstr(R"("min_p":0.25)"));
  EXPECT_THAT(props, HasSubstr(R"("top_p":0.95)"));
  EXPECT_THAT(props, HasSubstr(R"("n_predict":9)"));
  EXPECT_THAT(props, HasSubstr(R"("seed":7)"));
  EXPECT_THAT(props, HasSubstr(R"("speculative":{"method":"block","drafts":1,"length":4})"));
}

TEST(Serve, SaysWhatTextsMayTake) {
  RunningProgram run(spectr_program(), serve + Arguments{"-np", "3", "-c", "256"});
  wait_for(run, "ready");
  run.send(SIGTERM);
  EXPECT_THAT(run.wait().err,
              testing::ContainsRegex("3 slots of 256 tokens: their keys and values may come to "
                                     "[0-9.]+ MB, and take memory as texts grow"));
}

TEST(Serve, GivesTheSeedOfRequestsThatDoNotSay) {
  RunningProgram run(spectr_program(), serve + Arguments{"-s", "7", "--method", "plain"});
  wait_for(run, "ready");
  const auto settings = [&](const std::string& body) {
    server::RawConnection client(port_of(run));
    client.send(
        "POST /completion HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
        "application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    const std::string answer = client.receive_all();
    return Json::parse(answer.substr(answer.find("\r\n\r\n") + 4))["generation_settings"];
  };
  EXPECT_EQ(settings(R"({"prompt":"once","n_predict":1})")["seed"], 7);
  EXPECT_EQ(settings(R"({"prompt":"once","n_predict":1,"seed":9})")["seed"], 9);
  EXPECT_NE(settings(R"({"prompt":"once","n_predict":1,"seed":-1})")["seed"], 7) << "a random one";
  run.send(SIGTERM);
  run.wait();
  expect_error(serve + Arguments{"--seed", "x"}, "--seed");
  expect_error(serve + Arguments{"--seed", "-2"}, "--seed");
}

TEST(Serve, OffersAutoWithoutADraftModelWhereItIsAskedFor) {
  const TemporaryFile costs("{}");
  RunningProgram run(spectr_program(), {"serve", "-m", target(), "--port", "0", "--method", "auto",
                                        "--cost-file", costs.path()});
  wait_for(run, "ready");
  server::RawConnection client(port_of(run));
  const std::string body = R"({"prompt":"once upon","n_predict":3})";
  client.send("POST /completion HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_THAT(client.receive_all(), HasSubstr("200 OK"));
  run.send(SIGTERM);
  run.wait();
}

TEST(Serve, TellsWhatASecondSignalCutsOff) {
  RunningProgram run(spectr_program(), serve + Arguments{"-np", "1", "--method", "plain"});
  wait_for(run, "ready");
  server::RawConnection client(port_of(run));
  client.send_post("/v1/completions", R"({"prompt": "Once", "n": 32, "ignore_eos": true, "stream": true})");
  client.receive_until("data: ");
  run.send(SIGTERM);
  wait_for(run, "stopping");
  run.send(SIGTERM);
  const std::string rest = client.receive_all();
  EXPECT_THAT(rest, HasSubstr("unavailable_error"));
  EXPECT_THAT(rest, HasSubstr("data: [DONE]"));
  EXPECT_EQ(run.wait().status, 0);
}

TEST(Serve, TakesTextsAsLongAsItGivesNotice) {
  RunningProgram run(spectr_program(), serve + Arguments{"--method", "plain", "--drain-notice", "600"});
  wait_for(run, "ready");
  const int port = port_of(run);
  run.send(SIGTERM);
  const auto health = [&] { return server::ask("127.0.0.1", port, "GET", "/health", {}, "").status; };
  ASSERT_TRUE(comes_true([&] { return health() != 200; }));
  EXPECT_EQ(health(), 503);
  server::RawConnection client(port);
  client.send_post("/completion", R"({"prompt":"once upon","n_predict":3})");
  const std::string text = client.receive_all();
  EXPECT_THAT(text, HasSubstr("200 OK"));
  EXPECT_THAT(text, HasSubstr("Connection: close"));
  run.send(SIGTERM);
  EXPECT_EQ(run.wait().status, 0) << "a second signal ends the notice";
}

TEST(Serve, WaitsForTextsNoLongerThanItIsTold) {
  RunningProgram run(spectr_program(),
                     serve + Arguments{"-np", "1", "--method", "plain", "--drain-timeout", "0"});
  wait_for(run, "ready");
  server::RawConnection client(port_of(run));
  client.send_post("/v1/completions", R"({"prompt": "Once", "n": 32, "ignore_eos": true, "stream": true})");
  client.receive_until("data: ");
  run.send(SIGTERM);
  EXPECT_THAT(client.receive_all(), HasSubstr("unavailable_error"));
  EXPECT_EQ(run.wait().status, 0);
}

TEST(Serve, EncryptsOnlyWithACertificateAndAKey) {
  expect_error(serve + Arguments{"--ssl-cert-file", "/dev/null"}, "--ssl-key-file");
  const Outcome ended =
      spectr(serve + Arguments{"--ssl-cert-file", "/dev/null", "--ssl-key-file", "/dev/null"});
  EXPECT_NE(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("/dev/null: "));
}

TEST(Serve, RefusesHostsAndOriginsThatNoClientSends) {
  for (const char* host : {"https://d.example", "d.example/", "d.example:0", "d.example:70000", "d.example:x",
                           "me@d.example", "d example", "d.\xc3\xa4.example", "*", "[::1", ""})
    expect_error(serve + Arguments{"--allowed-host", host}, "--allowed-host");
  for (const char* origin : {"https://d.example/", "https://d.example:70000", "https://\xc3\xa4.example",
                             "d.example", "https://", "null"})
    expect_error(serve + Arguments{"--cors", origin}, "--cors");
  const Arguments key = {"--api-key", "a\x01z"};
  EXPECT_THAT(spectr(serve + key).err, HasSubstr("--api-key: a key has a control character"));
}

TEST(Serve, HandlesRequestsInAsManyThreadsAsItIsTold) {
  RunningProgram run(spectr_program(), serve + Arguments{"--threads-http", "1", "--method", "plain"});
  wait_for(run, "ready");
  EXPECT_EQ(server::ask("127.0.0.1", port_of(run), "POST", "/tokenize", {}, R"({"content": "a"})").status,
            200);
  run.send(SIGTERM);
  EXPECT_EQ(run.wait().status, 0);
  expect_error(serve + Arguments{"--threads-http", "many"}, "--threads-http");
}

TEST(Serve, TakesHugeLimitsForNone) {
  RunningProgram run(spectr_program(),
                     serve + Arguments{"-n", "2147483647", "--top-k", "2147483647", "--method", "plain"});
  wait_for(run, "ready");
  run.send(SIGTERM);
  EXPECT_EQ(run.wait().status, 0);
}

TEST(Serve, RefusesSamplingThatIsOutOfRange) {
  expect_error(serve, "temperature", {.variables = {{"LLAMA_ARG_TEMPERATURE", "-1"}}});
  expect_error(serve + Arguments{"--top-p", "2"}, "top-p");
}

TEST(Serve, RefusesAMethodThatNoTextCouldHave) {
  expect_error(serve + Arguments{"--method", "nope"}, "there is no method 'nope'");
  expect_error(serve + Arguments{"-K", "65"}, "a block of 65 drafted tokens is too large");
  expect_error(serve + Arguments{"-K", "13", "-L", "5"}, "a block of 65 drafted tokens is too large");
  expect_error({"serve", "-m", target(), "--method", "spectr"}, "method spectr needs a draft model");
  expect_error(serve + Arguments{"--method", "mtad", "--tau", "3"}, "tau");
}

/// Returns the error that ends a server before it is ready.
std::string refusal(const Arguments& more) {
  const Outcome ended = spectr(serve + more);
  EXPECT_EQ(ended.status, 2) << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("ready")));
  return ended.err.substr(std::min(ended.err.find("spectr: error: "), ended.err.size()));
}

TEST(Serve, RefusesAPlanThatEveryTextWouldFailWith) {
  EXPECT_THAT(refusal({"--method", "spectr", "--plan", "otm-lp"}), HasSubstr("top-k 40 with 4 drafts"));
}

TEST(Serve, RefusesAContextBeforeItMeasures) {
  const TemporaryFile costs("no costs");
  EXPECT_THAT(refusal({"--cost-file", costs.path()}), HasSubstr(costs.path()));
  EXPECT_THAT(refusal({"--cost-file", costs.path(), "-c", "100000000"}), HasSubstr("100000000"));
}

TEST(Serve, ReadsKeysFromAFileOnly) {
  EXPECT_THAT(refusal({"--api-key-file", "/tmp"}), HasSubstr("/tmp: is a directory"));
  EXPECT_THAT(refusal({"--api-key-file", "/proc/self/mem"}), HasSubstr("/proc/self/mem: cannot be read"));
  const TemporaryFile nothing("# none\n");
  EXPECT_THAT(refusal({"--api-key-file", nothing.path()}), HasSubstr("there is no key in it"));
}

TEST(Serve, RefusesAnEmptyKeyInTheEnvironment) {
  const Outcome ended = spectr(serve, {.variables = {{"LLAMA_API_KEY", ""}}});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("LLAMA_API_KEY: the key is empty"));
}

TEST(Serve, EndsWhileItLoadsTheModels) {
  // The pipe with the costs never gets a writer.
  const TemporaryFile name("");
  const std::string pipe = name.path() + ".pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  RunningProgram run(spectr_program(), serve + Arguments{"--cost-file", pipe});
  wait_for(run, "listening");
  run.send(SIGTERM);
  const Outcome ended = run.wait();
  std::filesystem::remove(pipe);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("ready")));
}

TEST(Serve, EndsWithAnErrorWhereTheModelCannotBeLoaded) {
  const Outcome ended = spectr({"serve", "-m", "/dev/null", "--port", "0"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("spectr: error: /dev/null: is not a regular file"));
}

}  // namespace
}  // namespace spectr::test

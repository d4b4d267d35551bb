// A prompt cache: the sequence of an earlier run, which a later run continues.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/program/spectr.h"
#include "tests/server/http_client.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* beginning =
    "Once upon a time there was a little dog who lived in a big house with a girl named Lily. Every day they "
    "went to the park together and played with a red ball until the sun went down and it was time to go "
    "home. ";

Json post(const RunningProgram& server, const std::string& path, const Json& body) {
  const auto reply = server::ask("127.0.0.1", port_of(server), "POST", path,
                                 {{"Content-Type", "application/json"}}, body.dump());
  EXPECT_EQ(reply.status, 200) << reply.body;
  return Json::parse(reply.body, nullptr, false);
}

TEST(SavedSlots, OutliveAServerThatIsKilled) {
  const auto folder = std::filesystem::path(testing::TempDir()) / fmt::format("slots-{}", getpid());
  std::filesystem::create_directories(folder);
  const Arguments serve = {"serve", "-m", target(),           "--port",       "0",
                           "-np",   "1",  "--slot-save-path", folder.string()};
  const Json request = {{"prompt", beginning}, {"n_predict", 8}, {"seed", 1}},
             file = {{"filename", "dog.bin"}};
  Json first;
  {
    RunningProgram server(spectr_program(), serve);
    ASSERT_TRUE(says(server, "ready")) << server.err();
    first = post(server, "/completion", request);
    post(server, "/slots/0?action=save", file);
    server.send(SIGKILL);
    server.wait();
  }
  RunningProgram server(spectr_program(), serve);
  ASSERT_TRUE(says(server, "ready")) << server.err();
  EXPECT_GT(post(server, "/slots/0?action=restore", file)["n_restored"], 40);
  const Json again = post(server, "/completion", request);
  EXPECT_EQ(again["content"], first["content"]);
  EXPECT_EQ(again["timings"]["prompt_n"], 1) << "only the last token is computed again";
  server.send(SIGTERM);
  server.wait();
  std::filesystem::remove_all(folder);
}

class PromptCaches : public testing::Test {
 protected:
  ~PromptCaches() override { std::filesystem::remove(file_); }

  Outcome generate(const std::string& prompt, const Arguments& more = {}) const {
    const Arguments arguments = {"generate", "-m",     target(), "-md", draft(),    "-n",
                                 "16",       "--seed", "3",      "-p",  prompt,     "--json",
                                 "-K",       "2",      "-L",     "3",   "--method", "spectr"};
    return spectr(arguments + more);
  }
  Arguments cache() const { return {"--prompt-cache", file_.string()}; }

  const std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      ("prompt-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(PromptCaches, AreWrittenOnceAndGoneOnFrom) {
  const Outcome without = generate(beginning), first = generate(beginning, cache());
  ASSERT_EQ(first.status, 0) << first.err;
  ASSERT_TRUE(std::filesystem::exists(file_));
  const Outcome again = generate(beginning, cache());
  EXPECT_EQ(Json::parse(again.out)["tokens"], Json::parse(without.out)["tokens"]);
  EXPECT_EQ(Json::parse(first.out)["tokens"], Json::parse(without.out)["tokens"]);
  const std::string further = std::string(beginning) + "Then";
  EXPECT_EQ(Json::parse(generate(further, cache()).out)["tokens"],
            Json::parse(generate(further).out)["tokens"]);
}

TEST_F(PromptCaches, ThatAreNoneAreToldOfAndReplaced) {
  std::ofstream(file_) << "Once upon a time";
  const Outcome outcome = generate(beginning, cache());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("is not a saved prompt; the prompt is computed"));
  EXPECT_THAT(generate(beginning, cache() + Arguments{"--prompt-cache-ro"}).err, IsEmpty());
}

TEST_F(PromptCaches, AreLeftAsTheyAreWhereThatIsAskedFor) {
  ASSERT_EQ(generate(beginning, cache()).status, 0);
  const auto size = std::filesystem::file_size(file_);
  ASSERT_EQ(generate("Another text.", cache() + Arguments{"--prompt-cache-ro"}).status, 0);
  EXPECT_EQ(std::filesystem::file_size(file_), size);
  ASSERT_EQ(generate("Another text.", cache()).status, 0);
  EXPECT_NE(std::filesystem::file_size(file_), size);
}

}  // namespace
}  // namespace spectr::test

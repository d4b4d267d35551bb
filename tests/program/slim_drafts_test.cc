// Draft models that are made smaller while they are loaded: the output keeps the target's distribution.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/program/spectr.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;

const std::string big = data("models/spectr-stories-7m-q8_0.gguf"),
                  small = data("models/spectr-stories-draft-0.6m-f16.gguf");

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator(file), {}};
}

Json greedy(const Arguments& more) {
  const Outcome ran = spectr(Arguments{"generate", "-m", big, "-md", small, "-p", "Once upon a time", "-n",
                                       "48", "--temp", "0", "--seed", "1", "--json"} +
                             more);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return Json::parse(ran.out);
}

TEST(SlimDrafts, ChangeNothingOfWhatIsWritten) {
  const Json plain = greedy({"--method", "plain"});
  for (const Arguments& slim : {Arguments{"--draft-type", "q4_0"},
                                {"--draft-vocab", "512"},
                                {"--draft-type", "q8_0", "--draft-vocab", "1024"}}) {
    const Json drafted = greedy(slim + Arguments{"--method", "spectr", "-K", "2", "-L", "3"});
    EXPECT_EQ(drafted["text"], plain["text"]) << testing::PrintToString(slim);
    EXPECT_GT(drafted["stats"]["accepted"], 0);
  }
  const Json whole = greedy({"--method", "speculative", "-L", "3"});
  const Json few = greedy({"--method", "speculative", "-L", "3", "--draft-vocab", "256"});
  EXPECT_LT(few["stats"]["accepted"], whole["stats"]["accepted"]);
  EXPECT_EQ(greedy({"--method", "speculative", "-L", "3", "--draft-vocab", "all", "--draft-type",
                    "keep"})["tokens"],
            whole["tokens"]);
}

TEST(SlimDrafts, ByTheContextChangeNothingOfWhatIsWritten) {
  const std::string plain = greedy({"--method", "plain"})["text"];
  const auto drafted_by = [](const std::string& drafter, const Arguments& slim) {
    const Outcome ran =
        spectr(Arguments{"generate", "-m", big, "-md", drafter, "-p", "Once upon a time", "-n", "48",
                         "--temp", "0", "--seed", "1", "--json", "--method", "speculative", "-L", "3"} +
               slim);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return Json::parse(ran.out);
  };
  for (const std::string& drafter : {small, data("models/trained/spectr-stories-7m-eagle3-q8_0.gguf"),
                                     data("models/trained/spectr-stories-7m-dflash-q8_0.gguf")}) {
    SCOPED_TRACE(drafter);
    const Json by_context = drafted_by(drafter, {"--draft-vocab", "context"});
    EXPECT_EQ(by_context["text"], plain);
    EXPECT_GT(by_context["stats"]["accepted"], 0);
    // 256 and a quarter of the bundled vocabulary of 4,096
    EXPECT_EQ(by_context["tokens"], drafted_by(drafter, {"--draft-vocab", "1280"})["tokens"]);
    EXPECT_EQ(by_context["stats"]["accepted"],
              drafted_by(drafter, {"--draft-vocab", "1280"})["stats"]["accepted"]);
    EXPECT_EQ(drafted_by(drafter, {"--draft-type", "q4_0"})["text"], plain);
  }
}

TEST(SlimDrafts, LearnTheirTokensFromTexts) {
  std::string stories;
  for (const int seed : {1, 2, 3, 4}) {
    const Outcome ran =
        spectr({"generate", "-m", big, "--method", "plain", "-p", "Once upon a time", "-n", "250", "--temp",
                "1.2", "--top-k", "0", "--top-p", "1", "--min-p", "0", "--seed", std::to_string(seed)});
    stories += ran.out;
  }
  const TemporaryFile texts(stories), tokens("");
  const Outcome ran =
      spectr({"draft", "vocabulary", "-m", big, "-f", texts.path(), "-o", tokens.path(), "-n", "300"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("different; the"));
  EXPECT_EQ(spectr({"draft", "vocabulary", "-m", big, "-f", texts.path(), "-n", "300"}).out,
            contents_of(tokens.path()));
  const Json frequent = greedy({"--method", "speculative", "-L", "3", "--draft-vocab", tokens.path()});
  const Json first = greedy({"--method", "speculative", "-L", "3", "--draft-vocab", "300"});
  EXPECT_GT(frequent["stats"]["accepted"], first["stats"]["accepted"]);

  expect_error(
      {"generate", "-m", target(), "-md", draft(), "-p", "a", "-K", "2", "--draft-vocab", tokens.path()},
      "is of another vocabulary than");
}

TEST(SlimDrafts, WhatCannotBeIsRefused) {
  const Arguments run = generate() + Arguments{"-p", "a", "-n", "2", "-K", "2"};
  expect_error(run + Arguments{"--draft-vocab", "255"}, "--draft-vocab");
  expect_error(run + Arguments{"--draft-vocab", ""}, "--draft-vocab");
  expect_error(run + Arguments{"--draft-vocab", "/nowhere/tokens"},
               "/nowhere/tokens: cannot be opened: No such file or directory");
  expect_error(run + Arguments{"--draft-vocab", target()}, "is not a file of token frequencies");
  expect_error(run + Arguments{"--draft-type", "q9_0"}, "must be keep, f32, f16, bf16, q8_0");
  expect_error(run + Arguments{"-md", target(), "--draft-type", "q8_0"},
               "has 172 columns: it can't be made Q8_0");
  expect_error({"draft"}, "no command is given; see spectr draft --help");
  expect_error({"draft", "vocabulary", "-m", big}, "--file is required");
  const TemporaryFile few("a b c");
  expect_error({"draft", "vocabulary", "-m", big, "-f", few.path()}, "a draft needs at least 256");
}

}  // namespace
}  // namespace spectr

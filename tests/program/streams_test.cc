// Output errors and unreadable input.
#include <string>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

TEST(Streams, LostOutputIsAFailure) {
  for (const Arguments& command :
       {Arguments{"--help"},
        {"--version"},
        {"plan", "eval", "--help"},
        generate() + Arguments{"-p", "Once", "-n", "4", "--method", "spectr"},
        generate() + Arguments{"-p", "Once", "-n", "4", "--method", "plain", "--json"},
        {"tokenize", "-m", target(), "-p", "Once"},
        {"tokenize", "-m", target(), "-p", "Once", "--json"},
        {"detokenize", "-m", target(), "--tokens", "1,403"},
        {"inspect", target()},
        {"check-pair", "-m", target(), "-md", draft()},
        {"law", "--method", "plain"},
        {"plan", "time", "--plan", "maximal", "--vocab", "10"},
        {"lab", "list"},
        {"bench", "select", "--plan", "maximal", "-V", "10", "-K", "1"}}) {
    const Outcome ran = redirected(">/dev/full", command);
    EXPECT_EQ(ran.status, 1) << command[0];
    EXPECT_THAT(ran.err, testing::EndsWith("spectr: error: standard output: No space left on device\n"));
  }
  EXPECT_EQ(redirected(">&-", {"--version"}).status, 1);
}

TEST(Streams, WhatIsToldOnTheWayMayGetLost) {
  for (const char* lost : {"2>/dev/full", "2>&-"}) {
    const Outcome text =
        redirected(lost, generate() + Arguments{"-p", "Once", "-n", "4", "--method", "plain"});
    EXPECT_EQ(text.status, 0) << lost;
    EXPECT_THAT(text.out, testing::StartsWith("Once"));
    EXPECT_EQ(redirected(lost, {"inspect", "/none"}).status, 2) << lost;
    EXPECT_EQ(redirected(lost, {"law", "--method", "none"}).status, 2) << lost;
  }
}

TEST(Streams, LostAnswersOfLinesAreAFailure) {
  const TemporaryFile lines("{\"p\": [1], \"q\": [1], \"k\": 1}\n");
  const Outcome ran = redirected(">/dev/full <" + lines.path(), {"plan", "eval", "--plan", "k-seq"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, testing::HasSubstr("standard output: "));
}

TEST(Streams, InputThatCannotBeReadIsAnError) {
  for (const char* redirection : {"</tmp", "<&-"}) {
    for (const char* command : {"eval", "sample"}) {
      const Outcome ran = redirected(redirection, {"plan", command, "--plan", "k-seq"});
      EXPECT_EQ(ran.status, 2) << redirection;
      EXPECT_EQ(ran.err, "spectr: error: standard input cannot be read\n");
    }
  }
  EXPECT_EQ(redirected("</dev/null", {"plan", "eval", "--plan", "k-seq"}).status, 0);
  const Arguments chat = {"chat", "-m", target(), "--method", "plain", "--seed", "1"};
  for (const char* redirection : {"</tmp", "<&-"}) {
    const Outcome ran = redirected(redirection, chat);
    EXPECT_EQ(ran.status, 2) << redirection;
    EXPECT_EQ(ran.err, "spectr: error: standard input cannot be read\n");
  }
  EXPECT_EQ(redirected("</dev/null", chat).status, 0);
}

}  // namespace
}  // namespace spectr::test

// A conversation on the terminal: one line in, one answer out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/spectr.h"

namespace spectr::test {
namespace {

Outcome talk(const std::string& lines, const Arguments& more = {}) {
  const Arguments chat = {"chat", "-m",     target(), "-md",      draft(), "-n",
                          "12",   "--seed", "3",      "--method", "spectr"};
  return spectr(chat + more, {.input = lines});
}

TEST(Chat, AnswersEveryLineAndRepeatsItselfWithASeed) {
  const Outcome one = talk("Tom had a ball.\n"), two = talk("Tom had a ball.\nThen a dog came.\n");
  ASSERT_EQ(one.status, 0) << one.err;
  ASSERT_EQ(two.status, 0) << two.err;
  EXPECT_FALSE(one.out.empty());
  EXPECT_GT(two.out.size(), one.out.size());
  EXPECT_EQ(two.out.substr(0, one.out.size() - 1), one.out.substr(0, one.out.size() - 1));
  EXPECT_EQ(talk("Tom had a ball.\nThen a dog came.\n").out, two.out);
}

TEST(Chat, TheSystemPromptIsPartOfTheConversation) {
  const Outcome kind = talk("Tom had a ball.\n", {"-sys", "Once upon a time"});
  ASSERT_EQ(kind.status, 0) << kind.err;
  EXPECT_NE(kind.out, talk("Tom had a ball.\n").out);
}

}  // namespace
}  // namespace spectr::test

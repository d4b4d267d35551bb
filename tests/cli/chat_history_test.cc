// The history of typed lines, kept from one conversation to the next.
#include "apps/cli/chat/chat_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace spectr::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class ChatHistoryTest : public testing::Test {
 protected:
  ChatHistoryTest() {
    std::string name = testing::TempDir() + "chat_history_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ChatHistoryTest() override { fs::remove_all(folder_); }

  std::string path() const { return folder_ / "state/spectr/chat_history"; }

  fs::path folder_;
};

TEST_F(ChatHistoryTest, KeepsLinesWithTheirLineBreaks) {
  {
    ChatHistory history(path());
    EXPECT_THAT(history.lines(), IsEmpty());
    for (const char* line : {"one", "two\nthree\\n\n", "C:\\new", "one", "one"}) history.add(line);
  }
  EXPECT_THAT(ChatHistory(path()).lines(), ElementsAre("one", "two\nthree\\n\n", "C:\\new", "one"));
}

TEST_F(ChatHistoryTest, IsForItsOwnerAlone) {
  ChatHistory(path()).add("secret");
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(fs::path(path()).parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(ChatHistoryTest, ConversationsThatRunAtOnceKeepEachOthersLines) {
  ChatHistory one(path()), two(path());
  one.add("a");
  two.add("b");
  one.add("c");
  EXPECT_THAT(ChatHistory(path()).lines(), ElementsAre("a", "b", "c"));
}

TEST_F(ChatHistoryTest, KeepsTheLastLinesOnly) {
  {
    ChatHistory history(path());
    for (std::size_t i = 0; i <= 2 * ChatHistory::max_lines; ++i) history.add(std::to_string(i));
  }
  const ChatHistory history(path());
  ASSERT_EQ(history.lines().size(), ChatHistory::max_lines);
  EXPECT_EQ(history.lines().back(), std::to_string(2 * ChatHistory::max_lines));
  std::ifstream file(path());
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(file), {}, '\n'), ChatHistory::max_lines)
      << "the file is shortened, too";
}

TEST_F(ChatHistoryTest, WithoutAPlaceLastsAsLongAsTheConversation) {
  for (const std::string& nowhere : {std::string(), std::string("/proc/nobody/chat_history")}) {
    ChatHistory history(nowhere);
    EXPECT_TRUE(history.add("one"));
    EXPECT_FALSE(history.add("one"));
    EXPECT_THAT(history.lines(), ElementsAre("one"));
  }
}

TEST_F(ChatHistoryTest, LiesInTheStateFolder) {
  setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(ChatHistory::default_path(), "/state/spectr/chat_history");
  setenv("XDG_STATE_HOME", "", 1);
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(ChatHistory::default_path(), "/home/me/.local/state/spectr/chat_history");
}

}  // namespace
}  // namespace spectr::cli

#include "apps/cli/chat/chat_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace spectr::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns all input: messages verbatim, commands as "/NUMBER argument", mistakes prefixed with "!".
std::vector<std::string> read(const std::string& typed) {
  std::istringstream in(typed);
  StreamLines lines(in);
  std::vector<std::string> all;
  while (const auto input = read_chat_input(lines)) {
    if (const auto* message = std::get_if<TypedMessage>(&*input)) all.push_back(message->text);
    if (const auto* command = std::get_if<ChatCommand>(&*input))
      all.push_back("/" + std::to_string(static_cast<int>(command->action)) + " " + command->argument);
    if (const auto* mistake = std::get_if<ChatMistake>(&*input)) all.push_back("!" + mistake->text);
  }
  return all;
}

std::string pasted(const std::string& text) {
  return "\033[200~" + text + "\033[201~";
}

TEST(ChatInput, ALineIsAMessage) {
  EXPECT_THAT(read("Hello.\n\r\n\nHow are you?\r\nGood"), ElementsAre("Hello.", "How are you?", "Good"));
  EXPECT_THAT(read(""), IsEmpty());
  EXPECT_THAT(read("\n\n"), IsEmpty());
}

TEST(ChatInput, ABackslashAtTheEndGoesOnInTheNextLine) {
  EXPECT_THAT(read("one\\\ntwo\\\r\nthree\nfour\n"), ElementsAre("one\ntwo\nthree", "four"));
  EXPECT_THAT(read("one\\"), ElementsAre("one"));
}

TEST(ChatInput, BetweenThreeQuotesAllIsOneMessage) {
  EXPECT_THAT(read("\"\"\"\ndef f():\n\n  /help\n\"\"\"\nnext\n"),
              ElementsAre("def f():\n\n  /help", "next"));
  EXPECT_THAT(read("\"\"\"one\ntwo\"\"\"\n"), ElementsAre("one\ntwo"));
  EXPECT_THAT(read("\"\"\"one\"\"\"\n"), ElementsAre("one"));
  EXPECT_THAT(read("\"\"\"never\nended\n"), ElementsAre("never\nended"));
  EXPECT_THAT(read("\"\"\"\ndef f():\n  \"\"\"Doc.\"\"\"\n\"\"\"\nnext\n"),
              ElementsAre("def f():\n  \"\"\"Doc.\"\"\"", "next"));
  EXPECT_THAT(read("\"\"\"\n" + pasted("a\n\"\"\"\nb") + "\n\"\"\"\n"), ElementsAre("a\n\"\"\"\nb"));
}

TEST(ChatInput, WhatIsPastedIsOneMessage) {
  EXPECT_THAT(read(pasted("one\n/help\n\nfour") + "\nnext\n"), ElementsAre("one\n/help\n\nfour", "next"));
  EXPECT_THAT(read("Explain: " + pasted("a\nb") + " and " + pasted("c\nd") + ".\n"),
              ElementsAre("Explain: a\nb and c\nd."));
  EXPECT_THAT(read(pasted("/usr/bin/env") + "\n"), ElementsAre("/usr/bin/env"));
  EXPECT_THAT(read("\033[200~never\nended\n"), ElementsAre("never\nended\n"));
}

TEST(ChatInput, APathMayBePastedBehindACommand) {
  EXPECT_THAT(read("/file " + pasted("/home/me/a b.py") + "\n"), ElementsAre("/1 /home/me/a b.py"));
}

TEST(ChatInput, ASlashAndALetterIsACommand) {
  EXPECT_THAT(read("/stats\n/save  talk.json \n/quit\n"), ElementsAre("/2 ", "/5 talk.json", "/6 "));
  EXPECT_THAT(read("//etc is a folder\n/ alone\n/1\n"), ElementsAre("/etc is a folder", "/ alone", "/1"));
}

TEST(ChatInput, WhatIsNoCommandIsTold) {
  EXPECT_THAT(read("/sats\n"), ElementsAre(HasSubstr("there is no command /sats; /help lists them")));
  EXPECT_THAT(read("/file\n"), ElementsAre("!/file needs an argument: /file PATH"));
  EXPECT_THAT(read("/undo twice\n"), ElementsAre("!/undo takes no argument"));
  EXPECT_THAT(read("/\xff\xfe\033\n/a\xff\033\n"), ElementsAre("/\xff\xfe\033", HasSubstr("/a\\xff\\x1b;")));
}

TEST(ChatInput, TheHelpNamesAllCommands) {
  for (const char* name : {"/help", "/file PATH", "/stats", "/undo", "/reset", "/save PATH", "/quit"})
    EXPECT_THAT(chat_help(), HasSubstr(name));
}

}  // namespace
}  // namespace spectr::cli

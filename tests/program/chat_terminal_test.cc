// A chat on a terminal: keys, colours, and the terminal's state afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/program/spectr.h"
#include "tests/support/pseudo_terminal.h"

namespace spectr::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The bytes that a terminal sends for these keys.
const std::string up = "\033[A", down = "\033[B", right = "\033[C", left = "\033[D", home = "\033[H",
                  end = "\033[F", del = "\033[3~", backspace = "\177", enter = "\r", ctrl_c = "\003",
                  ctrl_d = "\004", ctrl_r = "\022", ctrl_z = "\032";

std::string pasted(const std::string& text) {
  return "\033[200~" + text + "\033[201~";
}

class ChatTerminal : public testing::Test {
 protected:
  ChatTerminal() {
    std::string name = testing::TempDir() + "chat_terminal_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ChatTerminal() override { fs::remove_all(folder_); }

  std::map<std::string, std::string> variables(std::map<std::string, std::string> more = {}) const {
    more.emplace("XDG_STATE_HOME", (folder_ / "state").string());
    return more;
  }
  static Arguments chat(const Arguments& more = {}) {
    return Arguments{"chat", "-m", target(), "--method", "plain", "-n", "2", "--seed", "3"} + more;
  }
  /// Returns true once the program reads keys at its prompt. Until then, possibly a moment after the prompt
  /// appears, the terminal itself handles Ctrl-C.
  static bool reads_keys(TerminalProgram& run) {
    return run.shows("> ") && comes_true([&] { return run.settings().c_cc[VINTR] == _POSIX_VDISABLE; });
  }
  /// Returns the user's messages after these keys were typed at the prompt.
  std::vector<std::string> said(const std::string& keys,
                                const std::map<std::string, std::string>& more = {}) const {
    const fs::path saved = folder_ / "saved.json";
    fs::remove(saved);
    TerminalProgram run(spectr_program(), chat(), variables(more));
    EXPECT_TRUE(reads_keys(run));
    run.type(keys + "/save " + saved.string() + enter + "/quit" + enter);
    EXPECT_EQ(run.wait(), 0) << run.screen();
    std::vector<std::string> messages;
    if (!fs::exists(saved)) return messages;
    for (const Json& message : Json::parse(std::ifstream(saved)))
      if (message["role"] == "user") messages.push_back(message["content"]);
    return messages;
  }

  fs::path folder_;
};

TEST_F(ChatTerminal, ALineIsEditedByTheKeysThatMoveAndDelete) {
  EXPECT_THAT(said("Hallo" + left + left + "X" + right + "Y" + enter), ElementsAre("HalXlYo"));
  EXPECT_THAT(said("allo" + home + "H" + end + "!" + enter), ElementsAre("Hallo!"));
  EXPECT_THAT(said("Hallo" + home + del + "T" + end + backspace + "e" + enter), ElementsAre("Talle"));
  EXPECT_THAT(said("Hallo\033[1~>\033[4~<\033OH>\033OF<" + enter), ElementsAre(">>Hallo<<"));
}

TEST_F(ChatTerminal, CharactersAreThoseOfUtf8WhateverTheLocale) {
  const std::string keys = "Grüße 😀€" + backspace + backspace + left + left + backspace + "ss" + enter;
  for (const char* locale : {"C", "C.UTF-8"})
    EXPECT_THAT(said(keys, {{"LC_ALL", locale}}), ElementsAre("Grüsse ")) << locale;
}

TEST_F(ChatTerminal, KeysWorkOnATerminalOfAnyName) {
  const std::string keys = "ac" + left + "b" + enter;
  for (const char* name : {"", "dumb", "xterm-256color", "no-such-terminal"})
    EXPECT_THAT(said(keys, {{"TERM", name}}), ElementsAre("abc")) << name;
}

TEST_F(ChatTerminal, EarlierLinesAreRecalledAlsoInTheNextConversation) {
  EXPECT_THAT(said("one" + enter + "two" + enter + up + up + "!" + enter), ElementsAre("one", "two", "one!"));
  EXPECT_THAT(said("dra" + up + up + up + up + "s" + down + down + down + down + "ft" + enter),
              ElementsAre("draft"));
  const fs::path history = folder_ / "state/spectr/chat_history";
  EXPECT_EQ(fs::status(history).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(said(ctrl_r + "tw" + "\033" + enter), ElementsAre("two"));
  const std::string folder = "dir C:\\new\\";
  EXPECT_THAT(said(pasted(folder) + enter + up + enter), ElementsAre(folder, folder)) << "no continued line";
}

TEST_F(ChatTerminal, APasteOfAnyLengthIsOneMessageAlsoBeforeThePrompt) {
  const std::string line(5000, 'x');
  std::string lines;
  for (int i = 0; i < 3000; ++i) lines += "line " + std::to_string(i) + "\n";
  const std::string more = home + "Read: " + enter + "/quit" + enter;
  for (const std::string& text : {line, lines}) {
    TerminalProgram run(spectr_program(), chat(), variables());
    ASSERT_TRUE(comes_true([&] { return (run.settings().c_lflag & ICANON) == 0; }));
    run.type(pasted(text) + more);
    EXPECT_EQ(run.wait(), 0);
    EXPECT_THAT(run.screen(), HasSubstr(std::to_string(text.size()) + " bytes]"));
    EXPECT_THAT(run.screen(), HasSubstr("it is left out")) << "this context is too small";
  }
  std::string fits = "Tom";
  while (fits.size() < 600) fits += " had a ball";
  EXPECT_THAT(said(pasted(fits) + enter), ElementsAre(fits));
}

TEST_F(ChatTerminal, APasteOfSeveralLinesIsOneMessage) {
  EXPECT_THAT(said(pasted("one\r/quit\r\n\nfour") + enter + "next" + enter),
              ElementsAre("one\n/quit\n\nfour", "next"));
  EXPECT_THAT(said("Explain: " + pasted("a\nb") + " and " + pasted("c\nd") + "." + enter),
              ElementsAre("Explain: a\nb and c\nd."));
  EXPECT_THAT(said(pasted("/usr/bin") + enter + up + "!" + enter), ElementsAre("/usr/bin", "/usr/bin!"));
  EXPECT_THAT(said("\"\"\"" + enter + "a" + enter + "b\\" + enter + "\"\"\"" + enter), ElementsAre("a\nb\\"));
}

TEST_F(ChatTerminal, ALongPasteIsShownAsAMarkAndReadWhole) {
  std::string lines = "Tom";
  for (int i = 0; i < 20; ++i) lines += "\nTom";
  EXPECT_THAT(said(pasted(lines) + " had" + enter + up + "!" + enter),
              ElementsAre(lines + " had", lines + " had!"));
}

TEST_F(ChatTerminal, CtrlCClearsTheLineAndSaysHowToLeave) {
  EXPECT_THAT(
      said("wrong" + ctrl_c + "right" + enter + "\"\"\"" + enter + "wrong" + enter + ctrl_c + "end" + enter),
      ElementsAre("right", "end"));
  TerminalProgram run(spectr_program(), chat(), variables());
  ASSERT_TRUE(reads_keys(run));
  run.type(ctrl_c);
  EXPECT_TRUE(run.shows("Ctrl-D or /quit ends the conversation"));
  ASSERT_TRUE(run.shows("> "));
  run.type(ctrl_d);
  EXPECT_EQ(run.wait(), 0);
}

TEST_F(ChatTerminal, CtrlCEndsAnAnswerAndNotTheConversation) {
  const Arguments slow = {"chat",    "-m",     target(), "-md",     draft(), "--method", "spectr",
                          "--plan",  "otm-lp", "-K",     "2",       "-L",    "1",        "--seed",
                          "1",       "--temp", "1.5",    "--top-k", "100",   "--top-p",  "1",
                          "--min-p", "0",      "-n",     "-1"};
  const fs::path answers = folder_ / "answers";
  TerminalProgram run(spectr_program(), slow, variables(), answers.string());
  ASSERT_TRUE(run.shows("> "));
  run.type("Tom had a ball." + enter);
  ASSERT_TRUE(comes_true([&] { return fs::file_size(answers) > 8; }));
  run.type(ctrl_c + ctrl_c);
  ASSERT_TRUE(run.shows("> ")) << run.screen();
  const auto first = fs::file_size(answers);
  run.type("/stats" + enter);
  EXPECT_TRUE(run.shows("answer: "));
  run.type(ctrl_d);
  EXPECT_EQ(run.wait(), 0);
  EXPECT_LT(first, 400) << "the answer was cut short";
}

TEST_F(ChatTerminal, TheTerminalIsAsItWasAfterEveryEnd) {
  const auto flags = [](const termios& settings) {
    return std::vector<tcflag_t>{settings.c_iflag, settings.c_oflag, settings.c_lflag};
  };
  for (const int signal : {0, SIGTERM, SIGHUP, SIGQUIT}) {
    TerminalProgram run(spectr_program(), chat(), variables());
    ASSERT_TRUE(run.shows("> "));
    EXPECT_NE(flags(run.settings()), flags(run.first_settings()));
    if (signal == 0) run.type(ctrl_d);
    if (signal != 0) run.send(signal);
    EXPECT_EQ(run.wait(), signal == 0 ? 0 : -1);
    EXPECT_EQ(flags(run.settings()), flags(run.first_settings())) << signal;
    EXPECT_THAT(run.screen(), HasSubstr("\033[?2004l")) << "pasted text has no marks any more";
  }
}

TEST_F(ChatTerminal, AStoppedProgramGoesOnWithTheLine) {
  const Arguments shell = {"-mc", "\"$0\" \"$@\"; echo stopped; read go; fg", spectr_program()};
  TerminalProgram run("/bin/sh", shell + chat(), variables());
  ASSERT_TRUE(run.shows("> "));
  run.type("Tom");
  ASSERT_TRUE(run.shows("Tom"));
  const tcflag_t editing = run.settings().c_lflag;
  run.type(ctrl_z);
  ASSERT_TRUE(run.shows("stopped")) << run.screen();
  EXPECT_EQ(run.settings().c_lflag, run.first_settings().c_lflag) << "others find it as it was";
  run.type("go\r");
  ASSERT_TRUE(run.shows("> Tom")) << run.screen();
  EXPECT_EQ(run.settings().c_lflag, editing);
  run.type(enter + "/quit" + enter);
  EXPECT_EQ(run.wait(), 0);
}

TEST_F(ChatTerminal, UserAndModelHaveColoursUnlessTheyAreRefused) {
  const std::string users = "\033[38;5;33m", models = "\033[38;5;172m", dim = "\033[2m";
  const auto screen = [&](const std::map<std::string, std::string>& more, const std::string& output = {}) {
    TerminalProgram run(spectr_program(), chat(), variables(more), output);
    EXPECT_TRUE(run.shows("> "));
    run.type("Tom had a ball." + enter + "/quit" + enter);
    EXPECT_EQ(run.wait(), 0);
    return run.screen();
  };
  const std::string coloured = screen({});
  for (const std::string& style : {users, models, dim}) EXPECT_THAT(coloured, HasSubstr(style));
  EXPECT_THAT(coloured, HasSubstr("tokens/s")) << "statistics of the answer";
  for (const char* refusal : {"NO_COLOR", "TERM"}) {
    const std::string plain = screen({{refusal, "dumb"}});
    for (const std::string& style : {users, models, dim}) EXPECT_THAT(plain, Not(HasSubstr(style)));
  }
  const fs::path answers = folder_ / "answers";
  EXPECT_THAT(screen({}, answers.string()), Not(HasSubstr(models)));
  std::ostringstream answer;
  answer << std::ifstream(answers).rdbuf();
  EXPECT_EQ(answer.str(), spectr(chat(), {.input = "Tom had a ball.\n"}).out);
}

TEST_F(ChatTerminal, TheModelIsNamedOnceAndTheSeedOnlyWhenAsked) {
  const auto screen = [&](const Arguments& more) {
    TerminalProgram run(spectr_program(), chat(more), variables());
    EXPECT_TRUE(run.shows("> "));
    run.type("Tom had" + enter + "a ball." + enter + ctrl_d);
    EXPECT_EQ(run.wait(), 0);
    return run.screen();
  };
  const std::string quiet = screen({"--seed", "-1"});
  const std::string name = "stories260K-f32";
  const std::size_t at = quiet.find(name + "\r\n");
  ASSERT_NE(at, std::string::npos) << quiet;
  EXPECT_EQ(quiet.find(name + "\r\n", at + 1), std::string::npos);
  EXPECT_THAT(quiet, Not(HasSubstr("seed")));
  EXPECT_THAT(screen({"--verbose"}), HasSubstr("seed 3"));
}

}  // namespace
}  // namespace spectr::test

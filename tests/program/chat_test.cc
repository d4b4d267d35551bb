// A chat on the terminal: messages in, answers out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

Outcome talk(const std::string& lines, const Arguments& more = {}) {
  // K and L are fixed, because otherwise measured costs select them, which can warn of a busy machine.
  const Arguments chat = {"chat", "-m",       target(), "-md", draft(), "-n", "12", "--seed",
                          "3",    "--method", "spectr", "-K",  "4",     "-L", "4"};
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

TEST(Chat, LinesMayEndAsOnWindows) {
  EXPECT_EQ(talk("Tom had a ball.\r\n\r\nThen a dog came.\r\n").out,
            talk("Tom had a ball.\nThen a dog came.\n").out);
}

TEST(Chat, AnswersOneMessageAndEnds) {
  const std::string answer = talk("Tom had a ball.\n").out;
  EXPECT_EQ(talk("this is not read\n", {"-p", "Tom had a ball."}).out, answer);
  EXPECT_EQ(talk("Tom had a ball.\n", {"-f", "-"}).out, answer);
  EXPECT_EQ(talk("", {"-e", "-p", "Tom had\\na ball."}).out, talk("Tom had\\\na ball.\n").out);
  const Outcome none = talk("", {"-f", "/nowhere/prompt"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, testing::HasSubstr("/nowhere/prompt: No such file"));
  const Outcome both = talk("", {"-f", "-", "-p", "a"});
  EXPECT_NE(both.status, 0);
  const std::string story = "Tom had a ball and a dog and a cat and a car and a big red house and a tree.";
  const Outcome full = talk("", {"-c", "24", "-p", story});
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.err,
              testing::HasSubstr("it is left out\nspectr: error: there is no room for an answer\n"));
}

TEST(Chat, TakesMessagesOfSeveralLines) {
  const Outcome fenced = talk("\"\"\"\nTom had\na ball.\n\"\"\"\n");
  ASSERT_EQ(fenced.status, 0) << fenced.err;
  EXPECT_EQ(fenced.out, talk("Tom had\\\na ball.\n").out);
  EXPECT_EQ(fenced.out, talk("\033[200~Tom had\na ball.\033[201~\n").out);
  EXPECT_NE(fenced.out, talk("Tom had\na ball.\n").out);
}

/// Returns the conversation that `/save` writes after these lines.
Json saved(const std::string& lines, const Arguments& more = {}) {
  const TemporaryFile file("");
  const Outcome ran = talk(lines + "/save " + file.path() + "\n", more);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return Json::parse(std::ifstream(file.path()));
}

TEST(Chat, ForgetsWhatIsUndone) {
  EXPECT_EQ(saved("Tom had a ball.\nThen a dog came.\n/undo\n"), saved("Tom had a ball.\n"));
  EXPECT_EQ(saved("Then a dog came.\n/undo\n"), Json::array());
  EXPECT_THAT(talk("Then\n/undo\n").err,
              testing::HasSubstr("the last message and its answer are forgotten\n"));
  EXPECT_THAT(talk("/undo\n", {"-sys", "Be kind"}).err,
              testing::HasSubstr("nothing was said that could be forgotten\n"));
  EXPECT_EQ(saved("Tom had a ball.\nThen\n/reset\n", {"-sys", "Be kind"}),
            Json({{{"role", "system"}, {"content", "Be kind"}}}));
}

TEST(Chat, SavesTheConversationAsTheServerTakesIt) {
  const Json messages = saved("Tom had a ball.\n");
  ASSERT_EQ(messages.size(), 2);
  EXPECT_EQ(messages[0], Json({{"role", "user"}, {"content", "Tom had a ball."}}));
  EXPECT_EQ(messages[1]["role"], "assistant");
  const std::string answer = talk("Tom had a ball.\n").out;
  EXPECT_EQ(messages[1]["content"].get<std::string>() + "\n", answer);
  const Outcome nowhere = talk("/save /nowhere/talk.json\nTom had a ball.\n");
  EXPECT_EQ(nowhere.status, 0);
  EXPECT_THAT(nowhere.err, testing::HasSubstr("/nowhere/talk.json: cannot be written\n"));
  EXPECT_EQ(nowhere.out, answer);
}

TEST(Chat, PutsFilesBeforeAMessage) {
  const TemporaryFile file("Tom had\n");
  const std::string lines = "/file " + file.path() + "\na ball.\n";
  EXPECT_EQ(saved(lines)[0]["content"], "Tom had\n\na ball.");
  const Outcome ran = talk(lines);
  EXPECT_THAT(ran.err, testing::HasSubstr("8 bytes go before the next message\n"));
  EXPECT_EQ(ran.out, talk("Tom had\\\n\\\na ball.\n").out);
  const Outcome missing = talk("/file /nowhere/file\nTom had a ball.\n");
  EXPECT_THAT(missing.err, testing::HasSubstr("/nowhere/file: No such file"));
  EXPECT_EQ(missing.out, talk("Tom had a ball.\n").out);
}

TEST(Chat, TellsWhatAnAnswerTook) {
  EXPECT_THAT(talk("/stats\n").err, testing::HasSubstr("nothing was answered yet\n"));
  const Outcome ran = talk("Tom had a ball.\n/stats\n/help\n/nonsense\n/quit\nnot read\n");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, testing::HasSubstr("answer: 12 tokens, "));
  EXPECT_THAT(ran.err, testing::HasSubstr("method spectr: "));
  EXPECT_THAT(ran.err, testing::HasSubstr(" of 512 tokens\n"));
  EXPECT_THAT(ran.err, testing::HasSubstr("/save PATH"));
  EXPECT_THAT(ran.err, testing::HasSubstr("there is no command /nonsense"));
  EXPECT_EQ(ran.out, talk("Tom had a ball.\n").out);
}

TEST(Chat, TheSystemPromptIsPartOfTheConversation) {
  const Outcome kind = talk("Tom had a ball.\n", {"-sys", "Once upon a time"});
  ASSERT_EQ(kind.status, 0) << kind.err;
  EXPECT_NE(kind.out, talk("Tom had a ball.\n").out);
}

TEST(Chat, ThoughtsArePrintedWithoutTheirMarks) {
  const Arguments thinks = {"--chat-template", "{{ messages[0].content }}<think>"};
  const Outcome apart = talk("Once upon a time\n", thinks);
  const Outcome together = talk("Once upon a time\n", thinks + Arguments{"--reasoning-format", "none"});
  ASSERT_EQ(apart.status, 0) << apart.err;
  EXPECT_FALSE(apart.out.contains('\033')) << "this is no terminal";
  EXPECT_TRUE(together.out.contains(apart.out.substr(0, apart.out.find_last_not_of('\n') + 1)));
  const Arguments generate_chat = generate() + Arguments{"--chat", "-p", "Once upon a time", "-n", "12"};
  const Outcome generated = spectr(generate_chat + thinks);
  EXPECT_EQ(generated.status, 0) << generated.err;
  EXPECT_FALSE(generated.out.contains("<think>"));
}

TEST(Chat, RefusesWhatGenerateRefuses) {
  expect_error({"chat", "-md", "/nowhere/draft"}, "needs a target (-m)");
  expect_error({"chat", "-m", target(), "--method", "spectr"}, "needs a draft model");
  const Outcome two = talk("", {"-md", draft()});
  EXPECT_EQ(two.status, 2);
  EXPECT_THAT(two.err, testing::HasSubstr("method spectr takes one draft model, got 2"));
  const Outcome bias = talk("", {"-l", "99999+5"});
  EXPECT_EQ(bias.status, 2);
  EXPECT_THAT(bias.err, testing::HasSubstr("token 99999 is outside the vocabulary of 512"));
}

TEST(Chat, TellsThatAMethodIsBiased) {
  const Outcome ran = talk("Tom had\n", {"--method", "biased-opt", "--epsilon", "0.5", "-n", "2"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, testing::HasSubstr("method biased-opt is biased"));
  EXPECT_THAT(talk("Tom had\n", {"-n", "2"}).err, testing::Not(testing::HasSubstr("biased")));
}

TEST(Chat, PrintsARandomSeedThatRepeatsTheConversationWhereItIsAsked) {
  const std::string lines = "Tom had a ball.\nThen a dog came.\n";
  EXPECT_EQ(talk(lines, {"--seed", "-1"}).err, "");
  const Outcome random = talk(lines, {"--seed", "-1", "--verbose"});
  ASSERT_EQ(random.status, 0) << random.err;
  const std::size_t at = random.err.find("seed ");
  ASSERT_NE(at, std::string::npos) << random.err;
  const std::string seed = random.err.substr(at + 5, random.err.find('\n', at) - at - 5);
  EXPECT_EQ(talk(lines, {"--seed", seed}).out, random.out);
}

TEST(Chat, TakesTheLengthOfAnswersFromTheVariable) {
  const Arguments chat = {"chat", "-m", target(), "--method", "plain", "--seed", "3"};
  const Outcome one = spectr(chat, {.variables = {{"LLAMA_ARG_N_PREDICT", "1"}}, .input = "Tom had\n"});
  EXPECT_EQ(one.out, spectr(chat + Arguments{"-n", "1"}, {.input = "Tom had\n"}).out);
  EXPECT_LT(one.out.size(), 20u);
}

TEST(Chat, SaysWhenTheContextIsFull) {
  const Outcome ran = talk("Tom had a ball.\nAnd a dog.\n", {"-n", "-1", "-c", "24"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::HasSubstr("\nthe context of 24 tokens is full: the answer ends here\n"));
  EXPECT_THAT(ran.err, testing::HasSubstr("tokens, the context 24: its first 2 messages are forgotten\n"));
}

TEST(Chat, LeavesOutAMessageThatNoContextHoldsAndGoesOn) {
  const std::string story = "Tom had a ball and a dog and a cat and a car and a big red house and a tree.";
  const Outcome ran = talk(story + "\nTom had a ball.\n", {"-c", "24"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::HasSubstr("but the context holds 24: it is left out"));
  EXPECT_EQ(ran.out, talk("Tom had a ball.\n", {"-c", "24"}).out);
}

TEST(Chat, AMessageThatNoContextHoldsForgetsNothing) {
  std::string story;
  for (int i = 0; i < 40; ++i) story += "Tom had a ball and a dog and a cat. ";
  const std::string turns = "Tom had a ball.\nThen a dog came.\nThen a cat came.\n";
  const Arguments small = {"-c", "256"};
  EXPECT_EQ(saved(turns + story + "\n", small), saved(turns, small));
  EXPECT_EQ(talk(turns + story + "\nAnd a car.\n", small).out, talk(turns + "And a car.\n", small).out);
}

TEST(Chat, AFailedAnswerEndsNothingAndForgetsNothing) {
  const std::string fails =
      "{% if 'fail' in messages[-1].content %}{{ raise_exception('it fails') }}{% endif %}"
      "{% for m in messages %}{{ m.content }}\n{% endfor %}";
  const Arguments failing = {"--chat-template", fails};
  const Outcome ran = talk("Tom had a ball.\nfail\nThen a dog came.\n", failing);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::HasSubstr("it fails"));
  EXPECT_EQ(ran.out, talk("Tom had a ball.\nThen a dog came.\n", failing).out);
  EXPECT_EQ(saved("Tom had a ball.\nfail\nThen a dog came.\n", failing),
            saved("Tom had a ball.\nThen a dog came.\n", failing));
  EXPECT_NE(talk("", failing + Arguments{"-p", "fail"}).status, 0) << "the only message";
}

TEST(Chat, AnAnswerWithoutNumbersEndsNothing) {
  std::ostringstream file;
  file << std::ifstream(target(), std::ios::binary).rdbuf();
  std::string bytes = file.str();
  std::ranges::fill_n(bytes.end() - 1000, 1000, '\xff');  // the last tensor becomes NaN
  const TemporaryFile broken(bytes);
  const Outcome ran = talk("Tom had a ball.\nThen a dog came.\n/stats\n", {"-m", broken.path()});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, testing::HasSubstr("nothing was answered yet\n"));
}

TEST(Chat, KnowsTemplatesByTheirNames) {
  const Outcome named = talk("Tom had a ball.\n", {"--chat-template", "vicuna"});
  EXPECT_EQ(named.status, 0) << named.err;
  EXPECT_NE(named.out, talk("Tom had a ball.\n").out);
  const Outcome unknown = talk("Tom had a ball.\n", {"--chat-template", "vicunia"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err,
              testing::HasSubstr("'vicunia' is no template in Jinja, and none of the names bailing, "));
  const Outcome silent = talk("Tom had a ball.\n", {"--chat-template", "{% if false %}{% endif %}Hello"});
  EXPECT_EQ(silent.status, 2);
  EXPECT_THAT(silent.err, testing::HasSubstr("it prints nothing of what a user says"));
}

}  // namespace
}  // namespace spectr::test

// If a command line is nearly right, the error shows the correct one.
#include <string>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;

TEST(Hints, AModelWithoutItsFlagIsGivenOne) {
  const std::string m = target();
  expect_error({"serve", m}, "did you mean: spectr serve -m " + m + "\n");
  expect_error({"serve", m, "--port", "81"}, "did you mean: spectr serve -m " + m + " --port 81\n");
  expect_error({"chat", "model.GGUF"}, "did you mean: spectr chat -m model.GGUF\n");
  expect_error({"serve", "someone/model:Q4_K_M"}, "did you mean: spectr serve -hf someone/model:Q4_K_M\n");
  expect_error({"perplexity", m, "-f", "a.txt"}, "did you mean: spectr perplexity -m " + m + " -f a.txt\n");
}

TEST(Hints, APromptWithoutItsFlagIsGivenOne) {
  expect_error({"generate", "Once upon"}, "did you mean: spectr generate -p 'Once upon'\n");
  expect_error({"generate", "Once", "upon", "-n", "4"},
               "did you mean: spectr generate -n 4 -p 'Once upon'\n");
  expect_error({"generate", target(), "It's"},
               "did you mean: spectr generate -m " + target() + " -p 'It'\\''s'\n");
  expect_error({"tokenize", "-m", target(), "Once"},
               "did you mean: spectr tokenize -m " + target() + " -p Once\n");
}

TEST(Hints, AFileWithoutItsFlagIsGivenOne) {
  expect_error({"perplexity", "text.txt"}, "did you mean: spectr perplexity -f text.txt\n");
  expect_error({"perplexity", "-m", target(), "text.txt"},
               "did you mean: spectr perplexity -f text.txt -m " + target() + "\n");
  expect_error({"perplexity", target()}, "did you mean: spectr perplexity -m " + target() + "\n");
}

TEST(Hints, ACommandLineWithoutACommandIsGivenOne) {
  expect_error({"-m", "X", "-p", "hi"}, "no command is given; did you mean: spectr generate -m X -p hi\n");
  expect_error({"-m", "X"}, "did you mean: spectr chat -m X\n");
  expect_error({"-m", "X", "--port", "80"}, "did you mean: spectr serve -m X --port 80\n");
  expect_error({"model.gguf"}, "did you mean: spectr chat -m model.gguf\n");
  expect_error({target(), "-c", "64"}, "did you mean: spectr chat -m " + target() + " -c 64\n");
  expect_error({"--sing"}, "--sing was not expected");
  expect_error({}, "no command is given; see spectr --help");
  expect_error({"plan"}, "no command is given; see spectr plan --help");
}

TEST(Hints, FlagsBeforeTheCommandAreMovedBehindIt) {
  expect_error({"-m", "X", "serve"}, "flags go after the command; did you mean: spectr serve -m X\n");
  expect_error({"-t", "4", "generate", "-p", "hi"}, "did you mean: spectr generate -t 4 -p hi\n");
  expect_error({"-m", "X", "bench", "methods"}, "flags go after the command: spectr bench ...");
}

TEST(Hints, AMistypedCommandIsNamedWhateverItsFlags) {
  expect_error({"genrate", "-p", "hi"}, "there is no command 'genrate'; did you mean generate");
  expect_error({"genrate", "-m", "X", "--lora", "y"}, "there is no command 'genrate'");
  expect_error({"help", "genrate"}, "there is no command 'genrate'; did you mean generate");
}

TEST(Hints, SwappedLettersAreOneMistake) {
  expect_error({"serve", "-m", target(), "--prot", "80"}, "did you mean --port");
  expect_error({"chta", "-m", target()}, "did you mean chat");
}

TEST(Hints, FlagsOfOtherCommandsAreNamedAsTheirs) {
  expect_error({"perplexity", "-m", target(), "-p", "hi"}, "-p is a flag of spectr generate");
  expect_error({"chat", "-m", target(), "--no-such"}, "--no-such");
  const Outcome ran =
      spectr(Arguments{"generate", "-m", target(), "-p", "a", "-n", "1", "--no-webui", "--mlock", "--mlock"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("the page is always served")));
  const std::size_t first = ran.err.find("--mlock");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(ran.err.find("--mlock", first + 1), std::string::npos) << ran.err;
}

TEST(Hints, AValueMayFollowAShortFlagBehindAnEqualsSign) {
  const Outcome ran = spectr({"tokenize", "-m=" + target(), "-p=Once"});
  EXPECT_EQ(ran.out, spectr({"tokenize", "-m", target(), "-p", "Once"}).out) << ran.err;
  EXPECT_EQ(ran.status, 0);
}

TEST(Hints, CommandsOfOtherProgramsAreTranslated) {
  expect_error({"run", "X"}, "there is no command 'run'; did you mean: spectr chat -m X\n");
  expect_error({"run", "someone/model"}, "did you mean: spectr chat -hf someone/model\n");
  expect_error({"run", "X", "Why?"}, "did you mean: spectr chat -m X -p 'Why?'\n");
  expect_error({"list"}, "did you mean: spectr models\n");
  expect_error({"server", "-m", "X", "--port", "80"}, "did you mean: spectr serve -m X --port 80\n");
  expect_error({"pull", "X"}, "hf download");
}

TEST(Hints, HelpIsACommandToo) {
  EXPECT_EQ(spectr({"help"}).out, spectr({"--help"}).out);
  EXPECT_EQ(spectr({"help"}).status, 0);
  EXPECT_EQ(spectr({"help", "serve"}).out, spectr({"serve", "--help"}).out);
  EXPECT_EQ(spectr({"serve", "help"}).out, spectr({"serve", "--help"}).out);
  EXPECT_EQ(spectr({"serve", "--usage"}).out, spectr({"serve", "--help"}).out);
  EXPECT_EQ(spectr({"version"}).out, spectr({"--version"}).out);
}

TEST(Hints, ANameThatIsNoPathIsExplained) {
  expect_error({"generate", "-m", "qwen3", "-p", "hi"},
               "qwen3: cannot be opened (No such file or directory); give");
  expect_error({"generate", "-m", "qwen3", "-p", "hi"}, "spectr models");
  expect_error({"serve", "-m", "someone/model"}, "given with -hf someone/model\n");
  expect_error({"serve", "-m", "/nowhere/model"}, "/nowhere/model: cannot be opened");
}

TEST(Hints, KeepKeysToThemselves) {
  const Outcome ran = spectr({"serve", "model.gguf", "--api-key", "secret", "--api-key=secret"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean: spectr serve -m model.gguf"));
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace spectr::test

// Flags that users of llama.cpp type, and what the help says of ours.
#include <sched.h>

#include <string>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Json story(const Arguments& more) {
  const Outcome ran = spectr(generate() + Arguments{"-p", "Once", "-n", "8", "--seed", "1", "--json"} + more);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return Json::parse(ran.out);
}

std::string help(const Arguments& command) {
  return spectr(command + Arguments{"--help"}).out;
}

TEST(Flags, OfLlamaCppsScriptsAreUnderstood) {
  EXPECT_EQ(story({"--draft", "2"})["stats"]["length"], 2);
  EXPECT_EQ(story({"--draft=2"})["stats"]["length"], 2);
  EXPECT_EQ(story({"-K", "2", "-no-cnv"})["tokens"], story({"-K", "2"})["tokens"]);
  const TemporaryFile text("Once upon a time");
  const Arguments perplexity = {"perplexity", "-m", target(), "-f", text.path()};
  EXPECT_EQ(spectr(perplexity + Arguments{"--json"}).out, spectr(perplexity).out);
}

TEST(Flags, LawChoosesTheMethodAsGenerateDoes) {
  const auto law = [](const Arguments& more) { return spectr(Arguments{"law", "--vocab", "2"} + more); };
  EXPECT_EQ(law({"--tree", "2,1"}).status, 0) << law({"--tree", "2,1"}).err;
  EXPECT_EQ(law({"--tree", "2,1"}).out, law({"--tree", "2,1", "--method", "tree"}).out);
  EXPECT_EQ(law({"-K", "2"}).out, law({"-K", "2", "--method", "spectr"}).out);
  EXPECT_EQ(law({"-K", "2", "--drafts", "2"}).out,
            law({"-K", "2", "--drafts", "2", "--method", "specinfer"}).out);
}

TEST(Flags, OfDraftsThatAreNotUsedAreTold) {
  const auto told = [](const Arguments& more) {
    return spectr(generate() + Arguments{"-p", "Once", "-n", "2", "--seed", "1"} + more).err;
  };
  EXPECT_THAT(told({"--method", "speculative", "-K", "7"}),
              HasSubstr("-K 7 is not used: method speculative"));
  EXPECT_THAT(told({"--method", "plain", "-L", "3"}),
              HasSubstr("-L 3 is not used: method plain drafts nothing"));
  EXPECT_THAT(spectr({"law", "--method", "speculative", "-K", "4"}).err,
              HasSubstr("-K 4 is not used: method speculative drafts K 1, L 2 here"));
  EXPECT_THAT(told({"--method", "spectr", "-K", "3", "-L", "2"}), Not(HasSubstr("is not used")));
}

TEST(Flags, ValuesInBracketsAreNotTakenApart) {
  const Arguments text = generate() + Arguments{"-p", "Once", "--method", "plain", "-n", "40", "--temp", "0"};
  const Outcome whole = spectr(text), stopped = spectr(text + Arguments{"-r", "[the,a]", "-r", "[he]"});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(stopped.out, whole.out);
  EXPECT_NE(spectr(text + Arguments{"-r", "[the]", "-r", "he"}).out, whole.out) << "all of them count";
  expect_error({"generate", "-m", target(), "-md", "[d]", "-p", "a"}, "[d]: ");
}

TEST(Flags, ThreadsAreAsManyAsProcessorsMayBeUsed) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // what it runs inherits it
  const Outcome ran = spectr({"bench", "tg", "-m", target(), "-n", "1", "-r", "1", "--json"});
  sched_setaffinity(0, sizeof all, &all);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)[0]["n_threads"], 1);
}

TEST(Flags, AnEmptyPromptIsTheBeginningOfAText) {
  const Outcome ran = spectr(generate() + Arguments{"-p", "", "-n", "4", "--seed", "1", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const TemporaryFile nothing("");
  const Outcome file =
      spectr(generate() + Arguments{"-f", nothing.path(), "-n", "4", "--seed", "1", "--json"});
  EXPECT_EQ(Json::parse(file.out)["tokens"], Json::parse(ran.out)["tokens"]);
}

TEST(Flags, AreHelpedWithWhatTheyDo) {
  EXPECT_THAT(help({"generate"}), HasSubstr("draw|top"));
  EXPECT_THAT(help({"generate"}), HasSubstr("--cost-file"));
  EXPECT_THAT(help({"law"}), Not(HasSubstr("--cost-file")));
  EXPECT_THAT(help({"perplexity"}), HasSubstr("tokens of a window (0: the model's context)"));
  EXPECT_THAT(help({"bench", "pp"}), HasSubstr("a JSON list"));
  EXPECT_THAT(help({"bench", "widths"}), HasSubstr("N,N,...=1,2,"));
}

}  // namespace
}  // namespace spectr::test

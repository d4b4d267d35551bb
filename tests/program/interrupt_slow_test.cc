// Ctrl-C stops the output, but keeps the results so far.
#include <chrono>
#include <csignal>
#include <string>

#include "tests/program/spectr.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

/// Settings with which a text takes about a second: a linear program for every token.
const Arguments slow = {"-m",      target(), "-md",     draft(), "--method", "spectr", "--plan", "otm-lp",
                        "-K",      "2",      "-L",      "1",     "--seed",   "1",      "--temp", "1.5",
                        "--top-k", "100",    "--top-p", "1",     "--min-p",  "0"};

void interrupt_after_first_words(const RunningProgram& run) {
  ASSERT_TRUE(comes_true([&] { return run.out().size() >= 8; }, 1ms)) << "it writes nothing: " << run.err();
  run.send(SIGINT);
}

TEST(Interrupt, ATextThatIsCutShortIsToldWithSeedAndStatistics) {
  const Arguments command = Arguments{"generate"} + slow +
                            Arguments{"-p", "Once", "-n", "100", "--ignore-eos", "--no-display-prompt"};
  RunningProgram run(spectr_program(), command);
  interrupt_after_first_words(run);
  const Outcome cut = run.wait(), whole = spectr(command);
  EXPECT_EQ(cut.status, -1) << "it ends as the signal would have ended it";
  EXPECT_THAT(cut.err, HasSubstr("stopped by: interrupt"));
  EXPECT_THAT(cut.err, HasSubstr("seed        1"));
  EXPECT_LT(cut.out.size(), whole.out.size());
  EXPECT_THAT(whole.out, StartsWith(cut.out.substr(0, cut.out.size() - 1)));
}

TEST(Interrupt, EndsAnAnswerAndNotTheConversation) {
  const Arguments command = Arguments{"chat"} + slow + Arguments{"-n", "60"};
  const Surroundings one_line = {.input = "Tom had a ball.\n"};
  RunningProgram run(spectr_program(), command, {.input = one_line.input + "Then a dog came.\n"});
  interrupt_after_first_words(run);
  const Outcome cut = run.wait(), whole = spectr(command, one_line);
  EXPECT_EQ(cut.status, 0) << cut.err;
  const std::string first = cut.out.substr(0, cut.out.find('\n'));
  EXPECT_LT(first.size() + 1, whole.out.size());
  EXPECT_THAT(whole.out, StartsWith(first));
  EXPECT_GT(cut.out.size(), first.size() + 8) << "the second answer";
}

}  // namespace
}  // namespace spectr::test

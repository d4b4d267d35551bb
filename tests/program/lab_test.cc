// `spectr lab`: the program that it starts, and the errors of `lab run`.
#include <filesystem>
#include <string>

#include "tests/program/spectr.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

Arguments run(const char* experiment, const Arguments& more = {}) {
  return Arguments{"lab", "run", experiment, "--quick", "--out", "/tmp"} + more;
}

TEST(Lab, InputsThatAreMissingAreBadInput) {
  expect_error(run("opt-vs-uno", {"-m", "/nowhere/m", "-md", draft()}), "/nowhere/m");
  expect_error(run("opt-vs-uno", {"-m", target(), "-md", draft(), "--prompts", "/nowhere/p"}), "/nowhere/p");
  expect_error(run("opt-vs-uno", {"-m", target(), "-md", draft(), "--scorer", "/nowhere/s"}), "/nowhere/s");
}

TEST(Lab, ReadsModelsWhereAnExperimentNeedsThem) {
  const std::string folder = testing::TempDir() + "spectr-lab-" + std::to_string(getpid());
  const Outcome ran = spectr({"lab", "run", "spectr-uniform", "--quick", "--out", folder});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::HasSubstr("spectr-uniform"));
  std::filesystem::remove_all(folder);
  expect_error(run("opt-vs-uno", {"-m", target()}), "needs both -m and -md");
  expect_error(run("opt-vs-uno", {"-m", target(), "-md", draft(), "-md", draft()}), "one draft model, got 2");
}

TEST(Lab, IsAskedForItsHelpByTheSameName) {
  for (const Arguments& command : {Arguments{"lab", "--help"}, {"lab", "-h"}}) {
    const Outcome help = spectr(command);
    EXPECT_EQ(help.status, 0) << help.err;
    EXPECT_THAT(help.out, testing::HasSubstr("Usage: spectr lab [OPTIONS] SUBCOMMAND"));
  }
  EXPECT_THAT(spectr({"lab", "run", "--help"}).out,
              testing::HasSubstr("Usage: spectr lab run [OPTIONS] name"));
  EXPECT_THAT(spectr({"--help"}).out, testing::HasSubstr("The papers' figures and tables"));
}

TEST(Lab, UnknownWordsAreNamed) {
  expect_error({"lab"}, "no command is given; see spectr lab --help");
  expect_error({"lab", "lists"}, "there is no command 'lab lists'; did you mean list; see spectr lab --help");
  expect_error({"lab", "run", "pareto2", "--out", "/tmp"}, "pareto-markov");
  expect_error(run("pareto", {"--rns", "3"}), "--rns 3 was not expected; did you mean --runs");
}

TEST(Lab, IsAProgramThatLiesBesideThisOne) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("spectr-alone-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(spectr_program(), folder / "spectr");
  const Outcome ran = run_program((folder / "spectr").string(), {"lab", "list"});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, testing::StartsWith("spectr: error: " + (folder / "spectr-lab").string()));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

TEST(Lab, HeedsNoVariables) {
  const Surroundings where = {
      .variables = {{"LLAMA_ARG_MODEL", "/nowhere/m"}, {"LLAMA_ARG_SPEC_DRAFT_MODEL", "/nowhere/d"}}};
  expect_error(run("opt-vs-uno", {"--prompts", "/nowhere/p"}), "/nowhere/p", where);
}

TEST(Lab, TriesItsFolderBeforeTheRun) {
  expect_error({"lab", "run", "all", "--out", "/dev/null/results"}, "/dev/null/results");
}

}  // namespace
}  // namespace spectr::test

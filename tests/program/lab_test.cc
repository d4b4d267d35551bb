// `spectr lab run`: what it refuses, and when.
#include <string>

#include "tests/program/spectr.h"

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

// Numeric arguments of flags must be fully parsed, in base 10, and in range.
#include <string>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

TEST(Numbers, ThatAreNoneOrOutOfRangeAreRefusedByFlagAndValue) {
  const Arguments text = generate() + Arguments{"-p", "Once"};
  const struct {
    Arguments command;
    std::string flag;
    std::vector<std::string> values;
  } cases[] = {
      {text, "--seed", {"", "08x", "99999999999999999999", "-2", "1.0", " 1"}},
      {text, "--predict", {"", "-2", "0x10", "1e2"}},
      {text, "--ngram", {"-1", "0"}},
      {text, "--beams", {"-1", ""}},
      {text, "--tree", {"1,-1", "", "2,,2", "2,2,", "2 2"}},
      {text, "--top-k", {"-2", ""}},
      {text, "--temp", {"", "1.0x"}},
      {text, "--tau", {""}},
      {{"chat", "-m", target()}, "--seed", {"", "-2"}},
      {{"serve", "-m", target()}, "--parallel", {"", "0", "4x"}},
      {{"plan", "sample", "--plan", "k-seq"}, "--draws", {"-1", ""}},
      {{"plan", "sample", "--plan", "k-seq"}, "--seed", {"-1", "99999999999999999999"}},
      {{"plan", "time"}, "--vocab", {"0", "-1"}},
      {{"law"}, "--seed", {"-1", "4294967296"}},
      {{"lab", "run", "spectr-uniform", "--out", "/tmp"}, "--seed", {"-1"}},
      {{"bench", "widths", "-m", target()}, "--depths", {"-1", "-2", "0,-1", ""}},
      {{"bench", "widths", "-m", target()}, "--widths", {"0", "-1"}},
      {{"bench", "methods"}, "--count", {"-1"}},
      {{"bench", "methods"}, "-K", {"-1", "1,0"}},
      {{"bench", "pp", "-m", target()}, "-p", {"-1", ""}},
      {{"bench", "pp", "-m", target()}, "-t", {"0", "-2"}},
      {{"bench", "select"}, "-V", {"1", "-1"}},
  };
  for (const auto& [command, flag, values] : cases) {
    for (const std::string& value : values) {
      const Arguments all = command + Arguments{flag, value};
      expect_error(all, flag + ": must be ");
      expect_error(all, "got '");
    }
  }
}

TEST(Numbers, HaveBase10WhateverTheyBeginWith) {
  const auto text = [](const Arguments& more) {
    return spectr(generate() + Arguments{"-p", "Once", "-n", "8", "--method", "plain", "--json"} + more);
  };
  const Json ten = Json::parse(text({"--seed", "10"}).out), padded = Json::parse(text({"--seed", "010"}).out);
  EXPECT_EQ(padded["seed"], 10);
  EXPECT_EQ(padded["tokens"], ten["tokens"]);
  EXPECT_EQ(text({"--seed", "08"}).status, 0);
}

TEST(Numbers, GivenTwiceCountAsTheLast) {
  const auto text = [](const Arguments& more) {
    const Outcome ran = spectr(generate() + Arguments{"-p", "Once", "--seed", "1", "--json"} + more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return Json::parse(ran.out);
  };
  EXPECT_EQ(text({"--method", "plain", "-n", "4", "-n", "5"})["tokens"].size(), 5u);
  const Json tree = text({"-n", "8", "--tree", "4,4,4", "--tree", "2,1"});
  EXPECT_EQ(tree["stats"]["length"], 2);
}

}  // namespace
}  // namespace spectr::test

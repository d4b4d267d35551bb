// llama.cpp's flags for RoPE.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

std::string logits(const Arguments& flags) {
  const Outcome ran =
      spectr(Arguments{"logits", "-m", target(), "--tokens", "1,403,407,261,300,411,17"} + flags);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

TEST(RopeFlags, ChangeHowPositionsTurn) {
  const std::string plain = logits({});
  EXPECT_NE(logits({"--rope-freq-base", "500"}), plain);
  EXPECT_EQ(logits({"--rope-freq-base", "10000"}), plain);
  EXPECT_NE(logits({"--rope-scale", "2"}), plain);
  EXPECT_EQ(logits({"--rope-scale", "2"}), logits({"--rope-freq-scale", "0.5"}));
  EXPECT_EQ(logits({"--rope-scale", "2", "--rope-scaling", "none"}), plain);
  const std::string yarn = logits({"--rope-scale", "4", "--rope-scaling", "yarn", "--yarn-orig-ctx", "32"});
  EXPECT_NE(yarn, plain);
  EXPECT_NE(yarn, logits({"--rope-scale", "4"}));
}

TEST(RopeFlags, HaveVariables) {
  const Arguments command = {"logits", "-m", target(), "--tokens", "1,403,407,261,300,411,17"};
  EXPECT_EQ(spectr(command, {.variables = {{"LLAMA_ARG_ROPE_FREQ_BASE", "500"}}}).out,
            logits({"--rope-freq-base", "500"}));
}

TEST(RopeFlags, RefuseOtherValuesByName) {
  const Arguments command = {"logits", "-m", target(), "--tokens", "1,403"};
  expect_error(command + Arguments{"--rope-scaling", "dynamic"}, "--rope-scaling");
  expect_error(command + Arguments{"--rope-freq-base", "0"}, "--rope-freq-base: must be from 1 to");
  expect_error(command + Arguments{"--yarn-ext-factor", "nan"}, "--yarn-ext-factor");
  expect_error(command + Arguments{"--rope-scale", "2", "--rope-freq-scale", "0.5"}, "--rope-scale");
}

}  // namespace
}  // namespace spectr::test

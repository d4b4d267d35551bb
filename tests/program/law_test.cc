// `spectr law`: the exact distribution of a decoder on a pair of tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

using testing::UnorderedElementsAre;

/// Exactly one JSON object is on stdout.
Json json(const Arguments& arguments) {
  const Outcome ran = spectr(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return Json::parse(ran.out);
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

TEST(Law, LosslessMethodsHaveNoError) {
  for (const Arguments& method : {Arguments{"plain"},
                                  {"speculative"},
                                  {"spectr", "-K", "2", "--plan", "optimal"},
                                  {"batch", "-K", "2"},
                                  {"tree", "--tree", "2,1"},
                                  {"specinfer", "-K", "2", "--drafts", "2"},
                                  {"block"},
                                  {"traversal", "-K", "2"},
                                  {"ngram"}}) {
    const Json out = json(Arguments{"law", "--seed", "5", "--method"} + method);
    EXPECT_THAT(keys(out), UnorderedElementsAre("tv_error", "expected_target_calls", "expected_rejections",
                                                "block_efficiency"));
    EXPECT_LE(out["tv_error"].get<double>(), 1e-12) << method[0];
    EXPECT_NEAR(out["block_efficiency"].get<double>() * out["expected_target_calls"].get<double>(), 4.0,
                1e-12);
  }
  for (const char* method : {"mtad", "bild", "biased-opt", "biased-uno"}) {
    EXPECT_GT(
        json({"law", "--method", method, "--epsilon", "0.1", "--bild-fallback", "0.1", "--json"})["tv_error"]
            .get<double>(),
        1e-6)
        << method;
  }
}

TEST(Law, ShowsWhatTheOptionsOfJointDecodingDo) {
  const auto of = [](const Arguments& more) { return json(Arguments{"law", "--seed", "5"} + more); };
  const Arguments mtad = {"--method", "mtad", "--beams", "3", "-L", "2", "--tau", "0.5", "--top-p", "0.8"};
  const double usual = of(mtad)["tv_error"].get<double>();
  for (const Arguments& option : {Arguments{"--joint", "raw"}, {"--beam-warp", "joint"}, {"-K", "3"}}) {
    EXPECT_GT(std::abs(of(mtad + option)["tv_error"].get<double>() - usual), 1e-6) << option[0];
  }
  EXPECT_LE(of(mtad + Arguments{"--joint", "raw", "-K", "2", "--tau", "1"})["tv_error"].get<double>(), 1e-12);
  // One drawn beam of the target is plain decoding, however its tokens are parted into blocks.
  const Json blocks = of({"--method", "mtjd", "--beams", "1", "--gammas", "1,2"});
  EXPECT_LE(blocks["tv_error"].get<double>(), 1e-12);
  EXPECT_NEAR(blocks["expected_target_calls"].get<double>(), 4.0, 1e-12);
  // b below min(1, q/p): unbiased, more rejections.
  const Json fewer = of({"--method", "biased-opt", "--epsilon", "-0.1"}),
             exact = of({"--method", "speculative"});
  EXPECT_LE(fewer["tv_error"].get<double>(), 1e-12);
  EXPECT_GT(fewer["expected_rejections"].get<double>(), exact["expected_rejections"].get<double>());
}

}  // namespace
}  // namespace spectr::test

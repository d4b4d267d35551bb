// `spectr law`: the exact distribution of a decoder on a pair of tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// Returns stdout, which must be exactly one JSON object.
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
                                  {"conditional", "-K", "2", "--look"},
                                  {"conditional", "--tree", "2,1"},
                                  {"spectr", "-K", "2", "--trunk", "1"},
                                  {"univer", "-K", "2"},
                                  {"gbv", "-K", "2"},
                                  {"ngram"},
                                  {"suffix", "-L", "4"}}) {
    const Json out = json(Arguments{"law", "--seed", "5", "--method"} + method);
    EXPECT_THAT(keys(out), UnorderedElementsAre("tv_error", "expected_target_calls", "expected_rejections",
                                                "block_efficiency", "expected_tokens_per_block"));
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

TEST(Law, OfAGivenPairTellsTheTokensOfABlock) {
  const TemporaryFile pair(R"({"vocab": 2, "p": {"": [0.6, 0.4], "0": [0.9, 0.1], "1": [0.2, 0.8]},
                               "q": {"": [0.5, 0.5], "0": [0.5, 0.5], "1": [0.6, 0.4]}})");
  const auto tokens = [&](const Arguments& more) {
    const Json out = json(Arguments{"law", "--pair", pair.path(), "-L", "3"} + more);
    EXPECT_LE(out["tv_error"].get<double>(), 1e-12);
    return out["expected_tokens_per_block"].get<double>();
  };
  EXPECT_NEAR(tokens({"--method", "block"}), 2.841, 1e-9);
  EXPECT_NEAR(tokens({"--method", "spectr", "--plan", "k-seq", "-K", "2"}), 2.974810181, 1e-9);
  EXPECT_NEAR(tokens({"--method", "conditional", "-K", "2"}), 3.22022, 1e-9);
  EXPECT_NEAR(tokens({"--method", "conditional", "-K", "2", "--look"}), 3.22502, 1e-9);
  EXPECT_NEAR(tokens({"--method", "conditional", "-K", "2", "--trunk", "1"}), 3.0987, 1e-9);
  EXPECT_NEAR(tokens({"--method", "plain"}), 1.0, 1e-12);
  // Rows of whole prefixes: after 1, 0 the draft is certain of a token that the target excludes.
  const TemporaryFile deep(R"({"vocab": 2, "p": {"": [0, 1], "1": [1, 0], "1,0": [1, 0]},
                               "q": {"": [0, 1], "1": [1, 0], "1,0": [0, 1]}})");
  const Json out =
      json({"law", "--pair", deep.path(), "--method", "speculative", "-L", "3", "--horizon", "3"});
  EXPECT_NEAR(out["expected_tokens_per_block"].get<double>(), 3.0, 1e-12);
  EXPECT_NEAR(out["expected_rejections"].get<double>(), 1.0, 1e-12);
}

TEST(Law, DraftsAsABlockDrafterDoes) {
  for (const char* drafter : {"product", "markov"}) {
    for (const Arguments& method : {Arguments{"speculative"},
                                    {"spectr", "-K", "2", "--plan", "optimal"},
                                    {"specinfer", "-K", "2", "--drafts", "2"},
                                    {"conditional", "-K", "2"},
                                    {"auto"}}) {
      const Json out = json(Arguments{"law", "--seed", "5", "--drafter", drafter, "--method"} + method);
      EXPECT_LE(out["tv_error"].get<double>(), 1e-12) << drafter << " " << method[0];
    }
  }
  const TemporaryFile pair(R"({"vocab": 2, "p": {"": [0.75, 0.25], "0": [0, 1], "1,0": [1, 0]},
                               "q": {"": [0.25, 0.75]}})");
  const auto tokens = [&](const char* drafter) {
    return json({"law", "--pair", pair.path(), "--method", "speculative", "-L", "2", "--drafter",
                 drafter})["expected_tokens_per_block"]
        .get<double>();
  };
  EXPECT_NEAR(tokens("product"), 1.75, 1e-12);  // 1 + ½ + ½ · ½
  // After 0 the draft is 1, accepted with ¾; after 1 it is drawn from the row of the empty prefix.
  EXPECT_NEAR(tokens("markov"), 1.0 + 0.25 * (1.0 + 0.75) + 0.25 * (1.0 + 0.5), 1e-12);
}

TEST(Law, OfADrafterThatIsNotUsedIsRefused) {
  EXPECT_THAT(spectr({"law", "--method", "plain", "--drafter", "product"}).err,
              HasSubstr("--drafter: method plain has no draft model"));
  EXPECT_THAT(spectr({"law", "--method", "auto", "--drafts", "0", "--drafter", "markov"}).err,
              HasSubstr("--drafter: method auto has no draft model here (--drafts 0)"));
  EXPECT_THAT(spectr({"law", "--method", "block", "--drafter", "chain"}).err,
              HasSubstr("--drafter: chain not in {product,markov}"));
}

TEST(Law, DoesNotTellTheTokensOfABlockThatHasTooManyOutcomes) {
  const Json out = json({"law", "--method", "block", "-L", "20"});
  EXPECT_TRUE(out["expected_tokens_per_block"].is_null());
}

TEST(Law, OfAPairThatIsNoneNamesTheRow) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "must be an object with vocab, p and q"},
      {R"({"vocab": 0, "p": {}, "q": {}})", "vocab must be an integer between 1 and 1000"},
      {R"({"vocab": 2, "q": {"": [1, 0]}})", "p must be an object of rows"},
      {R"({"vocab": 2, "p": {"0": [1, 0]}, "q": {"": [1, 0]}})", "p has no row for the empty prefix"},
      {R"({"vocab": 2, "p": {"": [1, 0], "0,2": [1, 0]}, "q": {"": [1, 0]}})",
       "p: '0,2' must be token ids below 2"},
      {R"({"vocab": 2, "p": {"": [1, 0], "0,": [1, 0]}, "q": {"": [1, 0]}})",
       "p: '0,' must be token ids below 2"},
      {R"({"vocab": 2, "p": {"": [1, 0]}, "q": {"": [1]}})", "q, row '': must be a list of 2 numbers"},
      {R"({"vocab": 2, "p": {"": [1, 0]}, "q": {"": [2, -1]}})",
       "q, row '': must be numbers of at least 0, got -1"},
      {R"({"vocab": 2, "p": {"": [1, 0]}, "q": {"": [0.5, 0.4]}})", "q, row '': must sum to 1, got 0.9"},
      {R"({"vocab": 2, "p": {"": [1, 0]}, "q": {"": [1, 0]}, "r": 1})", "has an unknown member 'r'"},
  };
  for (const auto& [text, message] : cases) {
    const TemporaryFile pair(text);
    const Outcome ran = spectr({"law", "--method", "block", "--pair", pair.path()});
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr(pair.path()));
    EXPECT_THAT(ran.err, HasSubstr(message));
  }
  EXPECT_EQ(spectr({"law", "--method", "block", "--pair", "/nowhere.json"}).status, 2);
}

TEST(Law, ShowsWhatTheOptionsOfJointDecodingDo) {
  const auto of = [](const Arguments& more) { return json(Arguments{"law", "--seed", "5"} + more); };
  const Arguments mtad = {"--method", "mtad", "--beams", "3", "-L", "2", "--tau", "0.5", "--top-p", "0.8"};
  const double usual = of(mtad)["tv_error"].get<double>();
  for (const Arguments& option : {Arguments{"--joint", "raw"}, {"--beam-warp", "joint"}, {"-K", "3"}}) {
    EXPECT_GT(std::abs(of(mtad + option)["tv_error"].get<double>() - usual), 1e-6) << option[0];
  }
  EXPECT_LE(of(mtad + Arguments{"--joint", "raw", "-K", "2", "--tau", "1"})["tv_error"].get<double>(), 1e-12);
  // One drawn beam of the target is plain decoding for any partition into blocks.
  const Json blocks = of({"--method", "mtjd", "--beams", "1", "--gammas", "1,2"});
  EXPECT_LE(blocks["tv_error"].get<double>(), 1e-12);
  EXPECT_NEAR(blocks["expected_target_calls"].get<double>(), 4.0, 1e-12);
  // If b is below min(1, q/p), there is no bias, and there are more rejections.
  const Json fewer = of({"--method", "biased-opt", "--epsilon", "-0.1"}),
             exact = of({"--method", "speculative"});
  EXPECT_LE(fewer["tv_error"].get<double>(), 1e-12);
  EXPECT_GT(fewer["expected_rejections"].get<double>(), exact["expected_rejections"].get<double>());
}

/// Returns {"b": …, "P": …} with equal rows for two tokens and two steps.
std::string rule_of(const std::string& b, const std::string& P, int rows = 4) {
  std::string all_b, all_P;
  for (int i = 0; i < rows; ++i) {
    all_b += (i > 0 ? ", " : "") + b;
    all_P += (i > 0 ? ", " : "") + P;
  }
  return "{\"b\": [" + all_b + "], \"P\": [" + all_P + "]}";
}

TEST(Law, TakesARuleForOneDraft) {
  const auto of = [](const std::string& rule) {
    const TemporaryFile file(rule);
    return json({"law", "--method", "biased", "--rule", file.path(), "--vocab", "2", "--horizon", "2"});
  };
  // All drafts are accepted: the text is the draft's, in one call.
  const Json all = of(rule_of("[1, 1]", "[0, 0]"));
  EXPECT_EQ(all["expected_rejections"], 0.0);
  EXPECT_NEAR(all["expected_target_calls"].get<double>(), 1.0, 1e-12);
  EXPECT_GT(all["tv_error"].get<double>(), 0.01);
  // No draft is accepted: every token is drawn from P.
  const Json none = of(rule_of("[0, 0]", "[0.5, 0.5]"));
  EXPECT_NEAR(none["expected_rejections"].get<double>(), 2.0, 1e-12);
  EXPECT_NEAR(none["expected_target_calls"].get<double>(), 2.0, 1e-12);
}

TEST(Law, NamesWhatIsWrongWithARule) {
  const auto why = [](const std::string& text) {
    const TemporaryFile file(text);
    const Outcome ran =
        spectr({"law", "--method", "biased", "--rule", file.path(), "--vocab", "2", "--horizon", "2"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(file.path()));
    return ran.err;
  };
  EXPECT_THAT(why(rule_of("[1, 1]", "[0.5, 0.5]", 3)), HasSubstr(": b must have 4 rows, got 3"));
  EXPECT_THAT(why(rule_of("[1, 1.5]", "[0.5, 0.5]")), HasSubstr("b, row 1: must be at most 1, got 1.5"));
  EXPECT_THAT(why(rule_of("[1, -1]", "[0.5, 0.5]")), HasSubstr("b, row 1: must be at least 0, got -1"));
  EXPECT_THAT(why(rule_of("[1, 0]", "[0.5, 0.4]")), HasSubstr("P, row 1: must sum to 1, got 0.9"));
  EXPECT_THAT(why(rule_of("[1, 0]", "[0, 0]")), HasSubstr("P, row 1: must sum to 1, got 0"));
  EXPECT_THAT(why(rule_of("[1]", "[0.5, 0.5]")), HasSubstr("b, row 1 must be a list of 2 numbers, got [1]"));
  EXPECT_THAT(why(rule_of("[1, \"x\"]", "[0.5, 0.5]")), HasSubstr("b, row 1: must be numbers, got \"x\""));
  EXPECT_THAT(why("{\"b\": []}"), HasSubstr("b must have 4 rows, got 0"));
  EXPECT_THAT(why("{\"a\": 1}"), HasSubstr("unknown member 'a'"));
  EXPECT_THAT(why("[1]"), HasSubstr("must be an object with b and P, got [1]"));
  EXPECT_THAT(why("{"), HasSubstr("is not JSON"));
  EXPECT_THAT(spectr({"law", "--method", "biased"}).err, HasSubstr("needs the file of a rule (--rule)"));
  EXPECT_THAT(spectr({"law", "--rule", "x"}).err, HasSubstr("--rule is that of method biased"));
  EXPECT_THAT(spectr({"law", "--method", "biased", "--rule", "/nowhere/rule.json"}).err,
              HasSubstr("/nowhere/rule.json: No such file"));
}

}  // namespace
}  // namespace spectr::test

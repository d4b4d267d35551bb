// llama.cpp's samplers in requests: their fields, their order, and their echo in answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

class SamplerFields : public WithServer<2> {
 protected:
  static TestJson answer(TestJson fields) {
    TestJson body = {{"prompt", "Once upon a time"}, {"n_predict", 24}, {"seed", 7}, {"ignore_eos", true}};
    body.update(fields);
    const auto reply = server().post("/completion", body);
    EXPECT_EQ(reply.status, 200) << body << '\n' << reply.body;
    return reply.json();
  }
  static TestJson settings(TestJson fields) {
    fields["n_predict"] = 1;
    return answer(std::move(fields))["generation_settings"];
  }
  static std::string refusal(TestJson fields) {
    fields.update({{"prompt", "a"}, {"n_predict", 1}});
    const auto reply = server().post("/completion", fields);
    EXPECT_EQ(reply.status, 400) << fields;
    return reply.json()["error"]["message"];
  }
};

TEST_F(SamplerFields, SwitchOffWhatTheListOfSamplersLeavesOut) {
  const TestJson three = settings({{"samplers", {"top_k", "top_p", "temperature"}}});
  EXPECT_EQ(three["min_p"], 0.0);
  EXPECT_EQ(three["top_p"], 0.95);
  EXPECT_EQ(three["top_k"], 40);
  EXPECT_EQ(three["samplers"], TestJson({"top_k", "top_p", "temperature"}));
  const TestJson letters = settings({{"samplers", "kt"}, {"min_p", 0.3}, {"repeat_penalty", 1.5}});
  EXPECT_EQ(letters["min_p"], 0.0);
  EXPECT_EQ(letters["top_p"], 1.0);
  EXPECT_EQ(letters["repeat_penalty"], 1.0);
  EXPECT_EQ(settings({{"samplers", {"top_k"}}, {"temperature", 0.5}})["temperature"], 1.0);
  EXPECT_EQ(settings({{"samplers", TestJson::array()}})["min_p"], 0.05) << "an empty list changes nothing";
}

TEST_F(SamplerFields, AreToldAsTheyWereGiven) {
  const TestJson given = {{"top_n_sigma", 1.5},
                          {"typical_p", 0.9},
                          {"xtc_probability", 0.5},
                          {"xtc_threshold", 0.2},
                          {"dynatemp_range", 0.3},
                          {"dynatemp_exponent", 0.7},
                          {"dry_multiplier", 0.8},
                          {"dry_base", 1.5},
                          {"dry_allowed_length", 3},
                          {"dry_penalty_last_n", 100},
                          {"dry_sequence_breakers", {"\n", "."}}};
  const TestJson told = settings(given);
  for (const auto& [name, value] : given.items()) EXPECT_EQ(told[name], value) << name;
  const TestJson mirostat = settings({{"mirostat", 2}, {"mirostat_tau", 3}, {"mirostat_eta", 0.2}});
  EXPECT_EQ(mirostat["mirostat"], 2);
  EXPECT_EQ(mirostat["mirostat_tau"], 3.0);
  EXPECT_EQ(mirostat["top_k"], 0) << "replaced";
  const TestJson defaults = server().get("/props").json()["default_generation_settings"]["params"];
  EXPECT_EQ(defaults["samplers"].size(), 9u);
  EXPECT_EQ(defaults["dry_sequence_breakers"], TestJson({"\n", ":", "\"", "*"}));
  EXPECT_EQ(defaults["top_n_sigma"], -1.0);
  EXPECT_EQ(settings({{"dry_base", 0.5}})["dry_base"], 1.75) << "less than 1 is the default";
}

TEST_F(SamplerFields, ChangeTheText) {
  const std::string text = answer(TestJson::object())["content"];
  const TestJson on[] = {{{"dry_multiplier", 5}, {"dry_allowed_length", 0}},
                         {{"xtc_probability", 1}, {"xtc_threshold", 0.02}},
                         {{"typical_p", 0.3}},
                         {{"top_n_sigma", 0.2}},
                         {{"dynatemp_range", 3}},
                         {{"mirostat", 1}},
                         {{"mirostat", 2}, {"mirostat_tau", 1}},
                         {{"adaptive_target", 0.1}, {"samplers", {"top_k", "adaptive_p"}}},
                         {{"samplers", {"temperature", "top_p"}}, {"temperature", 3}}};
  for (const TestJson& fields : on) EXPECT_NE(answer(fields)["content"], text) << fields;
  EXPECT_EQ(answer({{"samplers", "edskypmxt"}, {"mirostat", 0}})["content"], text);
}

// Greedy texts do not depend on the method, whatever was drafted; so feedback states are
// right at the start of every block.
TEST_F(SamplerFields, WorkWithEveryMethod) {
  const TestJson deterministic[] = {
      {{"dry_multiplier", 2}, {"dry_allowed_length", 1}, {"temperature", 0}},
      {{"xtc_probability", 1}, {"xtc_threshold", 0.05}, {"temperature", 0}},
      {{"typical_p", 0.2}, {"temperature", 0}},
      {{"mirostat", 2}, {"mirostat_tau", 0}, {"mirostat_eta", 0}},
  };
  for (TestJson fields : deterministic) {
    fields["speculative"] = {{"method", "plain"}};
    const TestJson plain = answer(fields);
    for (const char* method : {"speculative", "spectr", "block", "ngram", "auto"}) {
      fields["speculative"] = {{"method", method}};
      EXPECT_EQ(answer(fields)["content"], plain["content"]) << fields;
    }
  }
  for (const char* method : {"plain", "spectr", "traversal", "mtad", "auto"}) {
    answer({{"mirostat", 1}, {"speculative", {{"method", method}}}});
    answer({{"mirostat", 2}, {"speculative", {{"method", method}}}});
    answer({{"samplers", "kxa"},
            {"adaptive_target", 0.4},
            {"xtc_probability", 0.5},
            {"speculative", {{"method", method}}}});
  }
}

TEST_F(SamplerFields, AreTakenInAnyOrder) {
  const TestJson accepted[] = {
      {{"samplers", {"temperature", "top_p"}}, {"temperature", 0.5}},
      {{"samplers", {"top_k", "penalties"}}, {"repeat_penalty", 1.5}},
      {{"samplers", {"xtc", "min_p", "dry", "typ_p"}}, {"xtc_probability", 0.5}, {"dry_multiplier", 1}},
      {{"samplers", "txdsa"}, {"adaptive_target", 0.5}},
  };
  for (const TestJson& fields : accepted) answer(fields);
}

TEST_F(SamplerFields, ThatCannotBeServedAreNamed) {
  const std::pair<TestJson, const char*> cases[] = {
      {{{"samplers", {"top_k", "magic"}}}, "'samplers': there is no sampler 'magic'"},
      {{{"samplers", {"infill"}}}, "'samplers': there is no sampler 'infill'"},
      {{{"samplers", "tq"}}, "'samplers': 'tq' has a letter of no sampler"},
      {{{"samplers", {"top_k", "top-k"}}}, "'samplers': sampler top_k is named twice"},
      {{{"samplers", 1}}, "'samplers' must be a list of strings, got 1"},
      {{{"samplers", TestJson::array({TestJson::array()})}}, "'samplers' must be a list of strings"},
      {{{"adaptive_target", 0.5}}, "'adaptive_target' needs \"adaptive_p\" among 'samplers'"},
      {{{"dry_sequence_breakers", {1}}}, "'dry_sequence_breakers' must be a list of strings, got [1]"},
      {{{"dry_multiplier", 1}, {"dry_sequence_breakers", {std::string(41, 'x')}}}, "dry_sequence_breakers"},
      {{{"dry_allowed_length", -1}}, "'dry_allowed_length'"},
      {{{"xtc_threshold", 2}}, "'xtc_threshold'"},
      {{{"mirostat", 3}}, "'mirostat'"},
  };
  for (const auto& [fields, expected] : cases) EXPECT_THAT(refusal(fields), HasSubstr(expected)) << fields;
}

}  // namespace
}  // namespace spectr::server

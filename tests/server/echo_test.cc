// Prompts that /v1/completions echoes with their log-probabilities.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

class EchoedPrompts : public WithServer<2> {
 protected:
  static TestJson echo(TestJson fields) {
    TestJson body = {{"prompt", "Once upon a time"}, {"max_tokens", 4}, {"temperature", 0}, {"echo", true}};
    body.update(fields);
    const auto reply = server().post("/v1/completions", body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  }
  static TestJson choice(const TestJson& fields) { return echo(fields)["choices"][0]; }
  static std::vector<int> ids_of(const std::string& text) {
    return server().post("/tokenize", TestJson{{"content", text}}).json()["tokens"];
  }
};

TEST_F(EchoedPrompts, ComeBeforeTheText) {
  const std::string text = choice({{"echo", false}})["text"];
  EXPECT_EQ(choice(TestJson::object())["text"], "Once upon a time" + text);
  EXPECT_EQ(choice({{"max_tokens", 0}})["text"], "Once upon a time");
  EXPECT_TRUE(choice(TestJson::object())["logprobs"].is_null());
  const TestJson two = echo({{"prompt", {"Once", "The dog"}}, {"n", 2}});
  EXPECT_THAT(two["choices"][1]["text"].get<std::string>(), testing::StartsWith("Once"));
  EXPECT_THAT(two["choices"][2]["text"].get<std::string>(), testing::StartsWith("The dog"));
}

TEST_F(EchoedPrompts, HaveALogProbabilityForEveryTokenButTheFirst) {
  const TestJson told = choice({{"logprobs", 2}}), list = told["logprobs"];
  const std::size_t prompt = ids_of("Once upon a time").size() + 1;  // including <s>
  for (const char* name : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
    ASSERT_EQ(list[name].size(), prompt + 4) << name;
  EXPECT_EQ(list["tokens"][0], "<s>");
  EXPECT_TRUE(list["token_logprobs"][0].is_null());
  EXPECT_TRUE(list["top_logprobs"][0].is_null());
  for (std::size_t i = 1; i < prompt + 4; ++i) {
    EXPECT_LT(list["token_logprobs"][i], 0.0);
    EXPECT_GE(list["top_logprobs"][i].size(), 2u);
  }
  // In ASCII, one byte is one character. The space that the tokenizer inserts is not part of the text.
  const std::string text = told["text"];
  for (std::size_t i = 2; i < prompt + 4; ++i) {
    const std::string token = list["tokens"][i];
    EXPECT_EQ(text.substr(list["text_offset"][i].get<std::size_t>(), token.size()), token) << i;
  }
}

TEST_F(EchoedPrompts, HaveTheLogProbabilitiesThatTheirTokensHadAsText) {
  TestJson text = choice({{"echo", false}, {"logprobs", 3}, {"max_tokens", 12}})["logprobs"];
  std::vector<int> ids = ids_of("Once upon a time");
  ids.insert(ids.begin(), 1);
  const std::size_t prompt = ids.size();
  const TestJson again = echo({{"echo", false}, {"max_tokens", 12}, {"return_tokens", true}});
  for (const TestJson& id : again["choices"][0]["tokens"]) ids.push_back(id);
  const TestJson echoed = choice({{"prompt", ids}, {"logprobs", 3}, {"max_tokens", 0}})["logprobs"];
  ASSERT_EQ(echoed["tokens"].size(), prompt + 12);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(echoed["token_logprobs"][prompt + i], text["token_logprobs"][i]) << i;
    EXPECT_EQ(echoed["top_logprobs"][prompt + i], text["top_logprobs"][i]) << i;
  }
}

// Requests like those of lm-eval's local-completions model: context and continuation as ids, one more token,
// and whether each token is the likeliest.
TEST_F(EchoedPrompts, RateContinuationsAsEvaluationsWantThem) {
  const std::size_t context = ids_of("Once upon a time").size() + 1;
  std::vector<int> greedy = ids_of("Once upon a time"), other = greedy;
  const TestJson told = choice({{"echo", false}, {"return_tokens", true}});
  for (const TestJson& id : told["tokens"]) greedy.push_back(id);
  for (const int id : ids_of(" the elephant sang")) other.push_back(id);
  for (std::vector<int>* ids : {&greedy, &other}) ids->insert(ids->begin(), 1);
  const TestJson answer =
      echo({{"prompt", {greedy, other}}, {"max_tokens", 1}, {"logprobs", 1}, {"seed", 1234}});
  double sums[2] = {};
  bool are_greedy[2] = {true, true};
  for (std::size_t i = 0; i < 2; ++i) {
    const TestJson& list = answer["choices"][i]["logprobs"];
    for (std::size_t at = context; at + 1 < list["tokens"].size(); ++at) {
      sums[i] += list["token_logprobs"][at].get<double>();
      double best = -1e9;
      for (const TestJson& value : list["top_logprobs"][at]) best = std::max(best, value.get<double>());
      are_greedy[i] = are_greedy[i] && list["token_logprobs"][at] == best;
    }
  }
  EXPECT_TRUE(are_greedy[0]);
  EXPECT_FALSE(are_greedy[1]);
  EXPECT_GT(sums[0], sums[1]);
}

TEST_F(EchoedPrompts, AreStreamedOnce) {
  for (const TestJson& fields :
       {TestJson{{"logprobs", 1}}, TestJson{{"logprobs", 1}, {"max_tokens", 0}}, TestJson::object(),
        TestJson{{"max_tokens", 0}}, TestJson{{"prompt", {1}}, {"logprobs", 0}, {"max_tokens", 0}},
        TestJson{{"logprobs", 1}, {"return_progress", true}}}) {
    TestJson body = {{"prompt", "Once upon a time"}, {"max_tokens", 4}, {"temperature", 0}, {"echo", true}};
    body.update(fields);
    const TestJson whole = choice(body);
    body["stream"] = true;
    for (const char* path : {"/v1/completions", "/completions"}) {
      std::string text;
      TestJson list = {{"tokens", TestJson::array()}, {"token_logprobs", TestJson::array()}};
      for (const std::string& event : server().post(path, body).events()) {
        if (event == "[DONE]") continue;
        const TestJson part = TestJson::parse(event)["choices"][0];
        text += part["text"];
        if (part["logprobs"].is_null()) continue;
        for (const char* name : {"tokens", "token_logprobs"}) {
          for (const TestJson& one : part["logprobs"][name]) list[name].push_back(one);
        }
      }
      EXPECT_EQ(TestJson(text), whole["text"]) << body;
      if (!body.contains("logprobs")) continue;
      for (const char* name : {"tokens", "token_logprobs"})
        EXPECT_EQ(list[name], whole["logprobs"][name]) << body;
    }
  }
}

TEST_F(EchoedPrompts, AreRefusedWhereTheyMeanNothing) {
  const std::pair<TestJson, const char*> cases[] = {
      {{{"post_sampling_probs", true}, {"logprobs", 1}},
       "'echo' and 'post_sampling_probs' exclude each other"},
      {{{"suffix", "a"}}, "'echo' and 'suffix' exclude each other"},
      {{{"echo", 1}}, "'echo' must be true or false"},
  };
  for (const auto& [fields, expected] : cases) {
    TestJson body = {{"prompt", "a"}, {"echo", true}};
    body.update(fields);
    const auto reply = server().post("/v1/completions", body);
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(reply.body, HasSubstr(expected));
  }
  const auto native = server().post("/completion", TestJson{{"prompt", "a"}, {"echo", true}});
  EXPECT_THAT(native.body, HasSubstr("'echo' is not supported"));
}

}  // namespace
}  // namespace spectr::server

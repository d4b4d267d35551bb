// Fields and paths that clients of llama.cpp's server rely on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "spectr/base/utf8.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;
using testing::Not;

class LlamaFields : public WithServer<2> {
 protected:
  static TestJson complete(TestJson fields) {
    TestJson body = {{"prompt", "Once upon a time"}, {"n_predict", 4}, {"seed", 7}, {"temperature", 1}};
    body.update(fields);
    const auto reply = server().post("/completion", body);
    EXPECT_EQ(reply.status, 200) << body << '\n' << reply.body;
    return reply.json();
  }
  static TestJson settings(const TestJson& fields) { return complete(fields)["generation_settings"]; }
  static std::vector<int> tokens_of(const std::string& text) {
    return server().post("/tokenize", TestJson{{"content", text}}).json()["tokens"];
  }
  static std::vector<TestJson> stream(const std::string& path, TestJson body) {
    body["stream"] = true;
    std::vector<TestJson> events;
    for (const std::string& event : server().post(path, body).events()) {
      if (event != "[DONE]") events.push_back(TestJson::parse(event));
    }
    return events;
  }
  /// Returns the prompt_progress of events, which must precede all text.
  static std::vector<TestJson> progress_of(const std::vector<TestJson>& events) {
    std::vector<TestJson> all;
    bool writes = false;
    for (const TestJson& event : events) {
      if (event.contains("prompt_progress")) all.push_back(event["prompt_progress"]);
      EXPECT_FALSE(writes && event.contains("prompt_progress"));
      writes = writes || event.value("content", "") != "";
    }
    return all;
  }
};

TEST_F(LlamaFields, TellHowFarAPromptHasBeenRead) {
  std::vector<int> prompt;
  for (int i = 0; i < 140; ++i) prompt.push_back(300 + i);
  const TestJson body = {
      {"prompt", prompt}, {"n_predict", 2}, {"ignore_eos", true}, {"return_progress", true}};
  const std::vector<TestJson> first = progress_of(stream("/completion", body));
  ASSERT_GE(first.size(), 3u) << "at the beginning, after a piece, and at the end";
  int before = -1;
  for (const TestJson& one : first) {
    EXPECT_EQ(one["total"], 140);
    EXPECT_EQ(one["cache"], 0);
    EXPECT_GT(one["processed"], before);
    EXPECT_GE(one["time_ms"], 0);
    before = one["processed"];
  }
  EXPECT_EQ(first.front()["processed"], 0);
  EXPECT_EQ(first.back()["processed"], 140);

  const std::vector<TestJson> again = progress_of(stream("/completion", body));
  ASSERT_FALSE(again.empty());
  EXPECT_EQ(again.front()["cache"], 139) << "all but the last is remembered";
  EXPECT_EQ(again.back()["processed"], 140);

  TestJson quiet = body;
  quiet["return_progress"] = false;
  EXPECT_TRUE(progress_of(stream("/completion", quiet)).empty());
}

TEST_F(LlamaFields, TellTheProgressOfChatsInTheirEvents) {
  std::string words;
  for (int i = 0; i < 30; ++i) words += " The dog ran home.";
  const TestJson body = {{"messages", {{{"role", "user"}, {"content", words.substr(0, 350)}}}},
                         {"max_tokens", 2},
                         {"n", 2},
                         {"return_progress", true}};
  const std::vector<TestJson> events = stream("/v1/chat/completions", body);
  int told = 0;
  for (const TestJson& event : events) {
    if (!event.contains("prompt_progress")) continue;
    ++told;
    EXPECT_EQ(event["object"], "chat.completion.chunk");
    EXPECT_TRUE(event["choices"][0]["finish_reason"].is_null());
    EXPECT_LE(event["prompt_progress"]["processed"], event["prompt_progress"]["total"]);
  }
  EXPECT_GE(told, 4) << "two for each choice";
}

TEST_F(LlamaFields, BeginAChatsStreamWithTheRole) {
  const TestJson body = {{"messages", {{{"role", "user"}, {"content", "Once"}}}},
                         {"max_tokens", 3},
                         {"n", 2},
                         {"ignore_eos", true}};
  const std::vector<TestJson> events = stream("/v1/chat/completions", body);
  ASSERT_GT(events.size(), 4u);
  for (std::size_t choice = 0; choice < 2; ++choice) {
    EXPECT_EQ(events[choice]["choices"][0]["index"], choice);
    EXPECT_EQ(events[choice]["choices"][0]["delta"], TestJson({{"role", "assistant"}, {"content", ""}}));
  }
  for (std::size_t i = 2; i < events.size(); ++i)
    EXPECT_FALSE(events[i]["choices"][0]["delta"].contains("role")) << "once is enough";
  for (const TestJson& event : stream("/v1/completions", {{"prompt", "Once"}, {"max_tokens", 2}}))
    EXPECT_FALSE(event["choices"][0].contains("delta"));
}

TEST_F(LlamaFields, CountTheTokensOfAChat) {
  const TestJson body = {
      {"messages",
       {{{"role", "system"}, {"content", "Be brief."}}, {{"role", "user"}, {"content", "Hello"}}}},
      {"model", "any"},
      {"max_tokens", 1},
      {"temperature", 0.5}};
  const TestJson usage = server().post("/v1/chat/completions", body).json()["usage"];
  for (const char* path : {"/v1/chat/completions/input_tokens", "/chat/completions/input_tokens"}) {
    const auto reply = server().post(path, body);
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.json()["input_tokens"], usage["prompt_tokens"]);
  }
  EXPECT_EQ(server().post("/chat/completions/input_tokens", TestJson{{"messages", "x"}}).status, 400);
  EXPECT_EQ(server().get("/chat/completions/input_tokens").status, 405);
}

TEST_F(LlamaFields, BiasEveryTokenOfAWord) {
  const std::vector<int> word = tokens_of("elephantine");
  ASSERT_GT(word.size(), 1u);
  const TestJson of_list = settings({{"logit_bias", {{"elephantine", -2.5}, {7, false}}}})["logit_bias"];
  TestJson expected = TestJson::array();
  for (const int token : word) expected.push_back({token, -2.5});
  expected.push_back({7, false});
  EXPECT_EQ(of_list, expected);

  const TestJson of_object = settings({{"logit_bias", {{"elephantine", false}}}})["logit_bias"];
  ASSERT_EQ(of_object.size(), word.size());
  for (const TestJson& one : of_object) EXPECT_EQ(one[1], false);
  const TestJson digit = settings({{"logit_bias", {{"7", 1}}}})["logit_bias"];
  EXPECT_EQ(digit, TestJson::array({TestJson::array({7, 1.0})})) << "a key of digits is an id";
  const TestJson text = settings({{"logit_bias", TestJson::array({{"7", 1}})}})["logit_bias"];
  EXPECT_EQ(text.size(), tokens_of("7").size());
  EXPECT_EQ(text.back()[0], tokens_of("7").back()) << "but a text of digits in a list is a text";

  const std::string free = complete({{"temperature", 0}})["content"];
  const TestJson barred = TestJson::array({{free, false}});
  EXPECT_NE(complete({{"temperature", 0}, {"logit_bias", barred}})["content"], free);
}

TEST_F(LlamaFields, NameABiasThatIsForNoToken) {
  const std::pair<TestJson, const char*> cases[] = {
      {{{"4096", 1}}, "got 4096"},
      {{{"99999999999999999999", 1}}, "token ids below 4096"},
      {TestJson::array({{"", 1}}), "'logit_bias' has no token for \"\""},
      {TestJson::array({{1.5, 1}}), "got 1.5"},
      {{{"dog", true}}, "got true"},
      {TestJson::array({"dog"}), "pairs [id or text, bias]"},
  };
  for (const auto& [bias, expected] : cases) {
    const auto reply = server().post("/completion", TestJson{{"prompt", "a"}, {"logit_bias", bias}});
    EXPECT_EQ(reply.status, 400) << bias;
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr(expected));
  }
}

TEST_F(LlamaFields, ReadPromptsThatMixTextAndTokens) {
  const std::vector<int> once = server()
                                    .post("/tokenize", TestJson{{"content", "Once"}, {"add_special", true}})
                                    .json()["tokens"],
                         time = tokens_of("time");
  const auto prompt = [](const TestJson& prompt) {
    return complete({{"prompt", prompt}, {"n_predict", 1}})["prompt"].get<std::string>();
  };
  std::vector<int> all = once;
  all.push_back(300);
  all.insert(all.end(), time.begin(), time.end());
  EXPECT_EQ(prompt({"Once", 300, "time"}), prompt(all));
  EXPECT_EQ(prompt({300, "time"}).find("<s>"), std::string::npos) << "only a text at the beginning has one";

  const TestJson several =
      complete({{"prompt", {"Once", {300, 301}, {300, "time"}, {"Once", "time"}}}, {"n_predict", 1}});
  ASSERT_EQ(several.size(), 4u);
  EXPECT_EQ(several[0]["tokens_evaluated"], once.size());
  EXPECT_EQ(several[1]["tokens_evaluated"], 2);
  EXPECT_EQ(several[2]["tokens_evaluated"], 1 + time.size());
  EXPECT_EQ(several[3]["tokens_evaluated"], once.size() + time.size());
  for (const char* wrong : {R"([1, null])", R"([1, [2]])", R"(["a", {}])", R"(["a", []])", R"([[1.5]])"}) {
    const auto reply = server().post("/completion", R"({"prompt": )" + std::string(wrong) + "}");
    EXPECT_EQ(reply.status, 400) << wrong;
  }
}

TEST_F(LlamaFields, TellTheProbabilitiesThatWereSampled) {
  const TestJson fields = {{"n_probs", 10}, {"post_sampling_probs", true}, {"top_k", 5},    {"top_p", 1},
                           {"min_p", 0},    {"ignore_eos", true},          {"n_predict", 8}};
  for (const char* method : {"plain", "spectr"}) {
    TestJson body = fields;
    body["speculative"] = {{"method", method}};
    const TestJson told = complete(body)["completion_probabilities"];
    ASSERT_EQ(told.size(), 8u);
    for (const TestJson& token : told) {
      EXPECT_FALSE(token.contains("logprob"));
      ASSERT_EQ(token["top_probs"].size(), 5u) << "of as many as top_k leaves";
      double sum = 0.0;
      bool has_token = false;
      for (const TestJson& other : token["top_probs"]) {
        sum += other["prob"].get<double>();
        has_token = has_token || (other["id"] == token["id"] && other["prob"] == token["prob"]);
      }
      EXPECT_NEAR(sum, 1.0, 1e-6);
      EXPECT_TRUE(has_token) << token;
    }
  }
  TestJson chat = fields;
  chat.erase("n_probs");
  chat.update(
      {{"messages", {{{"role", "user"}, {"content", "Once"}}}}, {"logprobs", true}, {"top_logprobs", 5}});
  const TestJson content =
      server().post("/v1/chat/completions", chat).json()["choices"][0]["logprobs"]["content"];
  ASSERT_FALSE(content.empty());
  EXPECT_TRUE(content[0].contains("prob") && content[0].contains("top_probs")) << content[0];
  EXPECT_TRUE(complete({{"n_probs", 2}})["completion_probabilities"][0].contains("top_logprobs"));
}

TEST_F(LlamaFields, TakeHugeCountsForNoLimit) {
  const std::string huge[] = {"2147483647",          "2147483648",           "4294967295",
                              "9223372036854775807", "18446744073709551615", "1e30"};
  for (const std::string& count : huge) {
    for (const char* name : {"max_tokens", "max_completion_tokens", "n_predict"}) {
      const auto reply = server().post("/completion", R"({"prompt": "Once", "ignore_eos": true, ")" +
                                                          std::string(name) + "\": " + count + "}");
      ASSERT_EQ(reply.status, 200) << name << ' ' << count << reply.body;
      EXPECT_EQ(reply.json()["truncated"], true) << "the context ended it";
    }
    const auto reply = server().post("/completion", R"({"prompt": "Once", "n_predict": 1, "top_k": )" +
                                                        count + R"(, "repeat_last_n": )" + count + "}");
    ASSERT_EQ(reply.status, 200) << count << reply.body;
    EXPECT_EQ(reply.json()["generation_settings"]["top_k"], 0) << "off";
  }
}

TEST_F(LlamaFields, TakeTheWholeRangeThatSwitchesASamplerOff) {
  const TestJson off[] = {
      {{"adaptive_target", -0.01}},
      {{"adaptive_target", -1}},
      {{"dry_multiplier", -1}},
      {{"xtc_probability", -0.5}},
      {{"dynatemp_range", -0.1}},
      {{"typical_p", 1.5}},
      {{"typ_p", 2}},
      {{"tfs_z", 1.01}},
      {{"top_n_sigma", -0.5}},
      {{"min_keep", -1}},
      {{"id_slot", -5}},
      {{"id_slot", 0}},
      {{"slot_id", -2}},
      {{"t_max_predict_ms", -7}},
      {{"t_max_prompt_ms", -0.5}},
      {{"n_cache_reuse", -1}},
      {{"n_keep", -2}},
      {{"n_discard", -1}},
      {{"n_indent", -1}},
      {{"top_k", -40}},
      {{"top_k", -1e300}},
      {{"top_p", 1.5}},
      {{"min_p", -0.1}},
      {{"n_predict", -2}},
      {{"n_predict", -2}, {"max_tokens", -1}, {"stop", {" "}}},
      {{"min_tokens", -1}},
      {{"thinking_budget_tokens", -2}},
      {{"lora", TestJson::array({{{"id", 0}, {"scale", 0.0}}})}},
      {{"xtc_probability", 0.5}, {"xtc_threshold", 0.6}},
      {{"dry_multiplier", 0.8}, {"dry_penalty_last_n", 0}},
      {{"length_penalty", 1.3}, {"use_beam_search", false}},
  };
  for (const TestJson& fields : off) complete(fields);
  const TestJson on[] = {
      {{"adaptive_target", 0}},
      {{"adaptive_target", 0.3}},
      {{"n_indent", "x"}},
      {{"min_p", 1.1}},
      {{"top_p", -0.1}},
      {{"adaptive_target", "x"}},
      {{"lora", TestJson::array({{{"id", 0}, {"scale", 0.5}}})}},
  };
  for (TestJson fields : on) {
    fields.update({{"prompt", "a"}});
    EXPECT_EQ(server().post("/completion", fields).status, 400) << fields;
  }
}

TEST_F(LlamaFields, SayWhatIsWrongInWholeCharacters) {
  std::string accents;
  for (int i = 0; i < 60; ++i) accents += "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
  for (std::size_t cut = 0; cut < 12; ++cut) {
    const std::string text = std::string(cut, 'x') + accents;
    const TestJson bodies[] = {{{"prompt", "a"}, {"temperature", text}},
                               {{"prompt", "a"}, {"stop", {{text, 1}}}},
                               {{"prompt", "a"}, {"speculative", {{"method", text}}}},
                               {{"prompt", "a"}, {"reasoning_format", text}},
                               {{"prompt", "a"}, {"samplers", {text}}}};
    for (const TestJson& body : bodies) {
      const auto reply = server().post("/completion", body);
      EXPECT_EQ(reply.status, 400);
      EXPECT_THAT(reply.body, HasSubstr("\xc3\xa4"));
      EXPECT_THAT(reply.body, Not(HasSubstr("\xef\xbf\xbd"))) << "nothing had to be replaced";
      EXPECT_THAT(reply.body, Not(HasSubstr("\\x")));
    }
    std::string path = "/";
    for (const unsigned char byte : text) path += fmt::format("%{:02x}", byte);
    const auto missing = server().ask("GET", path);
    EXPECT_EQ(missing.status, 404);
    EXPECT_THAT(missing.body, Not(HasSubstr("\xef\xbf\xbd")));
  }
  const auto broken = server().post("/completion", std::string("{\"prompt\": \xc3\xa4}"));
  EXPECT_THAT(broken.body, HasSubstr("the body is not JSON (byte 12)"));
  EXPECT_THAT(broken.body, Not(HasSubstr("xc3"))) << "half a character";
}

TEST_F(LlamaFields, CountUnderLlamaCppsNamesToo) {
  complete({{"n_predict", 3}});
  const std::string text = server().get("/metrics").body;
  for (const char* name :
       {"prompt_tokens_total", "prompt_seconds_total", "tokens_predicted_total",
        "tokens_predicted_seconds_total", "prompt_tokens_seconds", "predicted_tokens_seconds",
        "n_decode_total", "n_busy_slots_per_decode", "n_tokens_max", "requests_processing",
        "requests_deferred", "spec_decode_num_drafts_total"}) {
    const std::string line = "\nllamacpp:" + std::string(name) + " ";
    const std::size_t at = text.find(line);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_EQ(std::stod(text.substr(at + line.size())), server().metric(name)) << name;
  }
  EXPECT_THAT(text, HasSubstr("# TYPE llamacpp:prompt_tokens_total counter\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nspectr_build_info\\{version=\"[0-9.]+\",commit=\"[0-9a-f]*\","
                                           "build=\"[0-9a-f]{16}\",compiler=\"[^\"]+\"\\} 1\n"));
}

}  // namespace
}  // namespace spectr::server

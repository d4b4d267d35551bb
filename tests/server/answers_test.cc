// Fields of answers other than the text, which clients of both APIs use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

class Answers : public WithServer<4> {
 protected:
  static TestJson post(const char* path, const TestJson& fields = TestJson::object()) {
    TestJson body = {{"prompt", "Once upon a time"}, {"max_tokens", 4}, {"seed", 7}, {"temperature", 1}};
    body.update(fields);
    const auto reply = server().post(path, body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  }
};

TEST_F(Answers, OfStreamsWithUsageSayNullBeforeIt) {
  const auto events = [](const TestJson& fields) {
    TestJson body = {{"prompt", "Once"}, {"max_tokens", 3}, {"stream", true}};
    body.update(fields);
    return server().post("/v1/completions", body).events();
  };
  const auto with = events({{"stream_options", {{"include_usage", true}}}});
  ASSERT_GT(with.size(), 3u);
  for (std::size_t i = 0; i + 2 < with.size(); ++i) {
    const TestJson event = TestJson::parse(with[i]);
    EXPECT_TRUE(event.contains("usage") && event["usage"].is_null()) << with[i];
  }
  EXPECT_GT(TestJson::parse(with[with.size() - 2])["usage"]["total_tokens"], 3);
  EXPECT_FALSE(TestJson::parse(events(TestJson::object()).front()).contains("usage"));
}

TEST_F(Answers, OfTheNativeApiTellWhatItsClientsRead) {
  const TestJson told = post("/completion");
  EXPECT_EQ(told["prompt"], "<s>Once upon a time");
  EXPECT_EQ(told["has_new_line"], told["content"].get<std::string>().contains('\n'));
  EXPECT_FALSE(told["truncated"]);
  const TestJson cut =
      post("/completion", {{"n_predict", -1}, {"max_tokens", nullptr}, {"ignore_eos", true}});
  EXPECT_TRUE(cut["truncated"]) << "the context ended it";
  EXPECT_EQ(cut["stop_type"], "limit");
  EXPECT_EQ(cut["has_new_line"], cut["content"].get<std::string>().contains('\n'));
}

TEST_F(Answers, AtThePathThatBothApisHaveTellWhatEitherWould) {
  const TestJson both = post("/completions", {{"n_probs", 2}}), openai = post("/v1/completions");
  EXPECT_EQ(both["choices"][0]["text"], openai["choices"][0]["text"]);
  EXPECT_EQ(both["content"], both["choices"][0]["text"]);
  EXPECT_EQ(both["tokens_predicted"], 4);
  EXPECT_EQ(both["usage"]["completion_tokens"], 4);
  EXPECT_EQ(both["stop_type"], "limit");
  EXPECT_EQ(both["completion_probabilities"].size(), 4u);
  EXPECT_FALSE(openai.contains("content"));
  TestJson body = {{"prompt", "Once"}, {"max_tokens", 2}, {"stream", true}};
  for (const std::string& event : server().post("/completions", body).events()) {
    if (event == "[DONE]") continue;
    EXPECT_TRUE(TestJson::parse(event).contains("content")) << event;
    EXPECT_TRUE(TestJson::parse(event).contains("choices")) << event;
  }
}

TEST_F(Answers, NameTheSampledTokenAmongTheAlternatives) {
  for (const int count : {0, 1, 3}) {
    const TestJson told = post("/v1/completions", {{"logprobs", count},
                                                   {"temperature", 1.5},
                                                   {"top_k", 0},
                                                   {"top_p", 1},
                                                   {"min_p", 0},
                                                   {"max_tokens", 30},
                                                   {"seed", 11}})["choices"][0]["logprobs"];
    for (std::size_t i = 0; i < told["tokens"].size(); ++i) {
      const TestJson& top = told["top_logprobs"][i];
      EXPECT_TRUE(top.contains(told["tokens"][i].get<std::string>())) << top;
      EXPECT_GE(top.size(), std::max(count, 1));
      EXPECT_LE(top.size(), count + 1);
    }
  }
}

TEST_F(Answers, LoseNoCandidateThatPrintsNothing) {
  // Control tokens print nothing, but they must not displace other candidates.
  const TestJson told = post("/v1/completions", {{"logprobs", 20}, {"max_tokens", 8}, {"ignore_eos", true}});
  for (const TestJson& top : told["choices"][0]["logprobs"]["top_logprobs"]) {
    EXPECT_GE(top.size(), 20u) << top;
    EXPECT_FALSE(top.contains("")) << top;
  }
}

TEST_F(Answers, OfTheServerTellItsModelsFileAndControlTokens) {
  const TestJson props = server().get("/props").json();
  EXPECT_THAT(props["model_path"].get<std::string>(), testing::EndsWith("spectr-stories-7m-q8_0.gguf"));
  EXPECT_EQ(props["bos_token"], "<s>");
  EXPECT_EQ(props["eos_token"], "</s>");
  EXPECT_EQ(props["modalities"]["vision"], false);
}

}  // namespace
}  // namespace spectr::server

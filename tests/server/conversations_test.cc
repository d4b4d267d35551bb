// What conversations may hold, and what they may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

class Conversations : public WithServer<1> {};

TEST_F(Conversations, ThatAreNoneAreRefused) {
  const char* cases[] = {
      R"({})",
      R"({"messages": []})",
      R"({"messages": ["hi"]})",
      R"({"messages": [{"role": "king", "content": "hi"}]})",
      R"({"messages": [{"role": "user"}]})",
      R"({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}]})",
      R"({"messages": [{"role": "user", "content": "hi"}], "top_logprobs": 3})",
      R"({"messages": [{"role": "user", "content": "hi"}], "prompt": "x"})",
  };
  for (const char* body : cases) {
    EXPECT_EQ(server().post("/v1/chat/completions", std::string(body)).status, 400) << body;
  }
}

TEST_F(Conversations, ACallOfAToolIsNamedThoughThereIsNoContent) {
  const auto reply = server().post("/v1/chat/completions", std::string(R"({"messages": [{"role": "assistant",
      "content": null, "tool_calls": [{"id": "1"}]}]})"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("'messages[0].tool_calls' is not supported"));
}

TEST_F(Conversations, SetNoVariablesThatTheServerSets) {
  for (const char* path : {"/v1/chat/completions", "/apply-template"}) {
    TestJson body = {{"messages", {{{"role", "user"}, {"content", "hi"}}}}};
    if (std::string_view(path) != "/apply-template") body["max_tokens"] = 1;
    body["chat_template_kwargs"] = {{"enable_thinking", false}};
    EXPECT_EQ(server().post(path, body).status, 200) << path;
    for (const char* name : {"messages", "add_generation_prompt", "bos_token", "eos_token"}) {
      body["chat_template_kwargs"] = {{name, false}};
      const auto reply = server().post(path, body);
      EXPECT_EQ(reply.status, 400) << path;
      EXPECT_THAT(reply.body, HasSubstr(std::string("'chat_template_kwargs.") + name + "' is not supported"));
    }
  }
}

TEST_F(Conversations, MayHoldWhatChangesNothing) {
  const char* cases[] = {
      R"({"messages": [{"role": "assistant", "content": "hi", "reasoning_content": "hm", "refusal": null,
                        "tool_calls": []}], "max_tokens": 1})",
      R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi",
                        "cache_control": {"type": "ephemeral"}}]}], "max_tokens": 1})",
      R"({"messages": [{"role": "user", "content": "hi"}], "logprobs": false, "top_logprobs": 0, "max_tokens": 1})",
  };
  for (const char* body : cases) {
    const auto reply = server().post("/v1/chat/completions", std::string(body));
    EXPECT_EQ(reply.status, 200) << body << '\n' << reply.body;
  }
}

TEST_F(Conversations, AreShownAsThePromptThatTheyBecomeWhateverElseAClientSends) {
  const TestJson messages = {{{"role", "user"}, {"content", "hi"}}};
  const auto shown = server().post("/apply-template", TestJson{{"messages", messages}});
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(shown.body, HasSubstr("hi"));
  const TestJson more = {{"messages", messages}, {"model", "any"}, {"add_generation_prompt", true}};
  EXPECT_EQ(server().post("/apply-template", more).body, shown.body);
}

}  // namespace
}  // namespace spectr::server

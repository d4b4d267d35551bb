// The server's options for chat templates: variables and reasoning.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

/// Returns the prompt for a message on a server with these options, by a template that opens reasoning like
/// some models' do. `begun` is the prefix of the answer that the model continues; null means none.
std::string prompt_of(ChatOptions chat, const TestJson& variables = TestJson::object(),
                      const TestJson& begun = nullptr) {
  chat.source =
      "{% for m in messages %}{{ m.content }}|{% endfor %}{{ mood | default('calm') }}|"
      "{{ enable_thinking | default('unset') }}|{% if add_generation_prompt %}<think>\n{% endif %}";
  ServerOptions options = TestServer::options(1);
  options.service.engine.models.chat = std::move(chat);
  const TestServer server(std::move(options));
  TestJson messages = {{{"role", "user"}, {"content", "hi"}}};
  if (!begun.is_null()) messages.push_back(begun);
  const TestJson body = {{"messages", messages}, {"chat_template_kwargs", variables}};
  return server.post("/apply-template", body).json()["prompt"];
}

ChatOptions thinking(bool on) {
  ChatOptions chat;
  chat.rendering.thinks = on;
  return chat;
}

TEST(Thoughts, ThatAreOffAreClosedAndTheTemplateIsTold) {
  EXPECT_EQ(prompt_of({}), "hi|calm|unset|<think>\n");
  EXPECT_EQ(prompt_of(thinking(false)), "hi|calm|False|<think>\n\n</think>\n\n");
  EXPECT_EQ(prompt_of(thinking(true)), "hi|calm|True|<think>\n");
}

TEST(Thoughts, ThatAreOffAreClosedAlsoWhereTheBegunAnswerIsEmpty) {
  EXPECT_EQ(prompt_of(thinking(false), TestJson::object(), {{"role", "assistant"}, {"content", ""}}),
            "hi|calm|False|<think>\n\n</think>\n\n");
}

TEST(Thoughts, AreAsTheRequestSaysWhereItDoes) {
  EXPECT_EQ(prompt_of(thinking(false), {{"enable_thinking", true}}), "hi|calm|True|<think>\n");
  EXPECT_EQ(prompt_of(thinking(true), {{"enable_thinking", false}}), "hi|calm|False|<think>\n");
}

TEST(TemplateVariables, OfTheServerHoldUnlessARequestSetsThem) {
  ChatOptions chat;
  chat.rendering.values.set("mood", "merry");
  EXPECT_EQ(prompt_of(chat), "hi|merry|unset|<think>\n");
  EXPECT_EQ(prompt_of(chat, {{"mood", "sad"}}), "hi|sad|unset|<think>\n");
}

}  // namespace
}  // namespace spectr::server

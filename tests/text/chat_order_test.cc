// Conversations whose order of messages a chat template refuses.
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "spectr/text/chat/chat_template.h"
#include "tests/support/tiny_vocabularies.h"
#include "tests/text/tool_templates.h"

namespace spectr {
namespace {

std::string rendered_messages(const std::string& source, std::vector<ChatMessage> messages) {
  const Vocabulary vocabulary = load_vocabulary(tiny_byte_level()).value();
  const ChatTemplate chat_template = ChatTemplate::make(source, vocabulary).value();
  return chat_template.render({.messages = std::move(messages)}).value().bytes();
}

TEST(MessageOrder, HasOneSystemMessageIfTheTemplateRefusesOrDropsLaterOnes) {
  const std::string refuses =
      "{% for m in messages %}"
      "{% if m.role == 'system' and not loop.first %}{{ raise_exception('too late') }}{% endif %}"
      "[{{ m.role }}]{{ m.content }}{% endfor %}";
  const std::string drops =
      "{% for m in messages %}{% if m.role != 'system' or loop.first %}"
      "[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}";
  for (const std::string& source : {refuses, drops}) {
    EXPECT_EQ(rendered_messages(source, {ChatMessage::of("system", "a"), ChatMessage::of("system", "b"),
                                         ChatMessage::of("user", "c"), ChatMessage::of("user", "d"),
                                         ChatMessage::of("system", "e"), ChatMessage::of("assistant", "f"),
                                         ChatMessage::of("system", "g")}),
              "[system]a\n\nb[user]c[user]d\n\ne[assistant]f[user]g");
  }
}

TEST(MessageOrder, TakesTurnsIfTheTemplateRequiresIt) {
  const std::string source =
      "{% for m in messages %}"
      "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('no turns') }}{% endif %}"
      "[{{ m.role }}]{{ m.content }}{% endfor %}";
  EXPECT_EQ(rendered_messages(source, {ChatMessage::of("system", "a"), ChatMessage::of("user", "b"),
                                       ChatMessage::of("user", "c"), ChatMessage::of("assistant", "d"),
                                       ChatMessage::of("user", "e")}),
            "[user]a\n\nb\n\nc[assistant]d[user]e");
}

TEST(MessageOrder, HasTextBeforeCallsInThoughtsIfTheTemplateRefusesBoth) {
  const std::string source =
      "{% for m in messages %}{% if m.reasoning_content %}"
      "{% if m.tool_calls and m.content %}{{ raise_exception('not both') }}{% endif %}"
      "({{ m.reasoning_content }}){% endif %}{% endfor %}";
  ChatMessage answer = ChatMessage::of("assistant", "I look.");
  answer.reasoning = "Hm.";
  const std::vector<ChatMessage> said = {ChatMessage::of("user", "When?"), answer};
  EXPECT_THAT(rendered_messages(source + tool_templates::hermes, said),
              testing::AllOf(testing::StartsWith("(Hm.)"), testing::HasSubstr("assistant\nI look.")));
  answer.calls = {{"call_17", "get_time", "{}"}};
  EXPECT_THAT(rendered_messages(source + tool_templates::hermes, {said.front(), answer}),
              testing::AllOf(testing::StartsWith("(Hm.\n\nI look.)"),
                             testing::HasSubstr("assistant\n\n<tool_call>")));
}

TEST(MessageOrder, StaysAsItIsIfTheTemplateRendersIt) {
  EXPECT_EQ(
      rendered_messages(
          tool_templates::hermes,
          {ChatMessage::of("system", "a"), ChatMessage::of("system", "b"), ChatMessage::of("user", "c"),
           ChatMessage::of("user", "d"), ChatMessage::of("system", "e")}),
      "<|im_start|>system\na<|im_end|>\n<|im_start|>system\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n"
      "<|im_start|>user\nd<|im_end|>\n<|im_start|>system\ne<|im_end|>\n<|im_start|>assistant\n");
}

}  // namespace
}  // namespace spectr

// The cases of llama.cpp's tests/test-chat.cpp: answers of each family and their messages, whole and in
// pieces.

#include "tests/support/chat_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/data.h"
#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

/// Cases whose messages differ, with the reason.
struct Difference {
  const char* template_name;
  std::vector<std::size_t> numbers;
  const char* reason;
};

constexpr const char* cut_off = "a call that is cut off is content";
constexpr const char* of_prompt = "marks in the prompt are no part of the answer";
constexpr const char* end_token = "an answer has no tokens that end its turn";
constexpr const char* fenced = "an answer that must be JSON is constrained to it and has no fence";
constexpr const char* other_recipient = "what is addressed to a tool that was not offered is content";
constexpr const char* continued =
    "thoughts of a begun answer without content go on, and need a template that has them";
constexpr const char* nested_object = "elements in a value that may be an object are an object, not a text";
constexpr const char* unsupported = "recipients without marks are not supported";

const Difference differences[] = {
    {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", {4}, cut_off},
    {"Cohere2MoE", {9}, cut_off},
    {"Kimi-K2-Thinking", {8}, cut_off},
    {"LFM2-8B-A1B", {14}, cut_off},
    {"LFM2.5-Instruct", {14}, cut_off},
    {"LFM2.5-8B-A1B", {14}, cut_off},
    {"Reka-Edge", {6, 18}, cut_off},
    {"Qwen3.5-4B", {1}, of_prompt},
    {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", {1}, of_prompt},
    {"Cohere2MoE", {1}, of_prompt},
    {"Apriel-1.6-15b-Thinker-fixed", {0, 1}, of_prompt},
    {"CohereForAI-c4ai-command-r-plus-tool_use", {0}, end_token},
    {"inclusionai-ling-3.0-flash", {8, 9}, end_token},
    {"mistralai-Ministral-3-14B-Reasoning-2512", {6}, fenced},
    {"meta-llama-Llama-3.1-8B-Instruct", {1}, fenced},
    {"openai-gpt-oss-120b", {12, 13}, other_recipient},
    {"inclusionai-ling-3.0-flash", {21}, continued},
    {"moonshotai-Kimi-K2", {3}, continued},
    {"MiniMax-M3", {17}, nested_object},
    {"meetkai-functionary-medium-v3.2", {0, 1}, unsupported},
};

/// A template that needs variables of the request and is therefore not supported.
constexpr const char* unsupported_template = "fireworks-ai-llama-3-firefunction-v2";

const char* reason_to_differ(const ChatCase& one) {
  for (const Difference& difference : differences) {
    if (difference.template_name == one.template_name &&
        std::ranges::count(difference.numbers, one.number) > 0)
      return difference.reason;
  }
  return nullptr;
}

TEST(ChatCases, AnswersAmountToTheExpectedMessages) {
  const auto forms = load_template_forms();
  std::size_t expected = 0, differing = 0, left_out = 0;
  for (const ChatCase& one : load_chat_cases()) {
    if (one.template_name == unsupported_template) {
      ++left_out;
      continue;
    }
    SCOPED_TRACE(one.template_name + " " + std::to_string(one.number));
    const TemplateForm& form = forms.at(one.template_name);
    const char* const reason = reason_to_differ(one);
    const std::string message = shown_message(parse_answer(one, form, one.input.size() + 1));
    if (reason == nullptr) {
      EXPECT_EQ(message, shown_message(one.expected)) << one.input;
    } else {
      EXPECT_NE(message, shown_message(one.expected)) << "it no longer differs because " << reason;
    }
    for (const std::size_t piece : {1U, 3U, 7U})
      EXPECT_EQ(shown_message(parse_answer(one, form, piece)), message) << "in pieces of " << piece;
    ++(reason == nullptr ? expected : differing);
  }
  EXPECT_EQ(expected, 445U);
  EXPECT_EQ(differing, 25U);
  EXPECT_EQ(left_out, 3U);
}

TEST(ChatCases, FormsAreThoseOfTheTemplates) {
  const Vocabulary vocabulary = load_vocabulary(tiny_byte_level()).value();
  const auto forms = load_template_forms();
  const std::vector<ChatCase> cases = load_chat_cases();
  std::string absent;
  for (const auto& [name, form] : forms) {
    SCOPED_TRACE(name);
    const std::string file = "templates/" + name + ".jinja";
    const auto path = find_data(file);
    if (!path) {
      if (absent.empty()) absent = file;
      continue;
    }
    std::ostringstream source;
    source << std::ifstream(*path, std::ios::binary).rdbuf();
    for (const bool thinks : {true, false}) {
      const auto made = ChatTemplate::make(source.str(), vocabulary, {.thinks = thinks});
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_EQ(form_of_template(name, source.str(), *made).json(), form.json());
      EXPECT_EQ(&form.reasoning(), &reasoning_form(source.str()));
      for (const ChatCase& one : cases) {
        if (one.template_name != name || one.thinks != thinks) continue;
        const auto prompt = case_prompt(one, *made);
        ASSERT_TRUE(prompt) << prompt.error().message;
        EXPECT_EQ(begun_answer(*prompt, form.reasoning()), one.begun) << one.number;
      }
    }
  }
  if (!absent.empty()) GTEST_SKIP() << "needs the extra data's " << absent;
}

}  // namespace
}  // namespace spectr

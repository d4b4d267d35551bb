// The form of calls is derived from a template's output.
#include "spectr/text/chat/tool_form.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "spectr/text/chat/chat_template.h"
#include "tests/support/data.h"
#include "tests/support/tiny_vocabularies.h"
#include "tests/text/tool_templates.h"

namespace spectr {
namespace {

using Kind = ToolForm::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

ToolForm form_of(std::string_view source) {
  const Vocabulary vocabulary = load_vocabulary(tiny_byte_level()).value();
  return ChatTemplate::make(source, vocabulary).value().tool_form();
}

/// Returns the beginning of a call of the tool "f".
std::string opening(const ToolForm& form) {
  const std::string text = form.lead + "f" + form.middle;
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

TEST(ToolForms, OfJsonHaveMarksAroundAnObject) {
  const ToolForm form = form_of(tool_templates::hermes);
  EXPECT_EQ(form.kind, Kind::json);
  EXPECT_THAT(form.opens, ElementsAre("<tool_call>"));
  EXPECT_THAT(form.closes, ElementsAre("</tool_call>"));
  EXPECT_EQ(form.lead, "<tool_call>\n{\"name\": \"");
  EXPECT_EQ(opening(form), "<tool_call>\n{\"name\": \"f\", \"arguments\":");
  EXPECT_TRUE(form.parallel);
}

TEST(ToolForms, MayHaveNoMarks) {
  const ToolForm form = form_of(tool_templates::llama);
  EXPECT_EQ(form.kind, Kind::json);
  EXPECT_THAT(form.opens, ElementsAre("<|python_tag|>"));
  EXPECT_THAT(form.closes, IsEmpty());
  EXPECT_EQ(opening(form), R"({"name": "f", "parameters":)");
  EXPECT_FALSE(form.parallel);
}

TEST(ToolForms, MayBeListsOfObjects) {
  const ToolForm form = form_of(tool_templates::mistral);
  EXPECT_EQ(form.kind, Kind::json);
  EXPECT_THAT(form.opens, ElementsAre("[TOOL_CALLS]"));
  EXPECT_THAT(form.closes, IsEmpty());
  EXPECT_EQ(form.lead, R"([TOOL_CALLS][{"name": ")");
  EXPECT_TRUE(form.parallel);
}

TEST(ToolForms, MayNameTheToolBeforeItsArguments) {
  const ToolForm ministral = form_of(tool_templates::ministral);
  EXPECT_EQ(ministral.kind, Kind::named);
  EXPECT_THAT(ministral.opens, ElementsAre("[TOOL_CALLS]"));
  EXPECT_EQ(opening(ministral), "[TOOL_CALLS]f[ARGS]");
  const ToolForm deepseek = form_of(tool_templates::deepseek);
  EXPECT_EQ(deepseek.kind, Kind::named);
  EXPECT_THAT(deepseek.opens, ElementsAre("<calls>", "<call>"));
  EXPECT_THAT(deepseek.closes, ElementsAre("</call>", "</calls>"));
  EXPECT_EQ(opening(deepseek), "<calls><call>f<sep>");
}

TEST(ToolForms, MayHaveATagForEachArgument) {
  const ToolForm coder = form_of(tool_templates::coder);
  EXPECT_EQ(coder.kind, Kind::tagged);
  EXPECT_THAT(coder.opens, ElementsAre("<tool_call>", "<function="));
  EXPECT_THAT(coder.closes, ElementsAre("</function>", "</tool_call>"));
  EXPECT_EQ(coder.key_open, "<parameter=");
  EXPECT_EQ(coder.key_close, ">");
  EXPECT_EQ(coder.value_close, "</parameter>");
  EXPECT_EQ(opening(coder), "<tool_call>\n<function=f>");
  const ToolForm glm = form_of(tool_templates::glm);
  EXPECT_EQ(glm.kind, Kind::tagged);
  EXPECT_THAT(glm.opens, ElementsAre("<tool_call>"));
  EXPECT_THAT(glm.closes, ElementsAre("</tool_call>"));
  EXPECT_EQ(glm.key_open, "<arg_key>");
  EXPECT_EQ(glm.key_close, "</arg_key>\n<arg_value>");
  EXPECT_EQ(glm.value_close, "</arg_value>");
  EXPECT_EQ(opening(glm), "<tool_call>f");
}

TEST(ToolForms, HaveWholeTags) {
  EXPECT_EQ(difference("a<|START_CALL|>x<|END_CALL|>b", "a<|START_TEXT|>y<|END_ALL|>b"),
            "<|START_CALL|>x<|END_CALL|>");
  EXPECT_EQ(difference("abc", "adc"), "b");
  EXPECT_EQ(difference("abc", "abc"), "");
  EXPECT_EQ(difference("a", ""), "a");
  const ToolForm form = form_of(tool_templates::cohere);
  EXPECT_EQ(form.kind, Kind::json);
  EXPECT_THAT(form.opens, ElementsAre("<|START_ACTION|>"));
  EXPECT_THAT(form.closes, ElementsAre("<|END_ACTION|>"));
  EXPECT_EQ(opening(form), R"(<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters":)");
}

TEST(ToolForms, MayHaveNamesInAttributes) {
  const ToolForm form = form_of(tool_templates::minimax);
  EXPECT_EQ(form.kind, Kind::tagged);
  EXPECT_THAT(form.opens, ElementsAre("<calls>", "<invoke name=\""));
  EXPECT_THAT(form.closes, ElementsAre("</invoke>", "</calls>"));
  EXPECT_EQ(opening(form), "<calls>\n<invoke name=\"f\">");
}

TEST(ToolForms, MayWriteArgumentsInTheirOwnSyntax) {
  const ToolForm gemma = form_of(tool_templates::gemma);
  EXPECT_EQ(gemma.kind, Kind::gemma);
  EXPECT_THAT(gemma.opens, ElementsAre("<|tool_call>call:"));
  EXPECT_THAT(gemma.closes, ElementsAre("<tool_call|>"));
  EXPECT_EQ(gemma.joint, "<tool_call|><|tool_call>call:");
  const ToolForm lfm = form_of(tool_templates::lfm);
  EXPECT_EQ(lfm.kind, Kind::python);
  EXPECT_THAT(lfm.opens, ElementsAre("<|tool_call_start|>"));
  EXPECT_THAT(lfm.closes, ElementsAre("<|tool_call_end|>"));
  EXPECT_EQ(opening(lfm), "<|tool_call_start|>[f(");
  EXPECT_EQ(lfm.joint, "), ");
  EXPECT_EQ(lfm.tail, ")]<|tool_call_end|>");
}

TEST(ToolForms, MayCountCalls) {
  const ToolForm form = form_of(tool_templates::kimi);
  EXPECT_EQ(form.kind, Kind::named);
  EXPECT_THAT(form.opens, ElementsAre("<|tool_calls_section_begin|>", "<|tool_call_begin|>functions."));
  EXPECT_EQ(form.middle, ":0<|tool_call_argument_begin|>");
  EXPECT_EQ(form.middle_pattern, R"(:[0-9]+<\|tool_call_argument_begin\|>)");
  EXPECT_EQ(form.joint, "<|tool_call_end|><|tool_call_begin|>functions.");
  EXPECT_EQ(form.tail, "<|tool_call_end|><|tool_calls_section_end|>");
}

TEST(ToolForms, HaveWholeCallsAsTheTemplateWritesThem) {
  const ToolForm hermes = form_of(tool_templates::hermes);
  EXPECT_EQ(hermes.joint, "}\n</tool_call>\n<tool_call>\n{\"name\": \"");
  EXPECT_EQ(hermes.tail, "}\n</tool_call>");
  const ToolForm coder = form_of(tool_templates::coder);
  EXPECT_EQ(coder.middle, ">\n");
  EXPECT_EQ(coder.value_lead, ">\n");
  EXPECT_EQ(coder.value_tail, "\n</parameter>\n");
  EXPECT_EQ(coder.tail, "</function>\n</tool_call>");
  EXPECT_EQ(coder.joint, coder.tail + "\n<tool_call>\n<function=");
  const ToolForm mistral = form_of(tool_templates::mistral);
  EXPECT_EQ(mistral.joint, R"(, "id": "spectr001"}, {"name": ")");
  EXPECT_EQ(mistral.tail, R"(, "id": "spectr001"}])");
}

TEST(ToolForms, EndWhereAnswersEnd) {
  const Vocabulary vocabulary = load_vocabulary(tiny_byte_level()).value();
  ASSERT_FALSE(vocabulary.ends().empty());
  const std::string end(vocabulary.text(*vocabulary.ends().begin()));
  std::string source = tool_templates::ministral;
  source.replace(source.find("function.arguments }}") + 21, 0, end);
  const ToolForm form = form_of(source);
  EXPECT_FALSE(form.parallel);
  EXPECT_EQ(form.tail, "");
}

TEST(ToolForms, OfTemplatesThatRenderNoCallsFollowFromTheirMarks) {
  const std::string tools = "{{ tools | tojson if tools }}{% for m in messages %}{{ m.content }}{% endfor %}";
  EXPECT_THAT(form_of(tools + "{# <tool_call> #}").opens, ElementsAre("<tool_call>"));
  EXPECT_THAT(form_of(tools + "{# <|tool_call|> #}").opens, ElementsAre("<|tool_call|>"));
  EXPECT_EQ(form_of(tools + "{# List of tools: #}{{ 'List of tools: ' if tools }}").kind, Kind::python);
  const ToolForm kimi = form_of(tools + "{# <|im_middle|> #}");
  EXPECT_EQ(kimi.kind, Kind::named);
  EXPECT_EQ(opening(kimi),
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>");
  EXPECT_THAT(form_of(tools).opens, IsEmpty());
  EXPECT_THAT(form_of("{% for m in messages %}{{ m.content }}{% endfor %}{# <tool_call> #}").opens, IsEmpty())
      << "the tools are told in the generic form";
}

TEST(ToolForms, OfPublishedTemplatesAreFound) {
  struct Published {
    const char *name, *begun;
    bool prints_tools, parallel;
  };
  constexpr Published all[] = {
      {"HuggingFaceTB-SmolLM3-3B", R"({"name": "f", "arguments":)", false, true},
      {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "<tool_call>\n{\"name\": \"f\", \"arguments\":", true,
       true},
      {"Qwen-Qwen2.5-7B-Instruct", "<tool_call>\n{\"name\": \"f\", \"arguments\":", true, true},
      {"google-gemma-2-2b-it", R"({"name": "f", "arguments":)", false, true},
      {"ibm-granite-granite-3.3-2B-Instruct", R"(<|tool_call|>[{"name": "f", "arguments":)", true, true},
      {"meta-llama-Llama-3.1-8B-Instruct", R"({"name": "f", "parameters":)", true, false},
      {"meta-llama-Llama-3.2-3B-Instruct", R"({"name": "f", "parameters":)", true, false},
      {"microsoft-Phi-3.5-mini-instruct", R"({"name": "f", "arguments":)", false, true},
      {"mistralai-Mistral-Nemo-Instruct-2407", R"([TOOL_CALLS][{"name": "f", "arguments":)", true, true},
  };
  const Vocabulary vocabulary = load_vocabulary(tiny_byte_level()).value();
  for (const auto& [name, begun, prints_tools, parallel] : all) {
    const auto path = find_data(std::string("templates/") + name + ".jinja");
    if (!path) GTEST_SKIP() << "needs the extra data's templates/" << name << ".jinja";
    std::ostringstream source;
    source << std::ifstream(*path).rdbuf();
    const auto made = ChatTemplate::make(source.str(), vocabulary);
    ASSERT_TRUE(made) << name;
    EXPECT_EQ(opening(made->tool_form()), begun) << name;
    EXPECT_EQ(made->tool_support().prints_tools, prints_tools) << name;
    EXPECT_EQ(made->tool_form().parallel, parallel) << name;
  }
}

}  // namespace
}  // namespace spectr

// Calls are found in answers of every family, however the answer is split.
#include "spectr/text/chat/tool_call_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spectr/text/chat/chat_template.h"
#include "spectr/text/chat/tool_schema.h"
#include "spectr/text/chat/tool_structure.h"
#include "spectr/text/chat/tool_values.h"
#include "tests/support/tiny_vocabularies.h"
#include "tests/text/tool_templates.h"

namespace spectr {
namespace {

using testing::HasSubstr;

const Tool offered_tools[] = {
    {"get_weather",
     R"({"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
      "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "exact": {"type": "boolean"},
                     "places": {"type": "array"}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}}})"},
    {"get_time", R"({"type": "function", "function": {"name": "get_time"}})"},
    {"get", "{"},
};

/// Returns a tool "f" with these properties and a definition "a" of these alternatives.
Tool tool_with_choices(const std::string& properties, const std::string& choices) {
  return {"f", R"({"function": {"parameters": {"properties": {)" + properties +
                   R"(}, "$defs": {"a": {"anyOf": [)" + choices + "]}}}}}"};
}

std::string repeated_part(std::string_view part, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += (i > 0 ? "," : "") + std::string(part);
  return all;
}

ToolForm tool_form_by(const char* source) {
  const Vocabulary vocabulary = load_vocabulary(tiny_byte_level()).value();
  return ChatTemplate::make(source, vocabulary).value().tool_form();
}

/// Parses an answer that arrives in pieces of `piece` bytes. Returns "content|name(arguments)…".
std::string parsed_in_pieces(const ToolForm& form, std::string_view answer, std::size_t piece, bool parallel,
                             std::string_view begun) {
  ToolCallParser parser(form, std::make_shared<const ToolSet>(offered_tools), parallel);
  std::string content, calls;
  const auto add = [&](const ToolCallParser::Parts& parts) {
    content += parts.content;
    for (const ToolCall& call : parts.calls) calls += call.name + "(" + call.arguments + ")";
  };
  add(parser.push(begun));
  for (std::size_t at = 0; at < answer.size(); at += piece) add(parser.push(answer.substr(at, piece)));
  add(parser.finish());
  EXPECT_EQ(parser.called(), !calls.empty());
  return content + "|" + calls;
}

void expect_calls(const ToolForm& form, std::string_view answer, const std::string& expected,
                  bool parallel = true, std::string_view begun = "") {
  for (const std::size_t piece : {1U, 2U, 3U, 5U, 17U, 4096U})
    EXPECT_EQ(parsed_in_pieces(form, answer, piece, parallel, begun), expected) << "in pieces of " << piece;
  for (std::size_t cut = 1; cut < answer.size(); ++cut) {
    ToolCallParser parser(form, std::make_shared<const ToolSet>(offered_tools), parallel);
    parser.push(begun);
    std::string content, calls;
    for (const auto& parts :
         {parser.push(answer.substr(0, cut)), parser.push(answer.substr(cut)), parser.finish()}) {
      content += parts.content;
      for (const ToolCall& call : parts.calls) calls += call.name + "(" + call.arguments + ")";
    }
    EXPECT_EQ(content + "|" + calls, expected) << "cut at " << cut;
  }
}

TEST(ToolCalls, AreJsonBetweenMarks) {
  const ToolForm form = tool_form_by(tool_templates::hermes);
  expect_calls(form,
               "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>",
               R"(|get_weather({"city":"Rome"}))");
  expect_calls(form,
               "I look.\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "
               "\"Rome\"}}\n</tool_call>\n"
               "<tool_call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>\n",
               R"(I look.|get_weather({"city":"Rome"})get_time({}))");
  expect_calls(form, "<tool_call>{\"name\":\"get_time\"}</tool_call>\n Done. ", "Done. |get_time({})");
  expect_calls(form, R"(<tool_call>{"name": "get_time", "arguments": "{\"a\": 1}"}</tool_call>)",
               R"(|get_time({"a":1}))");
  expect_calls(form, R"(<tool_call>{"name": "get_time", "arguments": {"a": "}</tool_call>\"{"}}</tool_call>)",
               R"(|get_time({"a":"}</tool_call>\"{"}))");
  expect_calls(form, R"(A<tool_call>{"name": "get_time"}</tool_call>B)", "A\nB|get_time({})");
}

TEST(ToolCalls, MayLackTheirEndMark) {
  const ToolForm form = tool_form_by(tool_templates::hermes);
  expect_calls(form, R"(<tool_call>{"name": "get_time", "arguments": {}})", "|get_time({})");
  expect_calls(form, R"(<tool_call>{"name": "get_time", "arguments": {}}</tool_c)", "</tool_c|get_time({})");
}

TEST(ToolCalls, ThatAreInvalidOrUnfinishedStayContent) {
  const ToolForm hermes = tool_form_by(tool_templates::hermes), coder = tool_form_by(tool_templates::coder);
  const char* const of_hermes[] = {
      "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Ro",
      "<tool_call>\n{\"name\": \"unknown\", \"arguments\": {}}\n</tool_call>",
      "<tool_call>\n{\"name\": \"get_time\", \"arguments\": [1]}\n</tool_call>",
      "<tool_call>\n{\"name\": \"get_time\", \"arguments\": {bad}}\n</tool_call>",
      "<tool_call>{\"name\": \"get_time\", \"arguments\": \"none\"}</tool_call>",
      "<tool_call>{]</tool_call>",
      "<tool_call>",
      "<tool_ca",
      "Use <tool_call> for calls.",
      "{\"name\": \"unknown\", \"arguments\": {}}",
      "{\"name\": \"get_time\"}",
      "{\"city\": \"Rome\"}",
      "[link](x) and [1, 2]",
      "```python\nprint({})\n```\n",
      "```json\n{\"city\": \"Rome\"}\n```",
      "``",
      " \n",
      "",
  };
  for (const char* const text : of_hermes) expect_calls(hermes, text, std::string(text) + "|");
  const char* const of_coder[] = {
      "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n",
      "<tool_call>\n<function=other>\n</function>\n</tool_call>",
      "<tool_call>\n<function=get_weather>\n<parameter=city\n</function>\n</tool_call>",
  };
  for (const char* const text : of_coder) expect_calls(coder, text, std::string(text) + "|");
}

TEST(ToolCalls, MayHaveATagForEachArgument) {
  const ToolForm form = tool_form_by(tool_templates::coder);
  expect_calls(form,
               "So.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nNew\nYork\n</"
               "parameter>\n<parameter=days>\n3\n"
               "</parameter>\n<parameter=exact>\nTrue\n</parameter>\n</function>\n</tool_call>",
               R"(So.|get_weather({"city":"New\nYork","days":3,"exact":true}))");
  expect_calls(form,
               "<tool_call>\n<function=get_time>\n</function>\n</tool_call>\n<tool_call>\n<function=get>\n</"
               "function>\n</tool_call>",
               "|get_time({})get({})");
  expect_calls(form, "<function=get_weather>\n<parameter=city>\n12\n</parameter>\n</function>",
               R"(|get_weather({"city":"12"}))");
  expect_calls(form,
               "<tool_call><function=get_weather><parameter=city>a</function> </parameter> b</parameter>"
               "<parameter=places>[1, 2]</parameter><parameter=days>many</parameter></function></tool_call>",
               R"(|get_weather({"city":"a</function> </parameter> b","places":[1,2],"days":"many"}))");
  expect_calls(form, "<tool_call>{\"name\": \"get_time\"}</tool_call>", "|get_time({})");
}

TEST(ToolCalls, MayHaveNamesInAttributes) {
  expect_calls(
      tool_form_by(tool_templates::minimax),
      "<calls>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Rome</parameter>\n</invoke>\n"
      "<invoke name=\"get_time\">\n</invoke>\n</calls>",
      R"(|get_weather({"city":"Rome"})get_time({}))");
}

TEST(ToolCalls, MayHaveTagsThatTellStringsFromOtherValues) {
  const ToolForm form = tool_form_by(tool_templates::deepseek_tags);
  expect_calls(form,
               "<DSML|calls>\n<DSML|invoke name=\"get_weather\">\n"
               "<DSML|parameter name=\"city\" string=\"true\">12</DSML|parameter>\n"
               "<DSML|parameter name=\"days\" string=\"false\">3</DSML|parameter>\n"
               "<DSML|parameter name=\"note\" string=\"false\">null</DSML|parameter>\n"
               "</DSML|invoke>\n</DSML|calls>",
               R"(|get_weather({"city":"12","days":3,"note":null}))");
}

TEST(ToolCalls, MayHaveATagForEachKeyAndValue) {
  const ToolForm form = tool_form_by(tool_templates::glm);
  expect_calls(form,
               "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n<arg_key>days</"
               "arg_key>\n"
               "<arg_value>2</arg_value>\n<arg_key>note</arg_key><arg_value>1</arg_value></tool_call>\n"
               "<tool_call>get_time</tool_call>",
               R"(|get_weather({"city":"Rome","days":2,"note":"1"})get_time({}))");
}

TEST(ToolCalls, MayBeBareJson) {
  const ToolForm form = tool_form_by(tool_templates::llama);
  expect_calls(form, R"({"name": "get_weather", "parameters": {"city": "Rome"}})",
               R"(|get_weather({"city":"Rome"}))");
  expect_calls(form, R"(<|python_tag|>{"type": "function", "name": "get_time", "parameters": {}})",
               "|get_time({})");
  expect_calls(form,
               R"({"name": "get_time", "parameters": {}}; {"name": "get_time", "parameters": {"a": 1}})",
               R"(|get_time({})get_time({"a":1}))");
  expect_calls(form,
               R"({"name": "get_time", "parameters": {}}; {"name": "get_time", "parameters": {"a": 1}} x)",
               "|get_time({})", false);
}

TEST(ToolCalls, MayBeLists) {
  const ToolForm form = tool_form_by(tool_templates::mistral);
  expect_calls(
      form,
      R"([TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Rome"}, "id": "abcdef123"}, {"name": "get_time", "arguments": {}}])",
      R"(|get_weather({"city":"Rome"})get_time({}))");
  expect_calls(form, R"([{"name": "get_time", "arguments": {}}])", "|get_time({})");
  expect_calls(form, R"([TOOL_CALLS][{"name": "get_time", "arguments": {}}, {"name": "get_time"}])",
               "|get_time({})", false);
}

TEST(ToolCalls, MayHaveOtherNamesForTheirMembers) {
  expect_calls(tool_form_by(tool_templates::cohere),
               "<|START_ACTION|>[\n{\"tool_call_id\": \"0\", \"tool_name\": \"get_time\", \"parameters\": "
               "{\"a\": 1}}\n]"
               "<|END_ACTION|>",
               R"(|get_time({"a":1}))");
}

TEST(ToolCalls, MayNameTheToolBeforeItsArguments) {
  const ToolForm ministral = tool_form_by(tool_templates::ministral);
  expect_calls(ministral, R"(Hm.[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}[TOOL_CALLS]get_time[ARGS]{})",
               R"(Hm.|get_weather({"city":"Rome"})get_time({}))");
  expect_calls(ministral, R"([TOOL_CALLS]get_times[ARGS]{})", "[TOOL_CALLS]get_times[ARGS]{}|");
  const ToolForm deepseek = tool_form_by(tool_templates::deepseek);
  expect_calls(deepseek, R"(<calls><call>get_time<sep>{}</call><call>get<sep>{"a": [1]}</call></calls>)",
               R"(|get_time({})get({"a":[1]}))");
  const ToolForm& kimi = known_tool_form("<|im_middle|>");
  expect_calls(
      kimi,
      "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_time:0<|tool_call_argument_begin|>{}"
      "<|tool_call_end|><|tool_call_begin|>functions.get:1<|tool_call_argument_begin|>{\"a\":1}<|tool_call_"
      "end|>"
      "<|tool_calls_section_end|>",
      R"(|get_time({})get({"a":1}))");
}

TEST(ToolCalls, MayHaveArgumentsOfGemma) {
  const ToolForm form = tool_form_by(tool_templates::gemma);
  expect_calls(form, R"(So.<|tool_call>call:get_weather{city:<|"|>New "York"<|"|>,days:3}<tool_call|>)",
               R"(So.|get_weather({"city":"New \"York\"","days":3}))");
  expect_calls(
      form,
      R"(<|tool_call>call:get{a:[<|"|>}<tool_call|><|"|>,null,-1.5],b:{c:true,<|"|>d e<|"|>:{}}}<tool_call|>)"
      R"(<|tool_call>call:get_time{}<tool_call|>)",
      R"(|get({"a":["}<tool_call|>",null,-1.5],"b":{"c":true,"d e":{}}})get_time({}))");
  for (const char* const text :
       {"<|tool_call>call:other{}<tool_call|>", "<|tool_call>call:get{a:}<tool_call|>",
        "<|tool_call>call:get{a:1}", "<|tool_call>call:get{a:1,,b:2}<tool_call|>"})
    expect_calls(form, text, std::string(text) + "|");
}

TEST(ToolCalls, MayBeCallsInPython) {
  const ToolForm form = tool_form_by(tool_templates::lfm);
  expect_calls(
      form,
      R"(Well.<|tool_call_start|>[get_weather(city="Rome", days=2, exact=True), get_time()]<|tool_call_end|>)",
      R"(Well.|get_weather({"city":"Rome","days":2,"exact":true})get_time({}))");
  expect_calls(
      form,
      R"(<|tool_call_start|>[get(a='it\'s "x"\n', b=None, c={'d': [1, (2,)], "e": false})]<|tool_call_end|>)",
      R"(|get({"a":"it's \"x\"\n","b":null,"c":{"d":[1,[2]],"e":false}}))");
  expect_calls(form, R"(<|tool_call_start|>[get(a=")]<|tool_call_end|>")]<|tool_call_end|>)",
               R"(|get({"a":")]<|tool_call_end|>"}))");
  expect_calls(form, R"(<|tool_call_start|>[{"name": "get_time", "arguments": {}}]<|tool_call_end|>)",
               "|get_time({})");
  for (const char* const text :
       {"<|tool_call_start|>[other()]<|tool_call_end|>", "<|tool_call_start|>[get(1)]<|tool_call_end|>",
        "<|tool_call_start|>[get(a=b)]<|tool_call_end|>", "<|tool_call_start|>[]<|tool_call_end|>",
        "<|tool_call_start|>[get(a='x)]<|tool_call_end|>", "<|tool_call_start|>[get(a=1"})
    expect_calls(form, text, std::string(text) + "|");
  const std::string deep = "<|tool_call_start|>[get(a=" + std::string(300, '[') + ")]<|tool_call_end|>";
  expect_calls(form, deep, deep + "|");
  const std::vector<ToolCall> call = {{"", "f", R"({"a": true, "b": null, "c": [1, "x"]})"}};
  EXPECT_EQ(text_of_calls(call, form),
            R"(<|tool_call_start|>[f(a=True, b=None, c=[1,"x"])]<|tool_call_end|>)");
}

TEST(ToolCalls, ThatMustBeginExactlyAreNoOtherJson) {
  const auto parsed = [](const ToolForm& form, std::string_view answer) {
    ToolCallParser parser(form, std::make_shared<const ToolSet>(offered_tools), true, true);
    std::string content, calls;
    for (const auto& parts : {parser.push(answer), parser.finish()}) {
      content += parts.content;
      for (const ToolCall& call : parts.calls) calls += call.name + "(" + call.arguments + ")";
    }
    return content + "|" + calls;
  };
  const ToolForm hermes = tool_form_by(tool_templates::hermes), llama = tool_form_by(tool_templates::llama);
  const std::string bare = R"({"name": "get_time", "parameters": {}})",
                    spaced = R"({ "name": "get_time", "parameters": {}})";
  EXPECT_EQ(parsed(hermes, bare), bare + "|");
  EXPECT_EQ(parsed(hermes, "```json\n" + bare + "\n```"), "```json\n" + bare + "\n```|");
  EXPECT_EQ(parsed(hermes, "<tool_call>" + bare + "</tool_call>"), "|get_time({})");
  EXPECT_EQ(parsed(llama, bare), "|get_time({})");
  EXPECT_EQ(parsed(llama, spaced), spaced + "|");
  EXPECT_EQ(parsed(llama, "<|python_tag|>" + bare), "|get_time({})");
}

TEST(ToolCalls, OfHarmonyAreMessagesToFunctions) {
  const ToolForm& form = harmony_tool_form();
  expect_calls(form, R"(I look.<|channel|>commentary to=functions.get_weather<|message|>{"city": "Rome"})",
               R"(I look.|get_weather({"city":"Rome"}))");
  expect_calls(form, R"({"city": 1})", R"(|get_weather({"city":1}))", false,
               form.lead + "get_weather" + form.middle);
  expect_calls(form, R"(<|channel|>commentary to=functions.get_time<|message|>{})", "|get_time({})", false,
               form.lead);
}

TEST(ToolCalls, OfSmallModelsMayBeFencedInEveryForm) {
  for (const char* const source : {tool_templates::hermes, tool_templates::coder, tool_templates::plain}) {
    const ToolForm form = tool_form_by(source);
    expect_calls(form, "Like this:\n```json\n{\"name\": \"get_time\", \"arguments\": {\"a\": 1}}\n```\nDone.",
                 "Like this:\nDone.|get_time({\"a\":1})");
    expect_calls(form, "```\n{\"function\": {\"name\": \"get_time\", \"parameters\": {}}}\n```",
                 "|get_time({})");
    expect_calls(form, " {\"name\": \"get_time\", \"arguments\": {}}\n", "|get_time({})");
    expect_calls(form, "{\"tool_calls\": [{\"name\": \"get_time\", \"arguments\": {}}]}", "|get_time({})");
  }
}

TEST(ToolSets, KnowTheKindsOfSchemasThatReferToThemselves) {
  constexpr std::string_view self = R"({"$ref": "#/$defs/a"})";
  const Tool tool =
      tool_with_choices(R"("x": )" + std::string(self), repeated_part(self, 1000) + R"(, {"type": "null"})");
  EXPECT_EQ(ToolSet(std::span(&tool, 1)).kinds_of("f", "x"), null_value_kind);
}

TEST(ToolSets, DoNotKnowTheKindsOfSchemasThatAreTooLarge) {
  std::string properties;
  for (int i = 0; i < 20'000; ++i)
    properties += (i > 0 ? R"(,"x)" : R"("x)") + std::to_string(i) + R"(": {"$ref": "#/$defs/a"})";
  const Tool tool = tool_with_choices(properties, repeated_part(R"({"type": "null"})", 20'000));
  const ToolSet tools(std::span(&tool, 1));
  EXPECT_EQ(tools.kinds_of("f", "x0"), null_value_kind);
  EXPECT_EQ(tools.kinds_of("f", "x19999"), std::nullopt);
}

TEST(CallStructures, OfSchemasThatReferToThemselvesTooOftenAreRefused) {
  const ToolForm form = tool_form_by(tool_templates::coder);
  const auto why = [&](const std::string& properties, std::size_t count) -> std::string {
    Tool tool = tool_with_choices(
        properties, R"({"type": "string"},)" + repeated_part(R"({"$ref": "#/$defs/a"})", count));
    tool.field = "tools[0]";
    const auto structure = call_structure(form, {.tools = {&tool, 1}, .must_call = true});
    return structure ? "" : structure.error().message;
  };
  const std::string self = R"("x": {"$ref": "#/$defs/a"})";
  EXPECT_EQ(why(self, 1), "");
  EXPECT_THAT(why(self, 1000), HasSubstr("'tools[0]': the schema is too large"));
  EXPECT_THAT(why(self, 50'000), HasSubstr("'tools[0]': the schema is too large"));
  std::string lists;
  for (int i = 0; i < 1000; ++i)
    lists += (i > 0 ? R"(,"x)" : R"("x)") + std::to_string(i) + R"(": {"items": {"$ref": "#/$defs/a"}})";
  EXPECT_EQ(why(lists, 10), "");
  EXPECT_THAT(why(lists, 10'000), HasSubstr("'tools[0]': the schema is too large"));
}

TEST(ToolCalls, GoOnFromTheBeginningThatThePromptHas) {
  const ToolForm hermes = tool_form_by(tool_templates::hermes);
  expect_calls(hermes, " {\"city\": \"Rome\"}}\n</tool_call>", R"(|get_weather({"city":"Rome"}))", true,
               hermes.lead + "get_weather" + hermes.middle);
  expect_calls(hermes, "get_time\"}", "|get_time({})", true, hermes.lead);
  const ToolForm coder = tool_form_by(tool_templates::coder);
  expect_calls(coder, "\n</function>", "|get_time({})", true, coder.lead + "get_time" + coder.middle);
}

TEST(ToolCalls, AreNotNestedWithoutEnd) {
  const std::string deep(10'000, '[');
  expect_calls(tool_form_by(tool_templates::hermes), "<tool_call>" + deep.substr(0, 200),
               "<tool_call>" + deep.substr(0, 200) + "|");
  ToolCallParser parser(generic_tool_form(), std::make_shared<const ToolSet>(offered_tools), true);
  std::string content = parser.push("{\"arguments\":" + deep).content;
  content += parser.finish().content;
  EXPECT_EQ(content, "{\"arguments\":" + deep);
}

}  // namespace
}  // namespace spectr

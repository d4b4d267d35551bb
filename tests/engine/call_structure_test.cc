// Constrained answers that call tools: any draw among the allowed tokens is a call, and its
// arguments match the schema of its tool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/engine/rules/grammar.h"
#include "spectr/text/chat/chat_template.h"
#include "spectr/text/chat/tool_call_parser.h"
#include "spectr/text/chat/tool_structure.h"
#include "tests/engine/bundled.h"
#include "tests/support/value_of.h"
#include "tests/text/tool_templates.h"

namespace spectr {
namespace {

using test::value_of;
using testing::HasSubstr;

const Tokenizer& call_tokenizer() {
  return *test::bundled_models()->tokenizer;
}

GrammarCompiler& call_compiler() {
  static const auto compiler =
      value_of(GrammarCompiler::make(call_tokenizer(), test::bundled_models()->target->vocabulary()));
  return *compiler;
}

Tool tool_of(const std::string& name, const std::string& parameters, bool strict = false) {
  return {
      name,
      R"({"type": "function", "function": {"name": ")" + name + R"(", "parameters": )" + parameters + "}}",
      strict, name + ".parameters"};
}

const std::vector<Tool>& two_tools() {
  static const std::vector<Tool> tools = {
      tool_of("get_weather",
              R"({"type": "object", "additionalProperties": false, "required": ["city", "days"],
        "properties": {"city": {"type": "string", "enum": ["Rome", "Oslo"]},
                       "days": {"type": "integer", "minimum": 1, "maximum": 9},
                       "exact": {"type": "boolean"}, "unit": {"$ref": "#/$defs/unit"},
                       "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2}},
        "$defs": {"unit": {"enum": ["C", "F"]}}})"),
      tool_of("stop", R"({"type": "object", "additionalProperties": false, "properties": {}})")};
  return tools;
}

/// Expects the arguments to match the schemas above.
void expect_valid(const ToolCall& call) {
  const auto json = nlohmann::json::parse(call.arguments);
  if (call.name == "stop") {
    EXPECT_EQ(json, nlohmann::json::object());
    return;
  }
  EXPECT_EQ(call.name, "get_weather");
  ASSERT_TRUE(json.contains("city") && json.contains("days")) << call.arguments;
  EXPECT_TRUE(json["city"] == "Rome" || json["city"] == "Oslo") << call.arguments;
  EXPECT_TRUE(json["days"].is_number_integer() && json["days"] >= 1 && json["days"] <= 9) << call.arguments;
  for (const auto& [name, value] : json.items()) {
    EXPECT_TRUE(name != "exact" || value.is_boolean()) << call.arguments;
    EXPECT_TRUE(name != "unit" || value == "C" || value == "F") << call.arguments;
    EXPECT_TRUE(name != "tags" || (value.is_array() && value.size() <= 2)) << call.arguments;
  }
  EXPECT_LE(json.size(), 5u) << call.arguments;
}

std::shared_ptr<const LogitRule> call_rule(const ToolForm& form, const CallRule& rule,
                                           std::string after = "") {
  const Constraint constraint{Constraint::Kind::structure, value_of(call_structure(form, rule)), "tools"};
  return grammar_rule(value_of(call_compiler().compile(constraint)), call_tokenizer(), 1, std::move(after));
}

std::vector<Token> allowed_after(const LogitRule& rule, std::vector<Token> answer) {
  answer.insert(answer.begin(), 1);
  std::vector<double> logits(test::bundled_models()->target->vocabulary(), 0.5);
  EXPECT_TRUE(rule.apply(answer, logits));
  std::vector<Token> tokens;
  for (std::size_t token = 0; token < logits.size(); ++token)
    if (logits[token] == 0.5) tokens.push_back(static_cast<Token>(token));
  return tokens;
}

std::vector<Token> encoded(std::string_view text) {
  return call_tokenizer().encode(text, {.add_bos = false});
}

/// Returns an answer drawn from the allowed tokens. It ends as soon as an end token is allowed.
std::string drawn_answer(const LogitRule& rule, unsigned seed, std::string_view begun = "") {
  std::mt19937 random(seed);
  std::vector<Token> answer = encoded(begun);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<Token> next = allowed_after(rule, answer);
    if (next.empty()) break;
    const auto ends = [](Token token) { return call_tokenizer().vocabulary().is_end(token); };
    if (std::ranges::any_of(next, ends) && (i > 100 || random() % 2 == 0)) break;
    Token drawn = next[random() % next.size()];
    if (ends(drawn)) break;
    answer.push_back(drawn);
  }
  std::string text;
  for (const Token token : answer) text += call_tokenizer().piece(token);
  return text;
}

struct Parsed {
  std::string content;
  std::vector<ToolCall> calls;
};

Parsed parsed_answer(const ToolForm& form, std::string_view text, const std::vector<Tool>& tools) {
  ToolCallParser parser(form, std::make_shared<const ToolSet>(tools), form.parallel, true);
  Parsed all;
  for (const auto& parts : {parser.push(text), parser.finish()}) {
    all.content += parts.content;
    all.calls.insert(all.calls.end(), parts.calls.begin(), parts.calls.end());
  }
  return all;
}

ToolForm form_by(const char* source) {
  return value_of(ChatTemplate::make(source, call_tokenizer().vocabulary())).tool_form();
}

struct FormCase {
  const char* name;
  ToolForm form;
};

std::vector<FormCase> all_forms() {
  namespace t = tool_templates;
  return {{"hermes", form_by(t::hermes)},
          {"coder", form_by(t::coder)},
          {"glm", form_by(t::glm)},
          {"llama", form_by(t::llama)},
          {"mistral", form_by(t::mistral)},
          {"ministral", form_by(t::ministral)},
          {"deepseek", form_by(t::deepseek)},
          {"cohere", form_by(t::cohere)},
          {"minimax", form_by(t::minimax)},
          {"gemma", form_by(t::gemma)},
          {"lfm", form_by(t::lfm)},
          {"deepseek tags", form_by(t::deepseek_tags)},

          {"kimi", form_by(t::kimi)},
          {"generic", generic_tool_form()},
          {"old kimi", known_tool_form("<|im_middle|>")},
          {"old hermes", known_tool_form("<tool_call>")}};
}

TEST(ConstrainedCalls, FitTheSchemasInEveryForm) {
  std::size_t several_of_all = 0;
  for (const FormCase& one : all_forms()) {
    const auto rule =
        call_rule(one.form, {.tools = two_tools(), .must_call = true, .parallel = one.form.parallel});
    std::size_t several = 0, weather = 0;
    for (unsigned seed = 0; seed < 12; ++seed) {
      const std::string text = drawn_answer(*rule, seed);
      const Parsed parsed = parsed_answer(one.form, text, two_tools());
      EXPECT_EQ(parsed.content, "") << one.name << ": " << text;
      ASSERT_FALSE(parsed.calls.empty()) << one.name << ": " << text;
      for (const ToolCall& call : parsed.calls) {
        expect_valid(call);
        weather += call.name == "get_weather" ? 1 : 0;
      }
      several += parsed.calls.size() > 1 ? 1 : 0;
    }
    EXPECT_GT(weather, 0u) << one.name;
    EXPECT_TRUE(one.form.parallel || several == 0) << one.name;
    several_of_all += several;
  }
  EXPECT_GT(several_of_all, 20u);
}

TEST(ConstrainedCalls, AreMessagesInHarmony) {
  const ToolForm& form = harmony_tool_form();
  const CallRule rule{.tools = two_tools(),
                      .must_call = true,
                      .parallel = false,
                      .reasoning_open = "<|channel|>analysis<|message|>",
                      .reasoning_close = "<|end|><|start|>assistant"};
  const auto constrained = call_rule(form, rule);
  for (unsigned seed = 0; seed < 6; ++seed) {
    for (const std::string& begun :
         {std::string(), std::string("<|channel|>analysis<|message|>Hm.<|end|>")}) {
      const std::string text = drawn_answer(*constrained, seed, begun);
      const auto split = ReasoningSplitter::make(reasoning_form("<|start|>assistant"), "", {.calls = true});
      std::string said, thought;
      for (const auto& parts : {split->push(text), split->finish()}) {
        said += parts.content;
        thought += parts.reasoning;
      }
      EXPECT_TRUE(begun.empty() || thought == "Hm.") << text;
      const Parsed parsed = parsed_answer(form, said, two_tools());
      if (begun.empty() && parsed.calls.empty()) continue;  // endless reasoning
      ASSERT_EQ(parsed.calls.size(), 1u) << text;
      expect_valid(parsed.calls.front());
    }
  }
}

TEST(ConstrainedCalls, OfStrictToolsFitWheneverTheyAreCalled) {
  std::vector<Tool> tools = two_tools();
  for (Tool& tool : tools) tool.strict = true;
  for (const FormCase& one : all_forms()) {
    const auto rule = call_rule(one.form, {.tools = tools, .parallel = one.form.parallel});
    const std::size_t all = test::bundled_models()->target->vocabulary();
    // Free text is allowed up to the opening mark of a call.
    EXPECT_GT(allowed_after(*rule, encoded("Let me look <that> {up}: \"[")).size(), all / 2) << one.name;
    for (unsigned seed = 0; seed < 6; ++seed) {
      const std::string text = drawn_answer(*rule, seed, "I look." + one.form.lead + "get_weather");
      const Parsed parsed = parsed_answer(one.form, text, tools);
      ASSERT_FALSE(parsed.calls.empty()) << one.name << ": " << text;
      EXPECT_THAT(parsed.content, HasSubstr("I look.")) << one.name;
      expect_valid(parsed.calls.front());
    }
    const std::string call = one.form.lead + "stop" + one.form.middle;
    if (one.form.middle_pattern.empty()) {
      EXPECT_FALSE(allowed_after(*rule, encoded(call)).empty()) << one.name;
    }
  }
}

TEST(ConstrainedCalls, AreFollowedByFreeTextWhereSeveralMayCome) {
  std::vector<Tool> tools = two_tools();
  for (Tool& tool : tools) tool.strict = true;
  const ToolForm form = form_by(tool_templates::hermes);
  const std::string call = "<tool_call>\n{\"name\": \"stop\", \"arguments\": {}}\n</tool_call>";
  const auto several = call_rule(form, {.tools = tools, .parallel = true}),
             single = call_rule(form, {.tools = tools, .parallel = false});
  const std::size_t all = test::bundled_models()->target->vocabulary();
  EXPECT_GT(allowed_after(*several, encoded(call + " Now")).size(), all / 2);
  for (const Token token : allowed_after(*single, encoded(call)))
    EXPECT_TRUE(call_tokenizer().vocabulary().is_end(token));
  EXPECT_FALSE(allowed_after(*single, encoded(call)).empty());
}

TEST(ConstrainedCalls, MayFollowThoughtsWithMarksInThem) {
  const ToolForm form = form_by(tool_templates::hermes);
  const CallRule rule{.tools = two_tools(),
                      .must_call = true,
                      .parallel = false,
                      .reasoning_open = "<think>",
                      .reasoning_close = "</think>"};
  const auto constrained = call_rule(form, rule);
  for (unsigned seed = 0; seed < 6; ++seed) {
    const std::string begun = "<think>Use <tool_call>?</think>\n\n";
    const std::string text = drawn_answer(*constrained, seed, begun);
    const Parsed parsed = parsed_answer(form, text.substr(begun.size()), two_tools());
    ASSERT_EQ(parsed.calls.size(), 1u) << text;
    EXPECT_EQ(parsed.content, "");
    expect_valid(parsed.calls.front());
  }
}

TEST(ConstrainedCalls, MayBeJsonOfAFormatInstead) {
  const ToolForm form = form_by(tool_templates::hermes);
  const CallRule rule{
      .tools = two_tools(),
      .must_call = true,
      .parallel = false,
      .content = R"({"type": "json_schema", "json_schema": {"enum": [17]}, "field": "response_format"})"};
  const auto constrained = call_rule(form, rule);
  std::size_t calls = 0, formats = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    const std::string text = drawn_answer(*constrained, seed);
    const Parsed parsed = parsed_answer(form, text, two_tools());
    calls += parsed.calls.size();
    formats += parsed.calls.empty() && nlohmann::json::parse(text, nullptr, false) == 17 ? 1 : 0;
  }
  EXPECT_EQ(calls + formats, 24u);
  EXPECT_GT(calls, 0u);
  EXPECT_GT(formats, 0u);
}

TEST(ConstrainedCalls, TakeStringsAsTheSchemaHasThem) {
  const std::vector<Tool> tools = {
      tool_of("f", R"({"type": "object", "required": ["a", "b", "c", "d"], "additionalProperties": false,
        "properties": {"a": {"type": "string", "maxLength": 3}, "b": {"type": "string", "pattern": "^[xy]{2}$"},
                       "c": {"anyOf": [{"const": "k"}, {"type": "null"}]}, "d": {"type": ["integer", "null"],
                       "minimum": 0, "maximum": 3}}})")};
  for (const FormCase& one : all_forms()) {
    if (one.form.kind == ToolForm::Kind::gemma) continue;  // maxLength is refused
    const auto rule = call_rule(one.form, {.tools = tools, .must_call = true, .parallel = false});
    for (unsigned seed = 0; seed < 8; ++seed) {
      const std::string text = drawn_answer(*rule, seed);
      const Parsed parsed = parsed_answer(one.form, text, tools);
      ASSERT_EQ(parsed.calls.size(), 1u) << one.name << ": " << text;
      const auto json = nlohmann::json::parse(parsed.calls.front().arguments);
      EXPECT_THAT(json["b"].get<std::string>(), testing::MatchesRegex("[xy]{2}")) << one.name << ": " << text;
      EXPECT_TRUE(json["c"] == "k" || json["c"].is_null()) << one.name << ": " << text;
      EXPECT_TRUE(json["d"].is_null() || (json["d"] >= 0 && json["d"] <= 3)) << one.name << ": " << text;
      EXPECT_LE(json["a"].get<std::string>().size(), 12u) << one.name << ": " << text;
    }
  }
}

TEST(ConstrainedCalls, OfFormsThatAreNotReadAreRefused) {
  ToolForm form = generic_tool_form();
  form.lead = "[{\"";
  form.middle = "\": ";
  form.tail = "}]";
  const auto structure = call_structure(form, {.tools = two_tools(), .must_call = true});
  ASSERT_FALSE(structure);
  EXPECT_EQ(structure.error().code, ErrorCode::unsupported);
}

TEST(ConstrainedCalls, OfBadSchemasAreRefusedByField) {
  const auto why = [](const ToolForm& form, const std::string& parameters) -> std::string {
    const std::vector<Tool> tools = {tool_of("stop", "{}"), tool_of("f", parameters)};
    const auto structure = call_structure(form, {.tools = tools, .must_call = true});
    if (!structure) return structure.error().message;
    const auto compiled = call_compiler().compile({Constraint::Kind::structure, *structure, "tools"});
    return compiled ? std::string() : compiled.error().message;
  };
  for (const char* const source : {tool_templates::hermes, tool_templates::coder, tool_templates::gemma}) {
    const ToolForm form = form_by(source);
    EXPECT_THAT(why(form, R"({"type": "object", "properties": {"a": {"not": {}}}})"),
                HasSubstr("'f.parameters': 'not' at '/properties/a'"));
    EXPECT_THAT(
        why(form,
            R"({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "sting"}}}})"),
        HasSubstr("'f.parameters': "));
    EXPECT_THAT(why(form, R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}})"),
                HasSubstr("'f.parameters': "));
    std::string large = R"({"type": "object", "properties": {"a": {"enum": [1)";
    while (large.size() < 2 * GrammarCompiler::max_bytes) large += ", 1234567";
    EXPECT_THAT(why(form, large + "]}}}"), HasSubstr("'f.parameters' may have 262144 bytes"));
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += R"({"items": )";
    EXPECT_THAT(
        why(form, R"({"type": "object", "properties": {"a": )" + deep + "{}" + std::string(101, '}') + "}"),
        HasSubstr("'f.parameters' is nested deeper"));
  }
  const ToolForm coder = form_by(tool_templates::coder);
  EXPECT_THAT(why(coder, R"({"type": "object", "anyOf": [{}]})"),
              HasSubstr("'f.parameters': 'anyOf' at '/'"));
  EXPECT_THAT(why(coder, R"({"type": "object", "properties": {"</x>": {}}})"),
              HasSubstr("'f.parameters': the property '</x>'"));
  EXPECT_THAT(why(coder, R"({"type": "object", "properties": {"a": {"items": {"$ref": "#"}}}})"),
              HasSubstr("'f.parameters': '$ref' must refer"));
  EXPECT_THAT(why(coder, R"({"type": "object", "required": ["a"]})"),
              HasSubstr("'f.parameters': 'a' in 'required'"));
  // A recursive schema is a grammar like any other.
  const std::string recursive = R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}, "additionalProperties": false}}})";
  for (const char* const source : {tool_templates::hermes, tool_templates::coder, tool_templates::lfm})
    EXPECT_EQ(why(form_by(source), recursive), "");
}

}  // namespace
}  // namespace spectr

// JSON schemas: what fits them, and what is refused. tests/oracle compares random schemas with jsonschema.
#include "spectr/engine/rules/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/engine/rules/grammar.h"
#include "spectr/engine/rules/schema_pattern.h"
#include "tests/engine/bundled.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using test::value_of;
using testing::HasSubstr;
using Kind = Constraint::Kind;
using Json = nlohmann::json;

const Tokenizer& tokenizer() {
  return *test::bundled_models()->tokenizer;
}

GrammarCompiler& compiler() {
  static const auto compiler =
      value_of(GrammarCompiler::make(tokenizer(), test::bundled_models()->target->vocabulary()));
  return *compiler;
}

/// True if a text can be written, byte by byte, and may end there.
bool fits(const std::string& schema, std::string_view text) {
  const auto rule = grammar_rule(value_of(compiler().compile({Kind::json_schema, schema})), tokenizer(), 0);
  std::vector<Token> sequence;
  const auto allows = [&](Token token) {
    std::vector<double> logits(test::bundled_models()->target->vocabulary(), 0.0);
    EXPECT_TRUE(rule->apply(sequence, logits));
    return logits[static_cast<std::size_t>(token)] == 0.0;
  };
  for (const char byte : text) {
    const Token token = tokenizer().vocabulary().byte_token(static_cast<std::uint8_t>(byte)).value();
    if (!allows(token)) return false;
    sequence.push_back(token);
  }
  return allows(tokenizer().vocabulary().ends().front());
}

TEST(JsonSchemas, AreTakenAsAWholeOrRefusedByName) {
  const char* taken[] = {
      R"({})",
      R"(true)",
      R"({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})",
      R"({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "A"})",
      R"({"type": ["string", "null"], "maxLength": 20})",
      R"({"oneOf": [{"type": "string"}, {"type": "integer"}]})",
      R"({"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                    {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}]})",
      R"({"type": "integer", "multipleOf": 5})",
      R"({"type": "string", "enum": ["a"]})",
      R"({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})",
      R"({"allOf": [{"type": "string"}]})",
      R"({"type": "object", "additionalProperties": false, "patternProperties": {"^x-": {"type": "string"}}})",
      R"({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}})",
      R"({"type": "object", "minProperties": 1})",
      R"({"type": "integer", "format": "int64", "minLength": 3})",
      R"({"type": "array", "items": {"$ref": "#"}})"};
  for (const char* schema : taken) {
    const auto checked = exact_json_schema(schema, "s");
    EXPECT_TRUE(checked) << schema << ": " << checked.error().message;
  }
  const std::pair<const char*, const char*> refused[] = {
      {R"({"not": {}})", "'s': 'not' at '/' is not supported"},
      {R"({"properties": {"a": {"uniqueItems": true}}})",
       "'s': 'uniqueItems' at '/properties/a' is not supported"},
      {R"({"items": {"contains": {}}})", "'s': 'contains' at '/items' is not supported"},
      {R"({"type": "number", "multipleOf": 0.1})",
       "'s': 'multipleOf' at '/' is supported only for the type integer"},
      {R"({"allOf": [{}, {}]})", "'s': 'allOf' at '/' with several schemas is not supported"},
      {R"({"$ref": "http://a"})", "'s': '$ref' at '/' must refer to the schema itself (#…)"},
      {R"({"oneOf": [{"type": "number"}, {"type": "integer"}]})",
       "'s': 'oneOf' at '/' has schemas that may fit the same value: use 'anyOf'"},
      {R"({"anyOf": [{"type": "string"}], "minLength": 2})",
       "'s': 'minLength' at '/' next to 'anyOf' is not supported"},
      {R"({"maxItems": 1001})", "'s': 'maxItems' at '/' must be at most 1000, got 1001"},
      {R"({"minLength": 2})", "'s': 'minLength' at '/' needs a 'type' next to it"},
      {R"({"type": "object", "anyOf": [{"type": "string"}]})",
       "'s': 'type' at '/' next to 'anyOf' is not supported"},
      {R"({"type": "string", "enum": [1, null]})", "'s': 'enum' has no value of the type \"string\""},
      {R"({"type": []})", "'s': 'type' at '/' lists no type"},
      {R"({"const": 9223372036854775808})", "'s': 'const' at '/' has an integer beyond 64 bits"},
      {R"({"type": "object", "required": ["a"], "additionalProperties": false})",
       "'s': 'required' names 'a', which is not among the 'properties'"},
      {R"({"type": "object", "minProperties": 2})",
       "'s': 'minProperties' at '/' is supported up to the required properties, next to "
       "'additionalProperties': false, or as 1"},
      {R"({"type": "object", "patternProperties": {"a": {}}})",
       "'s': 'patternProperties' at '/' is supported with one pattern, next to 'additionalProperties': "
       "false, "
       "and "
       "without 'properties'"},
      {R"({"type": "object", "propertyNames": {"type": "string"}, "properties": {"a": {}}})",
       "'s': 'propertyNames' at '/' is supported only if all properties are additional"},
      {R"({"type": "string", "pattern": "a", "maxLength": 3})",
       "'s': 'maxLength' next to 'pattern' is not supported"},
      {R"({"type": "string", "pattern": "(?=a)b"})",
       "'s': the pattern '(?=a)b' has look-around or flags, which is not supported"},
      {R"({"type": "string", "pattern": "a^b"})",
       "'s': the pattern 'a^b' has an anchor in its middle, which is not supported"},
      {R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})",
       "'s': no finite value fits the schema at '/', which needs itself"},
      {R"({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}})",
       "'s': no finite value fits the schema at '/', which needs itself"},
      {R"({"$ref": "#/examples/0", "examples": [{"not": {}}]})",
       "'s': '$ref' at '/' refers to '#/examples/0', which is not a schema of it"},
      {R"([])", "'s' must be a JSON schema, an object or true"}};
  for (const auto& [schema, why] : refused) {
    const auto checked = exact_json_schema(schema, "s");
    ASSERT_FALSE(checked) << schema;
    EXPECT_EQ(checked.error().message, why);
  }
}

TEST(JsonSchemas, FitWhatTheyDescribe) {
  struct Case {
    const char* schema;
    std::vector<std::string> fitting, others;
  };
  const Case cases[] = {
      {R"({"type": "string", "enum": ["a", 1, null]})", {"\"a\""}, {"1", "null"}},
      {R"({"required": ["b"], "properties": {"a": {"type": "null"}}})",
       {R"({"b":1})", R"({"a":null,"b":[]})", R"({"b":{},"c":1})"},
       {"{}", R"({"a":null})", R"({"c":1})"}},
      {R"({"type": "object", "unevaluatedProperties": false})", {"{}"}, {R"({"a":1})"}},
      {R"({"type": "array", "prefixItems": [{"type": "null"}], "unevaluatedItems": false})",
       {"[null]"},
       {"[null,1]"}},
      {R"({"type": "array", "prefixItems": [true, {"type": "null"}], "maxItems": 1})",
       {"[1]", "[]"},
       {"[1,null]"}},
      {R"({"type": "string", "pattern": "b"})", {"\"b\"", "\"abc\""}, {"\"a\"", "\"\""}},
      {R"({"type": "string", "pattern": "^a|b$"})", {"\"ax\"", "\"xb\""}, {"\"xa\"", "\"bx\""}},
      {R"({"type": "string", "pattern": "^5(\\.\\d+)?$"})", {"\"5\"", "\"5.12\""}, {"\"512\"", "\"5.\""}},
      {R"({"type": "string", "pattern": "^é.$"})", {"\"éa\"", "\"éé\""}, {"\"é\\\"\"", "\"é\""}},
      {R"({"type": "string", "format": "date"})", {"\"2024-02-29\""}, {"\"2023-02-29\"", "\"2024-04-31\""}},
      {R"({"type": "string", "format": "ipv4"})", {"\"10.0.0.255\""}, {"\"10.0.0.256\"", "\"01.0.0.1\""}},
      {R"({"oneOf": [{"type": "string", "maxLength": 1}, {"type": "integer", "minimum": 5}]})",
       {"\"a\"", "5"},
       {"4"}},
      // No spelling of a listed name is one of another property.
      {R"({"properties": {"é": {"type": "null"}, "a\nb": {"type": "null"}}})",
       {R"({"é":null,"a\nb":null,"a":1,"a\tb":1})", R"({"è":1})"},
       {R"({"é":1})", R"({"\u00e9":1})", R"({"a\nb":1})", R"({"a\u000ab":1})"}},
      {R"({"properties": {"\u007f": {"type": "null"}, "b": {"type": "null"}}})",
       {R"({"\u007f":null,"a":1})", "{\"a\x7f\":1}"},
       {R"({"\u007f":1})", "{\"\x7f\":1}"}},
  };
  for (const Case& one : cases) {
    for (const std::string& text : one.fitting)
      EXPECT_TRUE(fits(one.schema, text)) << one.schema << ": " << text;
    for (const std::string& text : one.others)
      EXPECT_FALSE(fits(one.schema, text)) << one.schema << ": " << text;
  }
}

TEST(JsonSchemas, HaveNoTextsThatAreNotUtf8) {
  EXPECT_TRUE(fits(R"({"type": "string"})", "\"\xed\x9f\xbf\""));
  EXPECT_FALSE(fits(R"({"type": "string"})", "\"\xed\xa0\x80\""));                    // a surrogate
  EXPECT_FALSE(fits(R"({"type": "string", "pattern": "^.$"})", "\"\xe0\x80\x80\""));  // longer than needed
}

TEST(JsonSchemas, OfHostileSizeAreRefusedSoon) {
  const auto properties = [](int count, const Json& one) {
    Json all = Json::object();
    for (int i = 0; i < count; ++i) all[fmt::format("p{}", i)] = one;
    return all;
  };
  const Json text = {{"type", "string"}};
  Json chain = {{"d5000", text}}, loop = Json::object(), branches = Json::array(), numbers = Json::array();
  for (int i = 0; i < 5000; ++i) chain[fmt::format("d{}", i)] = {{"$ref", fmt::format("#/$defs/d{}", i + 1)}};
  for (int i = 0; i < 2000; ++i) {
    loop[fmt::format("d{}", i)] = {
        {"type", "object"},
        {"required", {"a"}},
        {"properties", {{"a", {{"$ref", fmt::format("#/$defs/d{}", (i + 1) % 2000)}}}}}};
  }
  for (int i = 0; i < 4000; ++i) branches.push_back({{"const", i}});
  for (int i = 0; i < 3000; ++i) {
    numbers.push_back(
        {{"type", "integer"}, {"minimum", -123456789012345 + i}, {"maximum", 987654321098765 - i}});
  }
  const std::pair<Json, const char*> cases[] = {
      {{{"$ref", "#/$defs/d0"}, {"$defs", chain}}, "begins a chain of more than 100 references"},
      {{{"$ref", "#/$defs/d0"}, {"$defs", loop}}, "no finite value fits"},
      {{{"oneOf", branches}}, "use 'anyOf'"},
      {{{"type", "array"}, {"prefixItems", numbers}}, "takes longer than"},
      {{{"type", "object"}, {"properties", properties(1000, text)}, {"maxProperties", 500}},
       "takes longer than"},
      {{{"type", "object"}, {"properties", {{std::string(60'000, 'a'), text}}}}, "has a name of 60000 bytes"},
      {{{"type", "string"}, {"pattern", "((((a{0,99}){0,99}){0,99}){0,99})"}},
       "with its repetitions written out"},
      {{{"type", "string"}, {"pattern", std::string(50'000, '(')}}, "is nested too deep"},
      {{{"enum", {std::string(1'000'000, 'x')}}}, "may have 262144 bytes"}};
  for (const auto& [schema, why] : cases) {
    const auto compiled = compiler().compile({Kind::json_schema, schema.dump(), "s"});
    ASSERT_FALSE(compiled) << why;
    EXPECT_EQ(compiled.error().code, ErrorCode::bad_input);
    EXPECT_THAT(compiled.error().message, testing::AllOf(HasSubstr("'s'"), HasSubstr(why)));
  }
}

TEST(JsonSchemas, ThatGrowWithoutBoundAreRefusedSoon) {
  Json copies = {{"type", "null"}};
  for (int i = 0; i < 28; ++i) copies = {{"required", {"a", "b"}}, {"additionalProperties", copies}};
  Json names = Json::array(), values = Json::array(), empty = Json::array();
  for (int i = 0; i < 9900; ++i) names.push_back(fmt::format("n{}", i));
  for (int i = 0; i < 30'000; ++i) values.push_back(i);
  for (int i = 0; i < 87'000; ++i) empty.push_back(Json::object());
  std::string groups = "()", bars = std::string(100'000, '|'),
              letters = "[" + std::string(100'000, 'a') + "]";
  for (int i = 0; i < 40; ++i) {
    groups = fmt::format("({}{{2,}})", groups);
    bars = fmt::format("({}){{2,}}", bars);
    letters = fmt::format("({}){{2,}}", letters);
  }
  Json loop = Json::object(), types = Json::array(), few = Json::array(), many = Json::array();
  for (int i = 0; i < 7000; ++i)
    loop[fmt::format("d{}", i)] = {{"$ref", fmt::format("#/$defs/d{}", (i + 1) % 7000)}};
  for (int i = 0; i < 40'000; ++i) types.push_back(i);
  for (int i = 0; i < 19'000; ++i) {
    few.push_back(i);
    many.push_back(20'000 + i);
  }
  Json members = Json::object(), parts = Json::object();
  for (int i = 0; i < 20'000; ++i) members[fmt::format("m{}", i)] = 0;
  for (int i = 0; i < 9900; ++i) parts[fmt::format("m{}", i)] = Json::object();
  const std::pair<Json, const char*> cases[] = {
      {copies, "is too large with its required properties and patterns written out"},
      {{{"required", names}, {"additionalProperties", {{"enum", values}}}}, "is too large with"},
      {{{"type", "string"}, {"pattern", groups}}, "characters with its repetitions written out"},
      {{{"type", "string"}, {"pattern", bars}}, "bytes with its repetitions written out"},
      {{{"type", "string"}, {"pattern", letters}}, "bytes with its repetitions written out"},
      {{{"$ref", "#/$defs/d0"}, {"$defs", loop}}, "no finite value fits"},
      {{{"type", types}}, "'type' lists more than 7 types"},
      {{{"oneOf", {{{"enum", few}}, {{"enum", many}}}}}, "makes more than 1000000 comparisons"},
      {{{"default", members}}, "has an object of more than 10000 members"},
      {{{"enum", std::vector<int>(110'000, 1)}}, "has more than 100000 values"}};
  for (const auto& [schema, why] : cases) {
    const auto checked = exact_json_schema(schema.dump(), "s");
    ASSERT_FALSE(checked) << why;
    EXPECT_EQ(checked.error().code, ErrorCode::bad_input);
    EXPECT_THAT(checked.error().message, testing::AllOf(HasSubstr("'s'"), HasSubstr(why)));
  }
  EXPECT_TRUE(exact_json_schema(Json({{"enum", empty}}).dump(), "s"));
  EXPECT_TRUE(exact_json_schema(
      Json({{"$defs", {{std::string(130'000, 'x'), {{"properties", parts}}}}}}).dump(), "s"));
}

TEST(JsonSchemas, ThatAreMalformedAreRefusedWithoutAnException) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"required": ["a"], "properties": 5})", "'s': 'properties' must be an object"},
      {R"({"type": "object", "patternProperties": []})", "'s': 'patternProperties' must be an object"},
      {R"({"type": "string", "pattern": "\\u123é"})", "has a malformed escape"},
      {R"({"type": "string", "pattern": "\\xé1"})", "has a malformed escape"},
      {R"({"type": "string", "pattern": "\\cé"})", "has a malformed escape"},
      {R"({"type": "string", "pattern": "\\u{é}"})", "has a malformed escape"},
      {R"({"type": "string", "pattern": "\\u{}"})", "has a malformed escape"}};
  for (const auto& [schema, why] : cases) {
    const auto checked = exact_json_schema(schema, "s");
    ASSERT_FALSE(checked) << schema;
    EXPECT_EQ(checked.error().code, ErrorCode::bad_input);
    EXPECT_THAT(checked.error().message, HasSubstr(why));
  }
  // Every keyword with a value of every other type: accepted or refused, but never thrown.
  for (const char* keyword : {"type",
                              "properties",
                              "required",
                              "additionalProperties",
                              "patternProperties",
                              "propertyNames",
                              "minProperties",
                              "items",
                              "prefixItems",
                              "minItems",
                              "maxItems",
                              "pattern",
                              "format",
                              "minLength",
                              "enum",
                              "const",
                              "anyOf",
                              "oneOf",
                              "allOf",
                              "$ref",
                              "$defs",
                              "multipleOf",
                              "unevaluatedProperties"}) {
    for (const char* value :
         {"null", "true", "-1", "1.5", "\"é\"", "[]", "[0]", "[[]]", "{}", R"({"a":0})"}) {
      for (const char* rest : {"", R"(, "type": "object", "required": ["a"])", R"(, "type": "array")"})
        EXPECT_NO_THROW((void)exact_json_schema(fmt::format(R"({{"{}": {}{}}})", keyword, value, rest), "s"));
    }
  }
}

TEST(JsonSchemas, AreCheckedWhereTheyAreCompiled) {
  const auto why = [](const char* schema) {
    const auto checked = exact_json_schema(schema, "s");
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_THAT(why(R"({"$ref": "#/$defs/a%2Fb",
                      "$defs": {"a/b": {}, "a": {"b": {"if": {}, "then": false}}}})"),
              HasSubstr("which is not a schema of it"));
  EXPECT_EQ(why(R"({"$ref": "#/$defs/a~1%62", "$defs": {"a/b": {}}})"), "");
  EXPECT_THAT(why(R"({"properties": {"propertyNames": {"minLength": 3}}, "required": ["propertyNames"]})"),
              HasSubstr("'minLength' at '/properties/propertyNames' needs a 'type' next to it"));
  EXPECT_THAT(why(R"({"type": "object", "additionalProperties": false,
                      "patternProperties": {"^a$": {"type": "string"}, "^^a$": {"type": "integer"}}})"),
              HasSubstr("'patternProperties' at '/' is supported with one pattern"));
  EXPECT_THAT(why(R"({"oneOf": [{"type": "string"},
                                {"type": "object", "properties": {"a": {"$ref": "#/oneOf/0"}}}]})"),
              HasSubstr("'$ref' at '/oneOf/1/properties/a' refers to a part of a 'oneOf'"));
  EXPECT_EQ(why(R"({"$ref": "#/properties/oneOf", "$defs": {}, "properties": {"oneOf": {}}})"),
            "'s': 'properties' at '/' next to '$ref' is not supported");
  EXPECT_EQ(why(R"({"properties": {"oneOf": {"type": "null"}, "b": {"$ref": "#/properties/oneOf"}}})"), "");
}

TEST(WholePatterns, MatchWhereThePatternMatchesSomewhere) {
  const std::pair<const char*, const char*> cases[] = {{"^a$", "(?:a)"},
                                                       {"a", "(?:[\\s\\S]*a[\\s\\S]*)"},
                                                       {"^(?:a$|b)", ""},
                                                       {"(^a|b$)", "(?:a[\\s\\S]*|[\\s\\S]*b)"},
                                                       {"^a{2,}b{3}c{0,}$", "(?:(?:a{2,2}a*)b{3,3}c*)"},
                                                       {"^é\\.[^]\\d]$", ""},
                                                       {"^(?<year>\\d)+?$", "(?:(?:\\d)+)"}};
  for (const auto& [pattern, whole] : cases) EXPECT_EQ(whole_pattern(pattern).value_or(""), whole) << pattern;
}

}  // namespace
}  // namespace spectr

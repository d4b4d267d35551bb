// Tool calls under a constraint: required calls, arguments that match schemas, and
// grammars that are triggered later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/server/scripted_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

TestJson city_tool(bool strict) {
  return {{"type", "function"},
          {"function",
           {{"name", "get_weather"},
            {"strict", strict},
            {"parameters",
             {{"type", "object"},
              {"required", {"city"}},
              {"additionalProperties", false},
              {"properties", {{"city", {{"enum", {"Rome", "Oslo"}}}}}}}}}}};
}

TestJson clock_definition() {
  return {{"type", "function"},
          {"function",
           {{"name", "get_time"},
            {"parameters",
             {{"type", "object"}, {"additionalProperties", false}, {"properties", TestJson::object()}}}}}};
}

TestJson constrained_request(TestJson fields = TestJson::object(), bool strict = false) {
  TestJson body = {{"messages", {{{"role", "user"}, {"content", "Weather?"}}}},
                   {"tools", {city_tool(strict), clock_definition()}},
                   {"max_tokens", 200},
                   {"temperature", 0}};
  body.update(fields);
  return body;
}

TestJson constrained_answer(const TestServer& server, const TestJson& body) {
  const auto reply = server.post("/v1/chat/completions", body);
  EXPECT_EQ(reply.status, 200) << reply.body;
  return reply.json()["choices"][0];
}

/// A model that calls a tool with a city that the schema does not allow.
const std::vector<std::string> paris = {"Let me see.", "\n\n<tool_call>\n{\"name\": \"get_weather\", ",
                                        "\"arguments\": {\"city\": ", "\"Paris\"", "}}\n</tool_call>"};

TEST(ConstrainedTools, ThatAreRequiredAreCalledWithValidArguments) {
  const ScriptedServer server({"no"});
  const TestJson named = {{"tool_choice", {{"type", "function"}, {"function", {{"name", "get_weather"}}}}}};
  const TestJson choice = constrained_answer(*server, constrained_request(named));
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_TRUE(choice["message"]["content"].is_null()) << choice;
  ASSERT_EQ(choice["message"]["tool_calls"].size(), 1u) << choice;
  const TestJson& call = choice["message"]["tool_calls"][0]["function"];
  EXPECT_EQ(call["name"], "get_weather");
  EXPECT_EQ(call["arguments"], R"({"city":"Oslo"})") << "the first in the alphabet";
  const TestJson any = constrained_answer(*server, constrained_request({{"tool_choice", "required"}}));
  EXPECT_EQ(any["message"]["tool_calls"][0]["function"]["name"], "get_time");
  EXPECT_EQ(any["finish_reason"], "tool_calls");
}

TEST(ConstrainedTools, ThatAreRequiredAreCalledInEveryApi) {
  const ScriptedServer server({"no"});
  const TestJson tool = city_tool(false)["function"];
  const TestJson message =
      server
          ->post("/v1/messages",
                 {{"messages", {{{"role", "user"}, {"content", "a"}}}},
                  {"max_tokens", 200},
                  {"temperature", 0},
                  {"tool_choice", {{"type", "any"}}},
                  {"tools", {{{"name", "get_weather"}, {"input_schema", tool["parameters"]}}}}})
          .json();
  EXPECT_EQ(message["stop_reason"], "tool_use") << message;
  EXPECT_EQ(message["content"][0]["input"], TestJson({{"city", "Oslo"}})) << message;
  const TestJson response =
      server
          ->post("/v1/responses",
                 {{"input", "a"},
                  {"max_output_tokens", 200},
                  {"temperature", 0},
                  {"tool_choice", "required"},
                  {"tools",
                   {{{"type", "function"}, {"name", "get_weather"}, {"parameters", tool["parameters"]}}}}})
          .json();
  EXPECT_EQ(response["output"][0]["type"], "function_call") << response;
  EXPECT_EQ(response["output"][0]["arguments"], R"({"city":"Oslo"})") << response;
}

TEST(ConstrainedTools, ThatAreStrictHaveValidArgumentsWheneverTheyAreCalled) {
  const ScriptedServer server(paris);
  const TestJson free = constrained_answer(*server, constrained_request());
  EXPECT_EQ(free["message"]["tool_calls"][0]["function"]["arguments"], R"({"city":"Paris"})");
  const TestJson strict = constrained_answer(*server, constrained_request(TestJson::object(), true));
  EXPECT_EQ(strict["message"]["content"], "Let me see.");
  ASSERT_EQ(strict["message"]["tool_calls"].size(), 1u) << strict;
  EXPECT_EQ(strict["message"]["tool_calls"][0]["function"]["arguments"], R"({"city":"Oslo"})");
}

TEST(ConstrainedTools, ThatAreStrictNeedNotBeCalled) {
  const ScriptedServer server({"It is ", "{\"name\": \"get_weather\"", "} warm."});
  const TestJson choice = constrained_answer(*server, constrained_request(TestJson::object(), true));
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(choice["message"]["content"], "It is {\"name\": \"get_weather\"} warm.");
}

TEST(ConstrainedTools, StandBesideAFormat) {
  const ScriptedServer silent({"17"});
  const TestJson format = {
      {"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", {{"enum", {17}}}}}}}}};
  const TestJson text = constrained_answer(*silent, constrained_request(format));
  EXPECT_EQ(text["message"]["content"], "17") << text;
  EXPECT_FALSE(text["message"].contains("tool_calls")) << text;
  const ScriptedServer ready(
      {"<tool_call>\n{\"name\": \"get_", "time\"", ", \"arguments\": {", "}}\n</tool_call>"});
  const TestJson call = constrained_answer(*ready, constrained_request(format));
  EXPECT_EQ(call["message"]["tool_calls"][0]["function"]["name"], "get_time") << call;
  const auto refused = [&](TestJson fields) {
    const auto reply = silent->post("/v1/chat/completions", constrained_request(std::move(fields)));
    EXPECT_EQ(reply.status, 400);
    return reply.json()["error"]["message"].get<std::string>();
  };
  EXPECT_THAT(refused({{"grammar", "root ::= \"a\""}}), "'grammar' and 'tools' exclude each other");
  TestJson both = format;
  both["tool_choice"] = "required";
  EXPECT_THAT(refused(both), "'response_format.json_schema.schema' and 'tool_choice' exclude each other");
}

TEST(ConstrainedTools, WithHostileSchemasAreRefusedByField) {
  const ScriptedServer server({"no"});
  const auto refused = [&](const TestJson& parameters) {
    const TestJson tools = {{{"function", {{"name", "f"}, {"parameters", parameters}}}}};
    const auto reply = server->post("/v1/chat/completions",
                                    constrained_request({{"tools", tools}, {"tool_choice", "required"}}));
    EXPECT_EQ(reply.status, 400) << reply.body.substr(0, 500);
    return reply.json()["error"]["message"].get<std::string>();
  };
  TestJson deep = TestJson::object();
  for (int i = 0; i < 60; ++i) deep = {{"items", deep}};
  EXPECT_THAT(refused(deep), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(refused({{"properties", {{"a", {{"uniqueItems", true}}}}}}),
              HasSubstr("'tools[0].function.parameters': 'uniqueItems' at '/properties/a'"));
  // Every level has two references to the next one.
  TestJson definitions = {{"d20", {{"enum", {1}}}}};
  for (int i = 0; i < 20; ++i) {
    const TestJson next = {{"$ref", "#/$defs/d" + std::to_string(i + 1)}};
    definitions["d" + std::to_string(i)] = {{"anyOf", {next, next}}};
  }
  const TestJson ways = {{"type", "object"},
                         {"required", {"a"}},
                         {"additionalProperties", false},
                         {"properties", {{"a", {{"$ref", "#/$defs/d0"}}}}},
                         {"$defs", definitions}};
  const TestJson tools = {{{"function", {{"name", "f"}, {"parameters", ways}}}}};
  const auto reply = server->post("/v1/chat/completions",
                                  constrained_request({{"tools", tools}, {"tool_choice", "required"}}));
  EXPECT_TRUE(reply.status == 200 || reply.status == 400) << reply.status;
}

TEST(LazyGrammars, BeginWithTheirTriggers) {
  const ScriptedServer server({"Say ", "now: ", "<x>", "no"});
  const auto said = [&](const TestJson& trigger) {
    const auto reply =
        server->post("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "a"}}}},
                                              {"temperature", 0},
                                              {"max_tokens", 40},
                                              {"grammar", "root ::= \"<x>\" [ab] \"!\""},
                                              {"grammar_lazy", true},
                                              {"grammar_triggers", {trigger}}});
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json()["choices"][0]["message"]["content"].get<std::string>();
  };
  EXPECT_EQ(said({{"type", "word"}, {"value", "<x>"}}), "Say now: <x>a!");
  EXPECT_EQ(said({{"type", 1}, {"value", "<x"}}), "Say now: <x>a!");
  EXPECT_EQ(said({{"type", "pattern"}, {"value", "now: (<x>)"}}), "Say now: <x>a!");
  EXPECT_EQ(said({{"type", "pattern_full"}, {"value", "Say[^<]*(<[a-z]>)"}}), "Say now: <x>a!");
  EXPECT_EQ(said({{"type", "pattern_full"}, {"value", "now: (<x>)"}}), "Say now: <x>no");
  EXPECT_EQ(said({{"type", "word"}, {"value", "<y>"}}), "Say now: <x>no");
  const TestJson tokens = server->post("/tokenize", TestJson{{"content", "<x>"}}).json()["tokens"];
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(said({{"type", "token"}, {"value", ""}, {"token", tokens[0]}}), "Say now: <x>a!");
}

TEST(LazyGrammars, ThatAreMalformedAreRefusedByName) {
  const ScriptedServer server({"a"});
  const std::pair<TestJson, const char*> cases[] = {
      {{{"grammar_lazy", true}}, "'grammar_lazy' needs 'grammar_triggers'"},
      {{{"grammar_lazy", true}, {"grammar_triggers", {{{"type", "word"}, {"value", "a"}}}}},
       "'grammar_lazy' needs a 'grammar'"},
      {{{"grammar_triggers", {{{"type", "word"}}}}}, "'grammar_triggers[0].value' is missing"},
      {{{"grammar_triggers", {{{"type", "token"}}}}}, "'grammar_triggers[0].token' is missing"},
      {{{"grammar_triggers", {{{"type", 4}}}}}, "'grammar_triggers[0].type' must be"},
      {{{"grammar", "root ::= \"a\""},
        {"grammar_lazy", true},
        {"grammar_triggers", {{{"type", "pattern"}, {"value", "("}}}}},
       "'grammar_triggers[0]': missing closing parenthesis"},
      {{{"grammar", "root ::= \"a\""},
        {"grammar_lazy", true},
        {"grammar_triggers", {{{"type", 1}, {"value", ""}}}}},
       "'grammar_triggers[0]' must have 1 to 4096 bytes"},
  };
  for (const auto& [fields, expected] : cases) {
    TestJson body = {{"prompt", "a"}};
    body.update(fields);
    const auto reply = server->post("/v1/completions", body);
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr(expected)) << fields;
  }
}

}  // namespace
}  // namespace spectr::server

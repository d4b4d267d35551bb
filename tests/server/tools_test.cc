// Tool calls in /v1/chat/completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/server/scripted_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const std::vector<std::string> two_calls = {"I look",
                                            " it up.",
                                            "\n\n<tool_call>\n",
                                            "{\"name\": \"get_weather\", ",
                                            "\"arguments\": {\"city\": ",
                                            "\"Rome\"}}\n",
                                            "</tool_call>",
                                            "\n<tool_call>{\"name\": \"get_time\"}",
                                            "</tool_call>\n"};

TestJson tool_definition(const char* name) {
  return {{"type", "function"},
          {"function",
           {{"name", name}, {"parameters", {{"type", "object"}, {"properties", TestJson::object()}}}}}};
}

TestJson asking(TestJson fields = TestJson::object()) {
  TestJson body = {{"messages", {{{"role", "user"}, {"content", "Weather in Rome?"}}}},
                   {"tools", {tool_definition("get_weather"), tool_definition("get_time")}},
                   {"temperature", 0}};
  body.update(fields);
  return body;
}

TestJson chat_answer(const TestServer& server, const TestJson& body) {
  const auto reply = server.post("/v1/chat/completions", body);
  EXPECT_EQ(reply.status, 200) << reply.body;
  return reply.json()["choices"][0];
}

TEST(Tools, AreCalledByTheAnswer) {
  const ScriptedServer server(two_calls);
  const TestJson choice = chat_answer(*server, asking());
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(choice["message"]["content"], "I look it up.");
  const TestJson& calls = choice["message"]["tool_calls"];
  ASSERT_EQ(calls.size(), 2u) << choice;
  EXPECT_EQ(calls[0]["type"], "function");
  EXPECT_EQ(calls[0]["function"]["name"], "get_weather");
  EXPECT_EQ(TestJson::parse(calls[0]["function"]["arguments"].get<std::string>()),
            TestJson({{"city", "Rome"}}));
  EXPECT_EQ(calls[1]["function"]["name"], "get_time");
  EXPECT_EQ(calls[1]["function"]["arguments"], "{}");
  EXPECT_THAT(calls[0]["id"].get<std::string>(), MatchesRegex("[0-9a-z]{9}"));
  EXPECT_NE(calls[0]["id"], calls[1]["id"]);
}

TEST(Tools, AreStreamedWithTheirIndexIdAndNameFirst) {
  const ScriptedServer server(two_calls);
  std::string content, reason;
  std::vector<TestJson> calls;
  for (const std::string& event : server->post("/v1/chat/completions", asking({{"stream", true}})).events()) {
    if (event == "[DONE]") continue;
    const TestJson choice = TestJson::parse(event)["choices"][0];
    const TestJson& delta = choice["delta"];
    if (delta.contains("content")) {
      EXPECT_TRUE(calls.empty()) << event;
      content += delta["content"].get<std::string>();
    }
    for (const TestJson& call : delta.value("tool_calls", TestJson::array())) {
      if (call["index"] == calls.size()) {
        calls.push_back(call);
        EXPECT_EQ(call["function"]["arguments"], "");
        EXPECT_TRUE(call.contains("id") && call["function"].contains("name")) << event;
      } else {
        ASSERT_EQ(call["index"].get<std::size_t>() + 1, calls.size());
        EXPECT_FALSE(call.contains("id"));
        std::string& arguments = calls.back()["function"]["arguments"].get_ref<std::string&>();
        arguments += call["function"]["arguments"].get<std::string>();
      }
    }
    if (!choice["finish_reason"].is_null()) reason = choice["finish_reason"];
  }
  EXPECT_EQ(content, "I look it up.");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0]["function"]["arguments"], R"({"city":"Rome"})");
  EXPECT_EQ(calls[1]["function"]["arguments"], "{}");
  EXPECT_EQ(reason, "tool_calls");
}

TEST(Tools, MayBeCalledOnceOnly) {
  const ScriptedServer server(two_calls);
  const TestJson choice = chat_answer(*server, asking({{"parallel_tool_calls", false}}));
  EXPECT_EQ(choice["message"]["tool_calls"].size(), 1u);
}

TEST(Tools, ThatNobodyOfferedAreNotCalled) {
  const ScriptedServer server(two_calls);
  for (const TestJson& fields : {TestJson{{"tools", TestJson::array()}}, TestJson{{"tool_choice", "none"}},
                                 TestJson{{"tools", {tool_definition("other")}}}}) {
    const TestJson choice = chat_answer(*server, asking(fields));
    EXPECT_EQ(choice["finish_reason"], "stop") << fields;
    EXPECT_FALSE(choice["message"].contains("tool_calls"));
    EXPECT_THAT(choice["message"]["content"].get<std::string>(), HasSubstr("<tool_call>"));
  }
}

TEST(Tools, WhoseCallIsCutOffAreText) {
  const ScriptedServer server(two_calls);
  const TestJson choice = chat_answer(*server, asking({{"max_tokens", 5}}));
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_FALSE(choice["message"].contains("tool_calls"));
  EXPECT_THAT(choice["message"]["content"].get<std::string>(),
              testing::EndsWith(R"("arguments": {"city": )"));
}

TEST(Tools, AreCalledWithThoughtsBefore) {
  const ScriptedServer server(
      {"<think>\n", "Use <tool_call>?\n", "</think>\n\n", "{\"name\": \"get_time\", ", "\"arguments\": {}}"});
  const TestJson message = chat_answer(*server, asking())["message"];
  EXPECT_EQ(message["reasoning_content"], "Use <tool_call>?");
  EXPECT_EQ(message["tool_calls"][0]["function"]["name"], "get_time");
}

TEST(Tools, AreCalledInThoughtsOnlyIfTheModelEndsTheAnswer) {
  const ScriptedServer server(
      {"<think>\n", "Hm ", "<tool_call>", "{\"name\": \"get_time\"}", "</tool_call>", " so", " be", " it"});
  EXPECT_EQ(chat_answer(*server, asking())["message"]["tool_calls"].size(), 1U);
  for (const TestJson& fields : {TestJson{{"max_tokens", 6}}, TestJson{{"stop", " be"}},
                                 TestJson{{"stop", " be"}, {"reasoning_format", "none"}}}) {
    const TestJson choice = chat_answer(*server, asking(fields));
    EXPECT_NE(choice["finish_reason"], "tool_calls") << fields;
    EXPECT_FALSE(choice["message"].contains("tool_calls")) << fields;
    EXPECT_THAT(choice["message"].dump(), HasSubstr("</tool_call> so")) << fields;
  }
}

TEST(Tools, AreNotCalledInThoughtsThatStayInTheText) {
  const ScriptedServer server({"<think>\n", "Hm ", "<tool_call>", "{\"name\": \"get_time\"}", "</tool_call>",
                               "?", "</think>", "\nNo"});
  const TestJson choice = chat_answer(*server, asking({{"reasoning_format", "none"}}));
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(choice["message"]["content"],
            "<think>\nHm <tool_call>{\"name\": \"get_time\"}</tool_call>?</think>\nNo");
}

TEST(Tools, AreToldLogProbabilitiesOfEveryToken) {
  const ScriptedServer server(two_calls);
  std::size_t told = 0;
  for (const std::string& event :
       server->post("/v1/chat/completions", asking({{"stream", true}, {"logprobs", true}})).events()) {
    if (event == "[DONE]") continue;
    const TestJson probabilities = TestJson::parse(event)["choices"][0]["logprobs"];
    if (!probabilities.is_null()) told += probabilities["content"].size();
  }
  EXPECT_EQ(told, two_calls.size() + 1);  // plus the final event
}

class ToolHistories : public testing::Test {
 protected:
  static std::string prompt(const TestJson& messages) {
    static const ScriptedServer server({"a"});
    const auto reply = server->post("/apply-template", TestJson{{"messages", messages}});
    return reply.status == 200 ? reply.json()["prompt"].get<std::string>() : reply.body;
  }
  static TestJson call(const TestJson& arguments) {
    return {{"role", "assistant"},
            {"content", nullptr},
            {"tool_calls",
             {{{"id", "call_1"},
               {"type", "function"},
               {"function", {{"name", "f"}, {"arguments", arguments}}}}}}};
  }
};

TEST_F(ToolHistories, HaveCallsWithoutContentAndResults) {
  const TestJson result = {{"role", "tool"}, {"tool_call_id", "call_1"}, {"content", "sunny"}};
  for (const TestJson& arguments : {TestJson(R"({"a": 1})"), TestJson{{"a", 1}}}) {
    EXPECT_EQ(
        prompt({call(arguments), result}),
        "<|im_start|>assistant\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"
        "<|im_end|>\n<|im_start|>tool\nsunny<|im_end|>\n<|im_start|>assistant\n");
  }
  EXPECT_THAT(prompt(TestJson::array({call("")})), HasSubstr("\"arguments\": {}"));
  TestJson without_id = result;
  without_id["tool_call_id"] = nullptr;
  EXPECT_THAT(prompt({call("{}"), without_id}), HasSubstr("sunny"));
}

TEST_F(ToolHistories, ThatAreMalformedAreRefusedByName) {
  EXPECT_THAT(prompt(TestJson::array({call("[1]")})),
              HasSubstr("'messages[0].tool_calls[0].function.arguments'"));
  EXPECT_THAT(prompt(TestJson::array({call("{")})),
              HasSubstr("'messages[0].tool_calls[0].function.arguments'"));
  const TestJson user = {{"role", "user"}, {"content", "a"}, {"tool_calls", {1}}};
  EXPECT_THAT(prompt(TestJson::array({user})), HasSubstr("'messages[0].tool_calls'"));
  const TestJson nameless = {{"role", "assistant"}, {"tool_calls", {{{"function", TestJson::object()}}}}};
  EXPECT_THAT(prompt(TestJson::array({nameless})),
              HasSubstr("'messages[0].tool_calls[0].function.name' is missing"));
  EXPECT_THAT(prompt({{{"role", "tool"}}}), HasSubstr("'messages[0].content' is missing"));
}

TEST(ToolDefinitions, ThatAreMalformedAreRefusedByName) {
  const ScriptedServer server({"a"});
  const std::pair<TestJson, const char*> cases[] = {
      {{{"tools", 1}}, "'tools' must be a list"},
      {{{"tools", {1}}}, "'tools[0]' must be an object"},
      {{{"tools", {{{"type", "custom"}}}}}, "'tools[0].type' must be function, got custom"},
      {{{"tools", {{{"type", "function"}}}}}, "'tools[0].function' is missing"},
      {{{"tools", {{{"function", TestJson::object()}}}}}, "'tools[0].function.name' is missing"},
      {{{"tools", {{{"function", {{"name", "a b"}}}}}}}, "'tools[0].function.name' must have"},
      {{{"tools", {tool_definition("f"), tool_definition("f")}}}, "the name of another tool"},
      {{{"tools", {{{"function", {{"name", "f"}, {"strict", true}, {"parameters", {{"not", 1}}}}}}}}},
       "'tools[0].function.parameters': 'not' at '/'"},
      {{{"tools", {{{"function", {{"name", "f"}, {"parameters", 1}}}}}}}, "'tools[0].function.parameters'"},
      {{{"tool_choice", "some"}}, "'tool_choice' must be"},
      {{{"tool_choice", {{"type", "function"}, {"function", {{"name", "other"}}}}}},
       "'tool_choice' names 'other'"},
      {{{"tool_choice", {{"type", "function"}}}}, "'tool_choice' must name a function"},
      {{{"tools", nullptr}, {"tool_choice", "required"}}, "'tool_choice' needs 'tools'"},
      {{{"tool_choice", "required"}, {"add_generation_prompt", false}}, "'tool_choice' needs"},
      {{{"parallel_tool_calls", 1}}, "'parallel_tool_calls'"},
  };
  for (const auto& [fields, expected] : cases) {
    const auto reply = server->post("/v1/chat/completions", asking(fields));
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr(expected)) << fields;
  }
}

}  // namespace
}  // namespace spectr::server

// /v1/messages and /v1/messages/count_tokens, Anthropic's API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/server/scripted_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> thinks_and_calls = {"<think>Hm.",
                                                   "</think>\n\n",
                                                   "I look.",
                                                   "\n<tool_call>\n",
                                                   "{\"name\": \"get_weather\", \"arguments\": ",
                                                   "{\"city\": \"Rome\"}}",
                                                   "\n</tool_call>"};

TestJson message_request(const TestJson& fields = TestJson::object()) {
  TestJson body = {{"model", "any"},
                   {"max_tokens", 100},
                   {"temperature", 0},
                   {"messages", {{{"role", "user"}, {"content", "Weather?"}}}},
                   {"tools", {{{"name", "get_weather"}, {"input_schema", {{"type", "object"}}}}}}};
  body.update(fields);
  return body;
}

TEST(Messages, AreBlocksOfThoughtsTextAndCalls) {
  const ScriptedServer server(thinks_and_calls);
  const auto reply = server->post("/v1/messages?beta=true", message_request());
  ASSERT_EQ(reply.status, 200) << reply.body;
  const TestJson message = reply.json();
  EXPECT_EQ(message["type"], "message");
  EXPECT_EQ(message["role"], "assistant");
  EXPECT_THAT(message["id"].get<std::string>(), testing::StartsWith("msg_"));
  EXPECT_EQ(message["stop_reason"], "tool_use");
  EXPECT_TRUE(message["stop_sequence"].is_null());
  ASSERT_EQ(message["content"].size(), 3u) << message;
  EXPECT_EQ(message["content"][0], TestJson({{"type", "thinking"}, {"thinking", "Hm."}, {"signature", ""}}));
  EXPECT_EQ(message["content"][1], TestJson({{"type", "text"}, {"text", "I look."}}));
  EXPECT_EQ(message["content"][2]["type"], "tool_use");
  EXPECT_EQ(message["content"][2]["name"], "get_weather");
  EXPECT_EQ(message["content"][2]["input"], TestJson({{"city", "Rome"}}));
  EXPECT_EQ(message["usage"]["output_tokens"], thinks_and_calls.size() + 1);
}

TEST(Messages, EndThoughtsThatHaveUsedUpTheirBudget) {
  const ScriptedServer server({"<think>Hm", " one", " two", " three", "</think>\n\n", "Hello"});
  const TestJson thinking = {{"thinking", {{"type", "enabled"}, {"budget_tokens", 2}}}};
  const auto reply = server->post("/v1/messages", message_request(thinking));
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.json()["content"][0]["thinking"], "Hm one two");
  const TestJson chat = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                         {"max_tokens", 40},
                         {"reasoning_budget_tokens", 1},
                         {"reasoning_budget_message", "!"}};
  const auto answer = server->post("/v1/chat/completions", chat);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json()["choices"][0]["message"]["reasoning_content"], "Hm one!");
}

TEST(Messages, CountTheTokensOfThoughts) {
  const auto counted = [](const std::vector<std::string>& tokens, int limit) {
    const ScriptedServer server(tokens);
    const auto answer =
        server->post("/v1/chat/completions",
                     {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}, {"max_tokens", limit}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json()["usage"]["completion_tokens_details"]["reasoning_tokens"].get<int>();
  };
  EXPECT_EQ(counted({"<think>Hm", " one", " two", "</think>\n\n", "Hello", " there"}, 40), 4);
  EXPECT_EQ(counted({"<think>", "Hm", " <", "b>", "</th", "ink>", "Hello"}, 40), 6)
      << "marks of several tokens";
  EXPECT_EQ(counted({"<think>Hm", " one", " two", " three"}, 3), 3) << "the thoughts do not end";
  EXPECT_EQ(counted({"Hello", " <", "think", " there"}, 40), 0) << "content that looks like a mark";
}

TEST(Messages, AreStreamedBlockByBlock) {
  const ScriptedServer server(thinks_and_calls);
  const auto reply = server->post("/v1/messages", message_request({{"stream", true}}));
  EXPECT_THAT(reply.body, HasSubstr("event: message_start\ndata: {\"type\":\"message_start\""));
  EXPECT_THAT(reply.body, Not(HasSubstr("[DONE]")));
  std::string course;
  TestJson blocks = TestJson::array();
  for (const std::string& data : reply.events()) {
    const TestJson event = TestJson::parse(data);
    const std::string type = event["type"];
    if (type == "content_block_start") {
      EXPECT_EQ(event["index"], blocks.size());
      blocks.push_back(event["content_block"]);
      blocks.back()["json"] = "";
      course += "start ";
    } else if (type == "content_block_delta") {
      const std::string kind = event["delta"]["type"];
      const std::string member = kind == "text_delta"        ? "text"
                                 : kind == "thinking_delta"  ? "thinking"
                                 : kind == "signature_delta" ? "signature"
                                                             : "partial_json";
      std::string& text = blocks.back()[member == "partial_json" ? "json" : member].get_ref<std::string&>();
      text += event["delta"][member].get<std::string>();
    } else {
      course += type + " ";
    }
    if (type == "message_delta") {
      EXPECT_EQ(event["delta"]["stop_reason"], "tool_use");
      EXPECT_EQ(event["usage"]["output_tokens"], thinks_and_calls.size() + 1);
    }
  }
  EXPECT_EQ(course,
            "message_start start content_block_stop start content_block_stop start content_block_stop "
            "message_delta message_stop ");
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0]["thinking"], "Hm.");
  EXPECT_EQ(blocks[1]["text"], "I look.");
  EXPECT_EQ(blocks[2]["name"], "get_weather");
  EXPECT_EQ(blocks[2]["input"], TestJson::object());
  EXPECT_EQ(blocks[2]["json"], R"({"city":"Rome"})");
}

TEST(Messages, SayWhyTheyEnd) {
  const ScriptedServer server({"one", " two", " three"});
  const auto reason = [&](const TestJson& fields) {
    const TestJson message = server->post("/v1/messages", message_request(fields)).json();
    return message["stop_reason"].dump() + message["stop_sequence"].dump();
  };
  EXPECT_EQ(reason(TestJson::object()), "\"end_turn\"null");
  EXPECT_EQ(reason({{"max_tokens", 1}}), "\"max_tokens\"null");
  EXPECT_EQ(reason({{"stop_sequences", {"two"}}}), "\"stop_sequence\"\"two\"");
}

TEST(Messages, BecomePromptsOfAnyLength) {
  const ScriptedServer server({"a"});
  const auto tokens = [&](const TestJson& fields) {
    TestJson body = message_request(fields);
    body.erase("max_tokens");
    const auto reply = server->post("/v1/messages/count_tokens", body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json()["input_tokens"].get<int>();
  };
  const int bare = tokens(TestJson::object());
  EXPECT_EQ(server->post("/v1/messages", message_request()).json()["usage"]["input_tokens"], bare);
  const TestJson bill = {{"type", "text"}, {"text", "x-anthropic-billing-header: cc_version=1"}};
  const TestJson brief = {
      {"type", "text"}, {"text", "Be brief."}, {"cache_control", {{"type", "ephemeral"}}}};
  EXPECT_EQ(tokens({{"system", {bill}}}), bare) << "the block differs from request to request";
  EXPECT_EQ(tokens({{"system", {bill, brief}}}), tokens({{"system", "Be brief."}}));
  EXPECT_GT(tokens({{"system", "Be brief."}}), bare);
}

TEST(Messages, HoldCallsAndResults) {
  const ScriptedServer server({"a"});
  const TestJson history = {
      {{"role", "user"}, {"content", "Weather?"}},
      {{"role", "assistant"},
       {"content",
        {{{"type", "thinking"}, {"thinking", "Hm."}, {"signature", "x"}},
         {{"type", "text"}, {"text", "I look."}},
         {{"type", "tool_use"}, {"id", "toolu_1"}, {"name", "get_weather"}, {"input", {{"city", "Rome"}}}}}}},
      {{"role", "user"},
       {"content",
        {{{"type", "tool_result"},
          {"tool_use_id", "toolu_1"},
          {"content", {{{"type", "text"}, {"text", "sunny"}}}}},
         {{"type", "text"}, {"text", "Thanks"}}}}},
      {{"role", "system"}, {"content", "Be brief."}}};
  const TestJson fields = {{"messages", history},
                           {"betas", {"x"}},
                           {"metadata", {{"user_id", "a"}}},
                           {"thinking", {{"type", "enabled"}, {"budget_tokens", 1024}}}};
  const auto reply = server->post("/v1/messages", message_request(fields));
  EXPECT_EQ(reply.status, 200) << reply.body;
  // This is the conversation above for the other API.
  const TestJson chat = {
      {{"role", "user"}, {"content", "Weather?"}},
      {{"role", "assistant"},
       {"content", "I look."},
       {"tool_calls",
        {{{"id", "toolu_1"}, {"function", {{"name", "get_weather"}, {"arguments", R"({"city":"Rome"})"}}}}}}},
      {{"role", "tool"}, {"tool_call_id", "toolu_1"}, {"content", "sunny"}},
      {{"role", "user"}, {"content", "Thanks"}},
      {{"role", "system"}, {"content", "Be brief."}}};
  const TestJson tools = {
      {{"type", "function"}, {"function", {{"name", "get_weather"}, {"parameters", {{"type", "object"}}}}}}};
  const TestJson same =
      server->post("/v1/chat/completions/input_tokens", TestJson{{"messages", chat}, {"tools", tools}})
          .json();
  EXPECT_EQ(reply.json()["usage"]["input_tokens"], same["input_tokens"]);
}

TEST(Messages, NameTheToolsThatASearchHasFound) {
  const ScriptedServer server({"a"});
  const auto tokens = [&](const TestJson& found) {
    const TestJson call = {
        {"type", "tool_use"}, {"id", "toolu_1"}, {"name", "search"}, {"input", TestJson::object()}};
    const TestJson result = {
        {"type", "tool_result"}, {"tool_use_id", "toolu_1"}, {"content", TestJson::array({found})}};
    const TestJson history = {{{"role", "user"}, {"content", "Weather?"}},
                              {{"role", "assistant"}, {"content", TestJson::array({call})}},
                              {{"role", "user"}, {"content", TestJson::array({result})}}};
    const auto reply = server->post("/v1/messages/count_tokens", message_request({{"messages", history}}));
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json()["input_tokens"].get<int>();
  };
  const TestJson reference = {{"type", "tool_reference"}, {"tool_name", "get_weather"}};
  EXPECT_EQ(tokens(reference), tokens({{"type", "text"}, {"text", "get_weather"}}));
  EXPECT_GT(tokens(reference), tokens({{"type", "text"}, {"text", ""}}));
}

TEST(Messages, ThatAreMalformedAreRefusedByName) {
  const ScriptedServer server({"a"});
  const auto user = [](const TestJson& content) {
    return TestJson{{"messages", {{{"role", "user"}, {"content", content}}}}};
  };
  const std::pair<TestJson, const char*> cases[] = {
      {{{"messages", nullptr}}, "'messages' must be a list"},
      {{{"messages", {1}}}, "'messages[0]' must be an object"},
      {{{"messages", {{{"role", "tool"}, {"content", "a"}}}}}, "'messages[0].role' must be user"},
      {{{"messages", {{{"role", "user"}}}}}, "'messages[0].content' is missing"},
      {user({{{"type", "image"}}}), "'messages[0].content[0]' has the type image"},
      {user({{{"type", "tool_use"}}}), "'messages[0].content[0]' has the type tool_use"},
      {user({{{"type", "tool_result"}}}), "'messages[0].content[0].tool_use_id' is missing"},
      {user({1}), "'messages[0].content[0]' must be an object with a type"},
      {{{"system", 1}}, "'system' must be a string or a list of blocks"},
      {{{"tools", {{{"name", "f"}, {"strict", true}, {"input_schema", {{"not", 1}}}}}}},
       "'tools[0].input_schema': 'not' at '/'"},
      {{{"tools", {{{"type", "web_search_20250305"}, {"name", "web_search"}}}}},
       "'tools[0]' has the type web_search"},
      {{{"tool_choice", {{"type", "tool"}, {"name", "other"}}}}, "'tool_choice' names 'other'"},
      {{{"tool_choice", {{"type", "some"}}}}, "'tool_choice.type' must be"},
      {{{"thinking", {{"type", "some"}}}}, "'thinking.type' must be"},
      {{{"stop_sequences", "a"}}, "'stop_sequences' must be a list"},
      {{{"max_tokens", 0}}, "'max_tokens'"},
      {{{"temperature", -1}}, "'temperature'"},
      {{{"mcp_servers", {1}}}, "'mcp_servers' is not supported"},
  };
  for (const auto& [fields, expected] : cases) {
    const auto reply = server->post("/v1/messages", message_request(fields));
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_EQ(reply.json()["type"], "error") << fields;
    EXPECT_EQ(reply.error(), "invalid_request_error");
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr(expected)) << fields;
  }
}

}  // namespace
}  // namespace spectr::server

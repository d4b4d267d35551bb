// /v1/responses, OpenAI's Responses API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/server/scripted_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

const std::vector<std::string> thinks_says_calls = {"<think>Hm.",
                                                    "</think>\n\n",
                                                    "I look.",
                                                    "\n<tool_call>\n",
                                                    "{\"name\": \"get_weather\", \"arguments\": ",
                                                    "{\"city\": \"Rome\"}}",
                                                    "\n</tool_call>"};

TestJson response_request(const TestJson& fields = TestJson::object()) {
  TestJson body = {{"model", "any"},
                   {"input", "Weather?"},
                   {"temperature", 0},
                   {"store", false},
                   {"include", {"reasoning.encrypted_content"}},
                   {"tools",
                    {{{"type", "function"}, {"name", "get_weather"}, {"parameters", {{"type", "object"}}}},
                     {{"type", "web_search"}}}}};
  body.update(fields);
  return body;
}

/// Returns the items without their ids.
TestJson without_ids(TestJson items) {
  for (TestJson& item : items) {
    item.erase("id");
    item.erase("call_id");
  }
  return items;
}

TEST(Responses, AreItemsOfThoughtsTextAndCalls) {
  const ScriptedServer server(thinks_says_calls);
  const auto reply = server->post("/v1/responses", response_request());
  ASSERT_EQ(reply.status, 200) << reply.body;
  const TestJson response = reply.json();
  EXPECT_EQ(response["object"], "response");
  EXPECT_EQ(response["status"], "completed");
  EXPECT_THAT(response["id"].get<std::string>(), testing::StartsWith("resp_"));
  EXPECT_EQ(without_ids(response["output"]), TestJson::parse(R"([
    {"type": "reasoning", "status": "completed", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
    {"type": "message", "status": "completed", "role": "assistant",
     "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
    {"type": "function_call", "status": "completed", "name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}])"));
  EXPECT_EQ(response["usage"]["output_tokens"], thinks_says_calls.size() + 1);
  EXPECT_EQ(response["usage"]["output_tokens_details"]["reasoning_tokens"], 2);
}

TEST(Responses, AreStreamedAsEventsThatAddUpToTheWhole) {
  const ScriptedServer server(thinks_says_calls);
  const auto reply = server->post("/v1/responses", response_request({{"stream", true}}));
  EXPECT_THAT(reply.body, HasSubstr("event: response.created\ndata: {\"type\":\"response.created\""));
  std::string course, text, thoughts, arguments;
  std::size_t sequence = 0;
  TestJson done = TestJson::array(), last;
  for (const std::string& data : reply.events()) {
    last = TestJson::parse(data);
    EXPECT_EQ(last["sequence_number"], sequence++);
    const std::string type = last["type"].get<std::string>().substr(9);  // after "response."
    if (type == "output_text.delta") text += last["delta"].get<std::string>();
    if (type == "reasoning_text.delta") thoughts += last["delta"].get<std::string>();
    if (type == "function_call_arguments.delta") arguments += last["delta"].get<std::string>();
    if (type.starts_with("output_item")) {
      EXPECT_EQ(last["output_index"], done.size());
    }
    if (type == "output_item.done") done.push_back(last["item"]);
    if (!type.ends_with(".delta")) course += type + "\n";
  }
  EXPECT_EQ(
      course,
      "created\nin_progress\n"
      "output_item.added\ncontent_part.added\nreasoning_text.done\ncontent_part.done\noutput_item.done\n"
      "output_item.added\ncontent_part.added\noutput_text.done\ncontent_part.done\noutput_item.done\n"
      "output_item.added\nfunction_call_arguments.done\noutput_item.done\ncompleted\n");
  EXPECT_EQ(thoughts, "Hm.");
  EXPECT_EQ(text, "I look.");
  EXPECT_EQ(arguments, R"({"city":"Rome"})");
  EXPECT_EQ(last["response"]["output"], done);
}

TEST(Responses, ThatAreCutOffAreIncomplete) {
  const ScriptedServer server({"one", " two"});
  const TestJson response =
      server->post("/v1/responses", response_request({{"max_output_tokens", 1}})).json();
  EXPECT_EQ(response["status"], "incomplete");
  EXPECT_EQ(response["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(response["output"][0]["status"], "incomplete");
  EXPECT_EQ(response["output"][0]["content"][0]["text"], "one");
  const auto probe =
      server->post("/v1/responses", TestJson{{"input", TestJson::array()}, {"max_output_tokens", 1}});
  EXPECT_EQ(probe.status, 200) << probe.body;
}

TEST(Responses, GoOnFromItems) {
  const ScriptedServer server({"a"});
  const TestJson items = {
      {{"type", "message"},
       {"role", "developer"},
       {"content", {{{"type", "input_text"}, {"text", "Be brief."}}}}},
      {{"role", "user"}, {"content", "Weather?"}},
      {{"type", "reasoning"}, {"summary", TestJson::array()}, {"encrypted_content", nullptr}},
      {{"type", "message"},
       {"role", "assistant"},
       {"content", {{{"type", "output_text"}, {"text", "I look."}}}}},
      {{"type", "function_call"},
       {"call_id", "c1"},
       {"name", "get_weather"},
       {"arguments", "{\"city\": \"Rome\"}"}},
      {{"type", "function_call_output"},
       {"call_id", "c1"},
       {"output", {{{"type", "input_text"}, {"text", "sunny"}}}}}};
  const auto reply =
      server->post("/v1/responses", response_request({{"input", items}, {"instructions", "Help."}}));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const TestJson chat = {
      {{"role", "system"}, {"content", "Help."}},
      {{"role", "system"}, {"content", "Be brief."}},
      {{"role", "user"}, {"content", "Weather?"}},
      {{"role", "assistant"},
       {"content", "I look."},
       {"tool_calls",
        {{{"id", "c1"}, {"function", {{"name", "get_weather"}, {"arguments", "{\"city\": \"Rome\"}"}}}}}}},
      {{"role", "tool"}, {"tool_call_id", "c1"}, {"content", "sunny"}}};
  const TestJson tools = {
      {{"type", "function"}, {"function", {{"name", "get_weather"}, {"parameters", {{"type", "object"}}}}}}};
  const TestJson same =
      server->post("/v1/chat/completions/input_tokens", TestJson{{"messages", chat}, {"tools", tools}})
          .json();
  EXPECT_EQ(reply.json()["usage"]["input_tokens"], same["input_tokens"]);
}

TEST(Responses, ThatAreMalformedAreRefusedByName) {
  const ScriptedServer server({"a"});
  const std::pair<TestJson, const char*> cases[] = {
      {{{"input", nullptr}}, "'input' is missing"},
      {{{"input", 1}}, "'input' must be a string or a list"},
      {{{"input", {1}}}, "'input[0]' must be an object"},
      {{{"input", {{{"type", "web_search_call"}}}}}, "'input[0]' has the type web_search_call"},
      {{{"input", {{{"role", "king"}, {"content", "a"}}}}}, "'input[0].role' must be"},
      {{{"input", {{{"role", "user"}}}}}, "'input[0].content' is missing"},
      {{{"input", {{{"role", "user"}, {"content", {{{"type", "input_image"}}}}}}}},
       "'input[0].content[0]' has the type input_image"},
      {{{"input", {{{"type", "function_call"}}}}}, "'input[0].name' is missing"},
      {{{"input", {{{"type", "function_call"}, {"name", "f"}, {"arguments", "["}}}}},
       "'input[0].arguments' must be"},
      {{{"input", {{{"type", "function_call_output"}, {"output", "a"}}}}}, "'input[0].call_id' is missing"},
      {{{"previous_response_id", "resp_1"}}, "'previous_response_id' is not supported"},
      {{{"background", true}}, "'background' is not supported"},
      {{{"text", {{"format", {{"type", "json_object"}}}}}, {"tool_choice", "required"}},
       "'text.format' and 'tool_choice' exclude each other"},
      {{{"tools", {{{"type", "function"}, {"name", "f"}, {"strict", true}, {"parameters", {{"not", 1}}}}}}},
       "'tools[0].parameters': 'not' at '/'"},
      {{{"tool_choice", "some"}}, "'tool_choice' must be"},
      {{{"tool_choice", {{"type", "function"}, {"name", "other"}}}}, "'tool_choice' names 'other'"},
      {{{"max_output_tokens", 0}}, "'max_output_tokens'"},
  };
  for (const auto& [fields, expected] : cases) {
    const auto reply = server->post("/v1/responses", response_request(fields));
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(reply.json()["error"]["message"].get<std::string>(), HasSubstr(expected)) << fields;
  }
}

TEST(Responses, HaveModelsUnderBothNames) {
  const ScriptedServer server({"a"});
  const TestJson models = server->get("/v1/models").json();
  EXPECT_EQ(models["models"][0]["name"], models["data"][0]["id"]);
}

}  // namespace
}  // namespace spectr::server

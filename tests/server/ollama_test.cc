// /api/chat, /api/generate and other endpoints that Ollama's clients use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/scripted_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> looks_up = {"<think>Hm.",
                                           "</think>\n\n",
                                           "I look.",
                                           "\n<tool_call>\n",
                                           "{\"name\": \"get_weather\", \"arguments\": ",
                                           "{\"city\": \"Rome\"}}",
                                           "\n</tool_call>"};

TestJson ollama_chat(TestJson fields = TestJson::object()) {
  TestJson body = {{"model", "llama3:latest"},
                   {"messages", {{{"role", "user"}, {"content", "Weather?"}}}},
                   {"stream", false}};
  body.update(fields);
  return body;
}

const TestJson weather_tools = {
    {"tools",
     {{{"type", "function"},
       {"function", {{"name", "get_weather"}, {"parameters", {{"type", "object"}}}}}}}}};

/// Returns the objects of a stream, one per line.
std::vector<TestJson> lines_of(const std::string& body) {
  std::vector<TestJson> lines;
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = body.find('\n', begin);
    EXPECT_NE(end, std::string::npos) << "a line without an end";
    lines.push_back(TestJson::parse(body.substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

void expect_statistics(const TestJson& last, std::size_t tokens) {
  EXPECT_EQ(last["done"], true);
  EXPECT_EQ(last["eval_count"], tokens);
  EXPECT_GT(last["prompt_eval_count"], 5);
  EXPECT_EQ(last["load_duration"], 0);
  for (const char* name : {"total_duration", "prompt_eval_duration", "eval_duration"})
    EXPECT_TRUE(last[name].is_number_integer()) << name;
  EXPECT_GE(last["total_duration"].get<long>(), last["eval_duration"].get<long>());
  EXPECT_GT(last["eval_duration"], 1000) << "nanoseconds";
}

TEST(OllamaChat, HasThoughtsTextAndCalls) {
  const ScriptedServer server(looks_up);
  const auto reply = server->post("/api/chat", ollama_chat(weather_tools));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const TestJson told = reply.json();
  EXPECT_THAT(told["created_at"].get<std::string>(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z"));
  EXPECT_EQ(told["message"]["role"], "assistant");
  EXPECT_EQ(told["message"]["thinking"], "Hm.");
  EXPECT_EQ(told["message"]["content"], "I look.");
  ASSERT_EQ(told["message"]["tool_calls"].size(), 1u) << told;
  const TestJson& function = told["message"]["tool_calls"][0]["function"];
  EXPECT_EQ(function["name"], "get_weather");
  EXPECT_EQ(function["arguments"], TestJson({{"city", "Rome"}})) << "an object, not a text";
  EXPECT_EQ(function["index"], 0);
  EXPECT_EQ(told["done_reason"], "stop");
  expect_statistics(told, looks_up.size() + 1);
}

TEST(OllamaChat, IsStreamedLineByLineUnlessItIsAskedNotTo) {
  const ScriptedServer server(looks_up);
  TestJson body = ollama_chat(weather_tools);
  body.erase("stream");
  const auto reply = server->post("/api/chat", body);
  EXPECT_EQ(reply.header("Content-Type"), "application/x-ndjson");
  const std::vector<TestJson> lines = lines_of(reply.body);
  ASSERT_GE(lines.size(), 2u) << "tokens that come at once share a line";
  std::string thinking, content;
  TestJson calls = TestJson::array();
  for (const TestJson& line : lines) {
    EXPECT_TRUE(line.contains("created_at"));
    EXPECT_EQ(line["done"], &line == &lines.back());
    thinking += line["message"].value("thinking", "");
    content += line["message"]["content"];
    for (const TestJson& call : line["message"].value("tool_calls", TestJson::array())) calls.push_back(call);
  }
  EXPECT_EQ(thinking, "Hm.");
  EXPECT_EQ(content, "I look.");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0]["function"]["arguments"]["city"], "Rome");
  expect_statistics(lines.back(), looks_up.size() + 1);
}

TEST(OllamaChat, TakesMessagesAsItGivesThem) {
  const ScriptedServer server({"a"});
  const TestJson history = {
      {{"role", "system"}, {"content", "Be brief."}},
      {{"role", "user"}, {"content", "Weather?"}, {"images", TestJson::array()}},
      {{"role", "assistant"},
       {"content", ""},
       {"thinking", "Hm."},
       {"tool_calls", {{{"function", {{"name", "get_weather"}, {"arguments", {{"city", "Rome"}}}}}}}}},
      {{"role", "tool"}, {"tool_name", "get_weather"}, {"content", "sunny"}}};
  const auto reply = server->post("/api/chat", ollama_chat({{"messages", history}}));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const TestJson chat = {
      history[0],
      {{"role", "user"}, {"content", "Weather?"}},
      {{"role", "assistant"},
       {"content", ""},
       {"tool_calls", {{{"function", {{"name", "get_weather"}, {"arguments", R"({"city":"Rome"})"}}}}}}},
      {{"role", "tool"}, {"content", "sunny"}}};
  const TestJson same =
      server->post("/v1/chat/completions/input_tokens", TestJson{{"messages", chat}}).json();
  EXPECT_EQ(reply.json()["prompt_eval_count"], same["input_tokens"]);
}

TEST(OllamaGenerate, AnswersOneMessage) {
  const ScriptedServer server({"<think>Hm.", "</think>\n\n", "Hello", " you"});
  const auto generate = [&](TestJson fields) {
    TestJson body = {{"prompt", "Hi"}, {"stream", false}};
    body.update(fields);
    const auto reply = server->post("/api/generate", body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  };
  const TestJson told = generate(TestJson::object());
  EXPECT_EQ(told["response"], "Hello you");
  EXPECT_EQ(told["thinking"], "Hm.");
  EXPECT_FALSE(told.contains("message"));
  expect_statistics(told, 5);
  const auto tokens = [&](const TestJson& messages) {
    return server->post("/v1/chat/completions/input_tokens", TestJson{{"messages", messages}})
        .json()["input_tokens"];
  };
  const TestJson hi = {{"role", "user"}, {"content", "Hi"}};
  EXPECT_EQ(told["prompt_eval_count"], tokens(TestJson::array({hi})));
  EXPECT_EQ(generate({{"system", "Be brief."}})["prompt_eval_count"],
            tokens({{{"role", "system"}, {"content", "Be brief."}}, hi}));
  const TestJson raw = generate({{"raw", true}, {"prompt", "a prompt\n"}});
  EXPECT_EQ(raw["prompt_eval_count"], 9) << "the text as it is";
  EXPECT_EQ(raw["response"], "<think>Hm.</think>\n\nHello you");
}

TEST(OllamaGenerate, LimitsAndOptionsAreHeeded) {
  const ScriptedServer server({"one", " two", " three"});
  const auto told = [&](const TestJson& options, const char* keep = "5m") {
    return server
        ->post("/api/generate",
               TestJson{{"prompt", "Hi"}, {"stream", false}, {"keep_alive", keep}, {"options", options}})
        .json();
  };
  EXPECT_EQ(told({{"num_predict", 2}})["response"], "one two");
  EXPECT_EQ(told({{"num_predict", 2}})["done_reason"], "length");
  EXPECT_EQ(told({{"num_predict", -1}})["response"], "one two three");
  EXPECT_EQ(told({{"num_predict", -2}})["done_reason"], "stop");
  EXPECT_EQ(told({{"stop", {" three"}}})["response"], "one two");
  const TestJson all = {{"num_keep", 5},
                        {"seed", 42},
                        {"num_predict", 100},
                        {"top_k", 20},
                        {"top_p", 0.9},
                        {"min_p", 0.0},
                        {"typical_p", 1.0},
                        {"repeat_last_n", 33},
                        {"temperature", 0.8},
                        {"repeat_penalty", 1.2},
                        {"presence_penalty", 1.5},
                        {"frequency_penalty", 1.0},
                        {"mirostat", 0},
                        {"mirostat_tau", 0.8},
                        {"mirostat_eta", 0.6},
                        {"penalize_newline", true},
                        {"stop", {"\n", "user:"}},
                        {"numa", false},
                        {"num_ctx", 1024},
                        {"num_batch", 2},
                        {"num_gpu", 1},
                        {"main_gpu", 0},
                        {"low_vram", false},
                        {"vocab_only", false},
                        {"use_mmap", true},
                        {"use_mlock", false},
                        {"num_thread", 8}};
  EXPECT_EQ(told(all)["response"], "one two three");
}

class OllamaOfTheBundledModels : public WithServer<2> {};

TEST_F(OllamaOfTheBundledModels, SamplesAsTheOtherApisDo) {
  const TestJson options = {{"seed", 7}, {"temperature", 1.0}, {"num_predict", 12}};
  const TestJson raw = {
      {"prompt", "Once upon a time"}, {"raw", true}, {"stream", false}, {"options", options}};
  const TestJson same = {{"prompt", "Once upon a time"}, {"max_tokens", 12}, {"seed", 7}, {"temperature", 1}};
  EXPECT_EQ(server().post("/api/generate", raw).json()["response"],
            server().post("/v1/completions", same).json()["choices"][0]["text"]);
}

TEST_F(OllamaOfTheBundledModels, FollowsAFormat) {
  const auto response = [&](const TestJson& format) {
    const TestJson body = {
        {"prompt", "Once"}, {"format", format}, {"stream", false}, {"options", {{"seed", 1}}}};
    const auto reply = server().post("/api/generate", body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json()["response"].get<std::string>();
  };
  EXPECT_THAT(response({{"enum", {17, 42}}}), testing::AnyOf("17", "42"));
  EXPECT_THAT(response("json"), StartsWith("{"));
  EXPECT_EQ(server().post("/api/generate", TestJson{{"prompt", "Once"}, {"format", ""}}).status, 200);
}

TEST_F(OllamaOfTheBundledModels, TellsLogProbabilities) {
  const TestJson body = {{"messages", {{{"role", "user"}, {"content", "Once upon a time"}}}},
                         {"logprobs", true},
                         {"top_logprobs", 2},
                         {"stream", false},
                         {"options", {{"num_predict", 3}, {"temperature", 0}}}};
  const TestJson told = server().post("/api/chat", body).json();
  ASSERT_EQ(told["logprobs"].size(), 3u) << told;
  EXPECT_EQ(told["logprobs"][0]["top_logprobs"].size(), 2u);
  EXPECT_EQ(told["logprobs"][0]["logprob"], told["logprobs"][0]["top_logprobs"][0]["logprob"]);
}

TEST_F(OllamaOfTheBundledModels, DescribesTheModel) {
  const TestJson model = server().get("/api/tags").json()["models"][0];
  EXPECT_EQ(model["name"], "spectr-stories-7m-q8_0");
  EXPECT_EQ(model["model"], model["name"]);
  EXPECT_GT(model["size"], 7'000'000);
  EXPECT_THAT(model["digest"].get<std::string>(), MatchesRegex("[0-9a-f]{16}"));
  EXPECT_THAT(model["modified_at"].get<std::string>(), StartsWith("20"));
  EXPECT_EQ(model["details"]["format"], "gguf");
  EXPECT_EQ(model["details"]["family"], "llama");
  EXPECT_EQ(model["details"]["quantization_level"], "Q8_0");
  EXPECT_THAT(model["details"]["parameter_size"].get<std::string>(), MatchesRegex("7\\.[0-9]M"));
  for (const auto& [name, value] : model.items())
    EXPECT_EQ(server().get("/v1/models").json()["models"][0][name], value) << name;

  const TestJson running = server().get("/api/ps").json()["models"][0];
  EXPECT_EQ(running["digest"], model["digest"]);
  EXPECT_TRUE(running["expires_at"].is_null()) << "it stays";
  EXPECT_EQ(running["size_vram"], 0);
  EXPECT_EQ(running["context_length"], TestServer::context);

  const TestJson shown = server().post("/api/show", TestJson{{"model", "any"}, {"verbose", true}}).json();
  EXPECT_EQ(shown["details"], model["details"]);
  EXPECT_EQ(shown["model_info"]["general.architecture"], "llama");
  EXPECT_EQ(shown["model_info"]["llama.context_length"], 512);
  EXPECT_TRUE(shown["model_info"]["tokenizer.ggml.tokens"].is_null());
  EXPECT_EQ(shown["capabilities"][0], "completion");
  EXPECT_THAT(shown["parameters"].get<std::string>(), HasSubstr("temperature"));
  EXPECT_THAT(server().get("/api/version").json()["version"].get<std::string>(),
              MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(server().get("/api/show").status, 405);
}

TEST(OllamaModels, TellWhatTheyAreCapableOf) {
  const ScriptedServer server({"a"});
  const TestJson shown = server->post("/api/show", TestJson::object()).json();
  const std::string capabilities = shown["capabilities"].dump();
  EXPECT_THAT(capabilities, HasSubstr("tools"));
  EXPECT_THAT(capabilities, Not(HasSubstr("insert")));
  EXPECT_EQ(shown["template"], tool_templates::hermes);
}

TEST(OllamaRequests, WithoutAPromptLoadTheModel) {
  const ScriptedServer server({"a"});
  const TestJson chat = server->post("/api/chat", TestJson{{"model", "m"}}).json();
  EXPECT_EQ(chat["done_reason"], "load");
  EXPECT_EQ(chat["message"]["content"], "");
  const TestJson empty = {{"model", "m"}, {"messages", TestJson::array()}};
  EXPECT_EQ(server->post("/api/chat", empty).json()["done"], true);
  const TestJson generate = server->post("/api/generate", TestJson{{"model", "m"}, {"keep_alive", 0}}).json();
  EXPECT_EQ(generate["done_reason"], "load");
  EXPECT_EQ(generate["response"], "");
}

TEST(OllamaRequests, ThinkAsTheyAreTold) {
  const char* const told =
      "{{ messages[0].content ~ enable_thinking ~ (reasoning_effort or '') }}"
      "{% if add_generation_prompt %}{{ '\n' }}{% endif %}";
  const ScriptedServer server({"a"}, {}, told);
  const auto tokens = [&](const TestJson& think) {
    const auto reply = server->post("/api/chat", ollama_chat({{"think", think}}));
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json()["prompt_eval_count"].get<int>();
  };
  const int yes = tokens(true);
  EXPECT_EQ(tokens(false), yes + 1) << "False and not True";
  EXPECT_EQ(tokens("high"), yes + 4);
}

TEST(OllamaRequests, ThatAreMalformedAreRefusedByName) {
  const ScriptedServer server({"a"});
  const TestJson hi = {{"prompt", "Hi"}};
  const auto message = [](TestJson fields) {
    TestJson one = {{"role", "user"}, {"content", "a"}};
    one.update(fields);
    return TestJson{{"messages", TestJson::array({one})}};
  };
  struct Case {
    const char* path;
    TestJson fields;
    const char* expected;
  };
  const char *chat = "/api/chat", *generate = "/api/generate";
  const Case cases[] = {
      {chat, {{"messages", "Hi"}}, "'messages' must be a list"},
      {chat, {{"messages", {1}}}, "'messages[0]' must be an object"},
      {chat, message({{"role", "king"}}), "'messages[0].role' must be system, user, assistant or tool"},
      {chat, message({{"content", 1}}), "'messages[0].content' must be a string"},
      {chat, message({{"images", {"iVBORw0KGgo="}}}), "'messages[0].images' is not supported"},
      {chat, message({{"tool_calls", {{{"function", {{"name", "f"}}}}}}}),
       "'messages[0].tool_calls' must be"},
      {chat, {{"tools", {TestJson::object()}}}, "'tools[0].function' is missing"},
      {chat, {{"format", "xml"}}, "'format' must be json or a JSON schema"},
      {chat, {{"format", {{"not", TestJson::object()}}}}, "'format'"},
      {chat, {{"think", "hard"}}, "'think' must be"},
      {chat, {{"options", 1}}, "'options' must be an object"},
      {chat, {{"options", {{"temperature", -1}}}}, "'options.temperature'"},
      {chat, {{"options", {{"num_predict", -3}}}}, "'options.num_predict'"},
      {chat, {{"options", {{"mirostat", 3}}}}, "'options.mirostat'"},
      {chat, {{"options", {{"tfs_z", 0.5}}}}, "'options.tfs_z' is not supported"},
      {chat, {{"options", {{"stop", 1}}}}, "'stop' must be a string"},
      {chat, {{"stream", 1}}, "'stream' must be true or false"},
      {generate, {{"prompt", {"a"}}}, "'prompt' must be a string"},
      {generate, {{"images", {"iVBORw0KGgo="}}}, "'images' is not supported"},
      {generate, {{"template", "{{ .Prompt }}"}}, "'template' is not supported"},
      {generate, {{"context", {1, 2}}}, "'context' is not supported"},
      {generate, {{"raw", true}, {"system", "a"}}, "'raw' and 'system' exclude each other"},
  };
  for (const auto& [path, fields, expected] : cases) {
    TestJson body = path == chat ? ollama_chat() : hi;
    body.update(fields);
    const auto reply = server->post(path, body);
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(reply.json()["error"].get<std::string>(), HasSubstr(expected)) << fields;
  }
  const std::string long_text(5000, 'a');
  const auto reply = server->post(generate, TestJson{{"prompt", long_text}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.json()["error"].get<std::string>(), HasSubstr("but the context holds 4096"));
}

}  // namespace
}  // namespace spectr::server

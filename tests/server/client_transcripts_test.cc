// Requests that coding agents have sent (tests/data/clients), replayed: each is answered by a stream of its
// protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/scripted_server.h"

namespace spectr::server {
namespace {

/// Renders only the names of tools. After the result of a tool, the header of an answer ends with a colon,
/// which begins the second script of the model.
constexpr const char* names_of_tools =
    "{% for t in tools or [] %}{{ t.function.name ~ '\n' }}{% endfor %}"
    "{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\n' ~ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ '\n<tool_call>\n{\"name\": \"' ~ c.function.name ~ '\", "
    "\"arguments\": ' ~ "
    "(c.function.arguments | tojson) ~ '}\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant' ~ "
    "(':' if messages | selectattr('role', 'equalto', 'tool') | list else '\n') }}{% endif %}";

/// The content of a stream. Calls are objects with `name` and `arguments`.
struct StreamedAnswer {
  std::string thoughts = {}, text = {}, reason = {};
  TestJson calls = TestJson::array();
};

TestJson call_of(const TestJson& name, const std::string& arguments) {
  return {{"name", name}, {"arguments", TestJson::parse(arguments)}};
}

StreamedAnswer read_chat_stream(const std::vector<std::string>& events, bool reports_usage) {
  StreamedAnswer answer;
  std::vector<std::pair<TestJson, std::string>> calls;
  const std::size_t deltas = events.size() - (reports_usage ? 2 : 1);
  EXPECT_EQ(events.back(), "[DONE]");
  for (std::size_t i = 0; i < deltas; ++i) {
    EXPECT_EQ(answer.reason, "") << "the reason ends the answer";
    const TestJson choice = TestJson::parse(events[i]).at("choices").at(0);
    const TestJson& delta = choice.at("delta");
    EXPECT_EQ(delta.value("role", ""), i == 0 ? "assistant" : "");
    answer.thoughts += delta.value("reasoning_content", "");
    answer.text += delta.value("content", "");
    for (const TestJson& call : delta.value("tool_calls", TestJson::array())) {
      const TestJson& function = call.at("function");
      if (call.contains("id")) calls.emplace_back(function.at("name"), "");
      calls.at(call.at("index").get<std::size_t>()).second += function.at("arguments").get<std::string>();
    }
    if (!choice.at("finish_reason").is_null()) answer.reason = choice.at("finish_reason");
  }
  if (reports_usage) {
    const TestJson last = TestJson::parse(events[deltas]);
    EXPECT_TRUE(last.at("choices").empty());
    EXPECT_GT(last.at("usage").at("prompt_tokens").get<int>(), 0);
  }
  for (const auto& [name, arguments] : calls) answer.calls.push_back(call_of(name, arguments));
  return answer;
}

StreamedAnswer read_message_stream(const std::vector<std::string>& events) {
  StreamedAnswer answer;
  TestJson block;  // the open block; null if none is open
  std::string arguments;
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TestJson event = TestJson::parse(events[i]);
    const std::string type = event.at("type");
    EXPECT_EQ(type == "message_start", i == 0);
    EXPECT_EQ(type == "message_stop", i + 1 == events.size());
    if (type.starts_with("content_block")) {
      EXPECT_EQ(block.is_null(), type == "content_block_start");
      EXPECT_EQ(event.at("index"), blocks);
    }
    if (type == "content_block_start") {
      block = event.at("content_block");
    } else if (type == "content_block_delta") {
      const TestJson& delta = event.at("delta");
      answer.thoughts += delta.value("thinking", "");
      answer.text += delta.value("text", "");
      arguments += delta.value("partial_json", "");
    } else if (type == "content_block_stop") {
      if (block.at("type") == "tool_use") answer.calls.push_back(call_of(block.at("name"), arguments));
      arguments.clear();
      block = nullptr;
      ++blocks;
    } else if (type == "message_delta") {
      answer.reason = event.at("delta").at("stop_reason");
    }
  }
  return answer;
}

StreamedAnswer read_response_stream(const std::vector<std::string>& events) {
  StreamedAnswer answer;
  std::size_t items = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TestJson event = TestJson::parse(events[i]);
    const std::string type = event.at("type");
    EXPECT_EQ(event.at("sequence_number"), i);
    EXPECT_EQ(type == "response.created", i == 0);
    EXPECT_EQ(type == "response.completed", i + 1 == events.size());
    if (event.contains("output_index")) {
      EXPECT_EQ(event.at("output_index"), items);
    }
    if (type == "response.reasoning_text.delta") {
      answer.thoughts += event.at("delta").get<std::string>();
    } else if (type == "response.output_text.delta") {
      answer.text += event.at("delta").get<std::string>();
    } else if (type == "response.output_item.done") {
      const TestJson& item = event.at("item");
      if (item.at("type") == "function_call")
        answer.calls.push_back(call_of(item.at("name"), item.at("arguments")));
      ++items;
    } else if (type == "response.completed") {
      answer.reason = event.at("response").at("status");
    }
  }
  return answer;
}

/// Returns true if the conversation of a request has results of tools.
bool has_results(const TestJson& body) {
  const std::string text = body.dump();
  for (const char* const mark : {R"("role":"tool")", R"("tool_result")", R"("function_call_output")"}) {
    if (text.contains(mark)) return true;
  }
  return false;
}

class ClientTranscripts : public testing::TestWithParam<const char*> {
 protected:
  static TestJson transcript() {
    std::ifstream file(source_folder() / "tests/data/clients" / (std::string(GetParam()) + ".json"));
    return TestJson::parse(file);
  }

  /// Returns the tokens of an answer with thoughts, text and these calls. No two are equal.
  static std::vector<std::string> script(const TestJson& calls) {
    std::vector<std::string> tokens = {"<think>\nHm.", "\n</think>\n\n", "I write it."};
    for (std::size_t i = 0; i < calls.size(); ++i) {
      tokens.push_back(std::string(i + 2, '\n') + "<tool_call>\n");
      tokens.push_back("{\"name\": " + calls[i].at("name").dump() +
                       ", \"arguments\":" + std::string(i + 1, ' ') + calls[i].at("arguments").dump() + "}");
      tokens.push_back("\n</tool_call>" + std::string(i, '\n'));
    }
    return tokens;
  }

  static const char* reason(const std::string& path, bool calls) {
    if (path.starts_with("/v1/messages")) return calls ? "tool_use" : "end_turn";
    if (path.starts_with("/v1/responses")) return "completed";
    return calls ? "tool_calls" : "stop";
  }

  static StreamedAnswer answer(const TestServer& server, const TestJson& request) {
    http::Headers headers;
    for (const auto& [name, value] : request.at("headers").items())
      headers.add(name, value.get<std::string>());
    const std::string path = request.at("path");
    const TestJson& body = request.at("body");
    const auto reply = server.ask(request.at("method").get<std::string>(), path, headers, body.dump());
    const std::vector<std::string> events = reply.events();
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_THAT(reply.header("Content-Type"), testing::HasSubstr("text/event-stream"));
    EXPECT_GE(events.size(), 3U) << reply.body;
    if (events.size() < 3) return {};
    if (path.starts_with("/v1/messages")) return read_message_stream(events);
    if (path.starts_with("/v1/responses")) return read_response_stream(events);
    const TestJson options = body.value("stream_options", TestJson::object());
    return read_chat_stream(events, options.value("include_usage", false));
  }
};

TEST_P(ClientTranscripts, AreAnsweredTurnByTurn) {
  const TestJson recorded = transcript();
  const TestJson &calls = recorded.at("calls"), &requests = recorded.at("requests");
  const ScriptedServer server(script(calls), {"Done."}, names_of_tools);
  ASSERT_GE(requests.size(), 2U);
  for (const TestJson& request : requests) {
    const TestJson& body = request.at("body");
    const bool has_called = has_results(body), will_call = body.contains("tools") && !has_called;
    const StreamedAnswer said = answer(*server, request);
    EXPECT_EQ(said.calls, will_call ? calls : TestJson::array()) << body;
    EXPECT_EQ(said.thoughts, has_called ? "" : "Hm.");
    EXPECT_THAT(said.text, testing::StartsWith(has_called ? "Done." : "I write it."));
    EXPECT_EQ(said.reason, reason(request.at("path").get<std::string>(), will_call));
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, ClientTranscripts,
                         testing::Values("aider", "claude_code", "codex", "opencode", "pi", "qwen_code"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace spectr::server

#include <fmt/format.h>

#include <utility>

#include "apps/server/answers/format.h"

namespace spectr::server {
namespace {

/// Format of /v1/responses, OpenAI's API of items (reasoning, message, tool calls). A complete response is
/// the sum of the events of its stream.
class ResponsesFormat final : public Format {
 public:
  explicit ResponsesFormat(const AnswerHead& head) : head_(head) {}

  Events opening(std::size_t) override {
    Events events;
    for (const char* const type : {"response.created", "response.in_progress"})
      add(events, type, "response", response("in_progress"));
    return events;
  }

  Events chunk(std::size_t, const AnswerDelta& delta) override {
    Events events;
    if (!delta.reasoning.empty()) add_text(events, reasoning_part, delta.reasoning);
    if (!delta.text.empty()) add_text(events, output_part, delta.text);
    for (const ToolCall& call : delta.calls) add_call(events, call);
    return events;
  }

  Events end(std::size_t, const CompletionResult& result, bool) override {
    Events events;
    close(events, is_over(result) ? "completed" : "incomplete");
    add(events, is_over(result) ? "response.completed" : "response.incomplete", "response", ended(result));
    return events;
  }

  std::optional<Json> usage(std::span<const CompletionResult>) const override { return std::nullopt; }
  bool says_done() const override { return false; }
  Framing framing() const override { return Framing::named_events; }

  Json failure(const ApiError& error) const override {
    Json failed = response("failed");
    failed["error"] = {{"code", "server_error"}, {"message", error.what()}};
    Json event = {{"type", "response.failed"}, {"sequence_number", sequence_}};
    event["response"] = std::move(failed);
    return event;
  }

  Json whole(std::span<const FinishedText> texts) const override {
    ResponsesFormat builder(head_);
    const auto& [all, result] = texts.front();
    builder.chunk(0, all);
    builder.end(0, result, !all.calls.empty());
    return builder.ended(result);
  }

 private:
  /// A kind of text in an item.
  struct Part {
    const char *item, *prefix, *type, *event;
  };
  static constexpr Part reasoning_part{"reasoning", "rs", "reasoning_text", "response.reasoning_text"};
  static constexpr Part output_part{"message", "msg", "output_text", "response.output_text"};

  static bool is_over(const CompletionResult& result) { return finish_reason(result) == "stop"; }

  Json response(const char* status) const {
    const WarpOptions& sampling = head_.request.warp;
    Json all = {{"id", head_.id}, {"object", "response"}, {"created_at", head_.created}, {"status", status}};
    all["error"] = nullptr;
    all["incomplete_details"] = nullptr;
    all["model"] = head_.model;
    all["output"] = output_;
    all["parallel_tool_calls"] = head_.request.chat.tools.parallel.value_or(true);
    all["previous_response_id"] = nullptr;
    all["store"] = false;
    all["temperature"] = sampling.temperature;
    all["top_p"] = sampling.top_p;
    all["tools"] = Json::array();
    all["usage"] = nullptr;
    return all;
  }

  /// Returns the finished response.
  Json ended(const CompletionResult& result) const {
    Json all = response(is_over(result) ? "completed" : "incomplete");
    if (!is_over(result)) all["incomplete_details"] = {{"reason", "max_output_tokens"}};
    const Json usage = usage_of(head_.prepared, {&result, 1});
    all["usage"] = {{"input_tokens", usage["prompt_tokens"]},
                    {"input_tokens_details", usage["prompt_tokens_details"]},
                    {"output_tokens", usage["completion_tokens"]},
                    {"output_tokens_details", usage["completion_tokens_details"]},
                    {"total_tokens", usage["total_tokens"]}};
    return all;
  }

  void add(Events& events, std::string type, const char* member, Json value) {
    Json event = {{"type", std::move(type)}, {"sequence_number", sequence_++}};
    event[member] = std::move(value);
    events.push_back(std::move(event));
  }

  /// Adds an event of the current item.
  void add_to_item(Events& events, std::string type, const char* member, Json value) {
    add(events, std::move(type), member, std::move(value));
    events.back()["output_index"] = output_.size();
    if (!std::string_view(member).contains("item")) events.back()["item_id"] = item_["id"];
  }

  void add_to_part(Events& events, std::string type, const char* member, Json value) {
    add_to_item(events, std::move(type), member, std::move(value));
    events.back()["content_index"] = 0;
  }

  std::string item_id(const char* prefix) const {
    return fmt::format("{}_{}_{}", prefix, head_.id, output_.size());
  }

  static Json part_json(const Part& part, const std::string& text) {
    Json json = {{"type", part.type}, {"text", text}};
    if (&part == &output_part) json["annotations"] = Json::array();
    return json;
  }

  void add_text(Events& events, const Part& part, const std::string& text) {
    if (part_ != &part) {
      close(events, "completed");
      part_ = &part;
      item_ = {{"id", item_id(part.prefix)}, {"type", part.item}, {"status", "in_progress"}};
      if (part_ == &reasoning_part) item_["summary"] = Json::array();
      if (part_ == &output_part) item_["role"] = "assistant";
      item_["content"] = Json::array();
      add_to_item(events, "response.output_item.added", "item", item_);
      add_to_part(events, "response.content_part.added", "part", part_json(part, ""));
    }
    text_ += text;
    add_to_part(events, std::string(part.event) + ".delta", "delta", text);
  }

  void add_call(Events& events, const ToolCall& call) {
    close(events, "completed");
    item_ = {{"id", item_id("fc")}, {"type", "function_call"}, {"status", "in_progress"}};
    item_["call_id"] = call.id;
    item_["name"] = call.name;
    item_["arguments"] = "";
    add_to_item(events, "response.output_item.added", "item", item_);
    add_to_item(events, "response.function_call_arguments.delta", "delta", call.arguments);
    add_to_item(events, "response.function_call_arguments.done", "arguments", call.arguments);
    item_["arguments"] = call.arguments;
    close_item(events, "completed");
  }

  /// Closes the current text, if there is one.
  void close(Events& events, const char* status) {
    if (part_ == nullptr) return;
    const Part& part = *std::exchange(part_, nullptr);
    const std::string text = std::exchange(text_, {});
    add_to_part(events, std::string(part.event) + ".done", "text", text);
    add_to_part(events, "response.content_part.done", "part", part_json(part, text));
    item_["content"].push_back(part_json(part, text));
    close_item(events, status);
  }

  void close_item(Events& events, const char* status) {
    item_["status"] = status;
    add_to_item(events, "response.output_item.done", "item", item_);
    output_.push_back(std::move(item_));
  }

  const AnswerHead& head_;
  std::size_t sequence_ = 0;
  Json output_ = Json::array();  // complete items
  Json item_;                    // the current item
  const Part* part_ = nullptr;   // kind of its text; null: no item is open
  std::string text_;             // text of that part
};

}  // namespace

std::unique_ptr<Format> responses_format(const AnswerHead& head) {
  return std::make_unique<ResponsesFormat>(head);
}

}  // namespace spectr::server

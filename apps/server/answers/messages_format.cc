#include <utility>

#include "apps/server/answers/format.h"

namespace spectr::server {
namespace {

/// Format of /v1/messages, Anthropic's API: a message of blocks, which a stream sends one after the other.
class MessagesFormat final : public Format {
 public:
  explicit MessagesFormat(const AnswerHead& head) : head_(head) {}

  Events opening(std::size_t) override {
    Json message = message_with(Json::array());
    message["usage"] = {{"input_tokens", prompt_tokens_of(head_.prepared)}, {"output_tokens", 0}};
    return Events(1, Json{{"type", "message_start"}, {"message", std::move(message)}});
  }

  Events chunk(std::size_t, const AnswerDelta& delta) override {
    Events events;
    if (!delta.reasoning.empty()) {
      go_to("thinking", {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}, events);
      add(events, "thinking_delta", "thinking", delta.reasoning);
    }
    if (!delta.text.empty()) {
      go_to("text", {{"type", "text"}, {"text", ""}}, events);
      add(events, "text_delta", "text", delta.text);
    }
    for (const ToolCall& call : delta.calls) {
      close(events);
      Json block = {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}};
      block["input"] = Json::object();
      go_to("tool_use", std::move(block), events);
      add(events, "input_json_delta", "partial_json", call.arguments);
      close(events);
    }
    return events;
  }

  Events end(std::size_t, const CompletionResult& result, bool called) override {
    Events events;
    close(events);
    Json last = {{"type", "message_delta"}};
    last["delta"] = stop_of(result, called);
    last["usage"] = usage_of_message({&result, 1});
    events.push_back(std::move(last));
    events.push_back({{"type", "message_stop"}});
    return events;
  }

  std::optional<Json> usage(std::span<const CompletionResult>) const override { return std::nullopt; }
  bool says_done() const override { return false; }
  Framing framing() const override { return Framing::named_events; }
  Json failure(const ApiError& error) const override { return error_json(error, Api::messages); }

  Json whole(std::span<const FinishedText> texts) const override {
    const auto& [all, result] = texts.front();
    Json content = Json::array();
    if (!all.reasoning.empty())
      content.push_back({{"type", "thinking"}, {"thinking", all.reasoning}, {"signature", ""}});
    if (!all.text.empty()) content.push_back({{"type", "text"}, {"text", all.text}});
    for (const ToolCall& call : all.calls) {
      Json block = {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}};
      block["input"] = Json::parse(call.arguments);
      content.push_back(std::move(block));
    }
    Json message = message_with(std::move(content));
    message.update(stop_of(result, !all.calls.empty()));
    message["usage"] = usage_of_message({&result, 1});
    return message;
  }

 private:
  Json message_with(Json content) const {
    Json message = {{"id", head_.id}, {"type", "message"}, {"role", "assistant"}, {"model", head_.model}};
    message["content"] = std::move(content);
    message["stop_reason"] = nullptr;
    message["stop_sequence"] = nullptr;
    return message;
  }

  static Json stop_of(const CompletionResult& result, bool called) {
    const bool is_over = finish_reason(result) == "stop";
    Json stop = Json::object();
    stop["stop_reason"] = !is_over                              ? "max_tokens"
                          : called                              ? "tool_use"
                          : result.reason == FinishReason::word ? "stop_sequence"
                                                                : "end_turn";
    stop["stop_sequence"] = result.stop_word.empty() ? Json(nullptr) : Json(result.stop_word);
    return stop;
  }

  /// Reports prompt tokens that came from a cache separately.
  Json usage_of_message(std::span<const CompletionResult> results) const {
    const Json usage = usage_of(head_.prepared, results);
    const std::size_t prompt = usage["prompt_tokens"],
                      cached = usage["prompt_tokens_details"]["cached_tokens"];
    return {{"input_tokens", prompt - cached},
            {"cache_creation_input_tokens", 0},
            {"cache_read_input_tokens", cached},
            {"output_tokens", usage["completion_tokens"]}};
  }

  /// Opens a block of that type unless one is open, after closing any other block.
  void go_to(std::string_view type, Json block, Events& events) {
    if (open_ == type) return;
    close(events);
    open_ = type;
    Json event = {{"type", "content_block_start"}, {"index", block_}};
    event["content_block"] = std::move(block);
    events.push_back(std::move(event));
  }

  void add(Events& events, const char* type, const char* member, const std::string& text) const {
    Json event = {{"type", "content_block_delta"}, {"index", block_}};
    event["delta"] = {{"type", type}, {member, text}};
    events.push_back(std::move(event));
  }

  void close(Events& events) {
    if (open_.empty()) return;
    if (open_ == "thinking") add(events, "signature_delta", "signature", "");
    events.push_back({{"type", "content_block_stop"}, {"index", block_++}});
    open_ = {};
  }

  const AnswerHead& head_;
  std::string_view open_;  // type of the open block; empty if none is open
  std::size_t block_ = 0;
};

}  // namespace

std::unique_ptr<Format> messages_format(const AnswerHead& head) {
  return std::make_unique<MessagesFormat>(head);
}

}  // namespace spectr::server

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spectr {

/// A tool call by the assistant.
struct ToolCall {
  std::string id;         ///< refers to the call in the message with its result
  std::string name;       ///< the tool
  std::string arguments;  ///< a JSON object
  bool operator==(const ToolCall&) const = default;
};

/// A message of a conversation.
struct ChatMessage {
  std::string role;                ///< "system", "user", "assistant" or "tool" (the result of a call)
  std::vector<std::string> parts;  ///< the content
  bool is_list = false;            ///< the content was given as a list of text parts, not as one string
  std::optional<std::string> name = {};
  std::optional<std::string> reasoning = {};  ///< reasoning of an assistant before its answer
  std::vector<ToolCall> calls = {};           ///< calls of an assistant, after its content
  std::optional<std::string> call_id = {};    ///< tools only: the id of the call

  static ChatMessage of(std::string role, std::string content) {
    return {std::move(role), {std::move(content)}};
  }

  /// Returns the content as one string, its parts on separate lines.
  std::string text() const;
};

}  // namespace spectr

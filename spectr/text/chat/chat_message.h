#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spectr {

/// A message of a conversation.
struct ChatMessage {
  std::string role;                ///< "system", "user" or "assistant"
  std::vector<std::string> parts;  ///< the content
  bool is_list = false;            ///< the content came as a list of text parts, not as one string
  std::optional<std::string> name = {};
  std::optional<std::string> reasoning = {};  ///< what an assistant thought before it answered

  static ChatMessage of(std::string role, std::string content) {
    return {std::move(role), {std::move(content)}};
  }

  /// Returns the content as one string, its parts on separate lines.
  std::string text() const;
};

}  // namespace spectr

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace spectr::cli {

/// The lines typed in earlier conversations and in this one, kept in a file that only its owner can read:
/// one line each, with line breaks and backslashes escaped. Conversations that run at once append to it in
/// turn.
class ChatHistory {
 public:
  static constexpr std::size_t max_lines = 1000;

  /// `chat_history` in $XDG_STATE_HOME/spectr or ~/.local/state/spectr; empty if neither variable is set.
  static std::string default_path();

  /// Reads the last max_lines lines. A missing file has none. Lines are not kept if `path` is empty.
  explicit ChatHistory(std::string path);

  /// Oldest first.
  const std::vector<std::string>& lines() const { return lines_; }

  /// Appends a line; false if it is the last one already. That the file cannot be written is no error.
  bool add(const std::string& line);

 private:
  std::string path_;
  std::vector<std::string> lines_;
};

}  // namespace spectr::cli

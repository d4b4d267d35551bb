#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace spectr::cli {

/// The lines typed in earlier conversations and in this one. They are stored in a file that only its
/// owner can read, one per line, with line breaks and backslashes escaped. Concurrent conversations
/// append to it.
class ChatHistory {
 public:
  static constexpr std::size_t max_lines = 1000;

  /// Returns `chat_history` in $XDG_STATE_HOME/spectr or ~/.local/state/spectr; empty if neither is set.
  static std::string default_path();

  /// Reads the last max_lines lines. A missing file is empty. If `path` is empty, lines are not stored.
  explicit ChatHistory(std::string path);

  /// Lines in the order in which they were typed.
  const std::vector<std::string>& lines() const { return lines_; }

  /// Appends a line. Returns false if it equals the last one. Write errors are ignored.
  bool add(const std::string& line);

 private:
  std::string path_;
  std::vector<std::string> lines_;
};

}  // namespace spectr::cli

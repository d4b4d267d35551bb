#include "apps/cli/chat/chat_history.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "spectr/base/os/files.h"

namespace spectr::cli {
namespace {

namespace fs = std::filesystem;

std::string escaped(const std::string& line) {
  std::string text;
  for (const char c : line) {
    if (c == '\n') text += "\\n";
    if (c == '\\') text += "\\\\";
    if (c != '\n' && c != '\\') text += c;
  }
  return text;
}

std::string unescaped(const std::string& text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    if (is_escape) ++i;
    line += is_escape && text[i] == 'n' ? '\n' : text[i];
  }
  return line;
}

}  // namespace

std::string ChatHistory::default_path() {
  const auto below = [](const char* variable, const char* rest) {
    const char* const folder = std::getenv(variable);
    return folder != nullptr && *folder != '\0' ? std::string(folder) + rest : std::string();
  };
  const std::string state = below("XDG_STATE_HOME", "/spectr/chat_history");
  return !state.empty() ? state : below("HOME", "/.local/state/spectr/chat_history");
}

ChatHistory::ChatHistory(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code failed;
  const fs::path folder = fs::path(path_).parent_path();
  if (!folder.empty() && fs::create_directories(folder, failed))
    fs::permissions(folder, fs::perms::owner_all, failed);
  std::ifstream file(path_, std::ios::binary);
  for (std::string line; std::getline(file, line);) lines_.push_back(unescaped(line));
  if (lines_.size() <= max_lines) return;
  const bool is_long = lines_.size() > 2 * max_lines;
  lines_.erase(lines_.begin(), lines_.end() - static_cast<std::ptrdiff_t>(max_lines));
  if (!is_long) return;
  std::string text;
  for (const std::string& line : lines_) text += escaped(line) + '\n';
  (void)write_file(path_, text, {.replaces = true, .owner_only = true});
}

bool ChatHistory::add(const std::string& line) {
  if (!lines_.empty() && lines_.back() == line) return false;
  lines_.push_back(line);
  if (!path_.empty()) (void)write_file(path_, escaped(line) + '\n', {.owner_only = true});
  return true;
}

}  // namespace spectr::cli

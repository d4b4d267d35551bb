#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/token.h"

namespace spectr::cli {

/// A text given with -p or as a file with -f (-: standard input).
struct TextInput {
  std::optional<std::string> text;
  std::optional<std::string> file;
  bool escapes = false;  ///< in the text

  /// `meaning`: what the text is, for the help.
  void add(CLI::App& app, const std::string& meaning);
  void add_file(CLI::App& app);
  /// The bytes as they are, no newline added or cut, but for a byte order mark at the beginning of a file; of
  /// -p with -e, what its escapes stand for. Throws Failure unless exactly one was given and is readable.
  std::string read() const;
  /// The same without the newline at the end of a file, as editors leave one.
  std::string read_prompt() const;
};

/// Returns what the escapes in a text stand for; any other backslash stands for itself.
std::string read_escapes(std::string_view text);

/// Returns the contents of a text file without the UTF-8 byte order mark that it may begin with. Throws
/// Failure.
std::string read_file(const std::string& path);

/// Throws Failure where standard input ended because it cannot be read: a folder, or a descriptor that is
/// closed, would otherwise pass for an empty input.
void check_standard_input();

/// "1,2,3" → ids below `vocabulary`; throws Failure naming the flag and the entry.
std::vector<Token> parse_tokens(const std::string& list, std::size_t vocabulary,
                                const std::string& flag = "--tokens");

}  // namespace spectr::cli

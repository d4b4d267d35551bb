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
  bool escapes = false;  ///< escapes in the text are processed

  /// Adds the flags. `meaning` describes the text in the help.
  void add(CLI::App& app, const std::string& meaning);
  void add_file(CLI::App& app);
  /// Returns the bytes unchanged, except for a byte-order mark at the beginning of a file and, for -p with
  /// -e, escapes. Throws Failure unless exactly one of the flags was given and is readable.
  std::string read() const;
  /// Returns the same without the final line break of a file, which editors add.
  std::string read_prompt() const;
};

/// Processes escapes in a text. Other backslashes are kept.
std::string read_escapes(std::string_view text);

/// Returns the contents of a text file without a leading UTF-8 byte-order mark.
/// Throws Failure.
std::string read_file(const std::string& path);

/// Throws Failure if reading standard input failed. Otherwise a folder or a closed descriptor would look
/// like empty input.
void check_standard_input();

/// Parses "1,2,3" as ids below `vocabulary`. Throws Failure naming the flag and the entry.
std::vector<Token> parse_tokens(const std::string& list, std::size_t vocabulary,
                                const std::string& flag = "--tokens");

}  // namespace spectr::cli

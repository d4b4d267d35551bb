#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace spectr::cli {

/// Parts of a command's help in addition to its options.
struct HelpPage {
  std::string_view command;   ///< path such as "bench methods"; empty: the program
  std::string_view options;   ///< options shown by --help, space-separated; empty: all
  std::string_view examples;  ///< command lines, one per line
};

/// Returns the help page of a command, or null if there is none.
const HelpPage* help_page(std::string_view command);

/// Maximum width of help texts in columns.
constexpr std::size_t help_width = 100;

/// Prints the most common options for --help, and everything, including examples, for --help-all.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace spectr::cli

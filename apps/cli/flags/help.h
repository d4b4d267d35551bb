#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace spectr::cli {

/// What a command's help shows besides its options.
struct HelpPage {
  std::string_view command;   ///< its path, "bench methods"; empty: the program
  std::string_view options;   ///< those of --help, separated by spaces; empty: all
  std::string_view examples;  ///< command lines, a line each
};

/// The page of a command; null if it has none.
const HelpPage* help_page(std::string_view command);

/// Columns that help texts take at most.
constexpr std::size_t help_width = 100;

/// Prints what most people need for --help, and all commands, options, variables and examples for --help-all.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace spectr::cli

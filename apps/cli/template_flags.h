#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace spectr::cli {

/// The flags for a chat template instead of the model's own.
class TemplateFlags {
 public:
  void add(CLI::App& command);
  /// The template that was given, if one was. Throws Failure where it is none, or cannot be read.
  std::optional<std::string> read() const;

 private:
  std::string text_;
  std::string file_;
};

}  // namespace spectr::cli

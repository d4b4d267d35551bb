#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "spectr/engine/engine_models.h"

namespace spectr::cli {

/// The flags for a chat template that replaces the model's own, for its variables, and for the treatment
/// of reasoning.
class TemplateFlags {
 public:
  void add(CLI::App& command);
  /// Returns the given options. Throws Failure if a template is invalid or cannot be read.
  ChatOptions read() const;
  /// Returns the reasoning budget, or nothing if it is unlimited or reasoning is disabled.
  std::optional<ReasoningLimit> reasoning_limit() const;

 private:
  std::string text_;
  std::string file_;
  bool special_in_content_ = false;
  std::string format_ = "auto";
  std::string variables_;  // a JSON object
  std::string effort_;
  std::optional<bool> thinks_;
  std::optional<std::size_t> budget_;  // reasoning budget in tokens
  std::string budget_message_;
};

}  // namespace spectr::cli

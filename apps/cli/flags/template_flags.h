#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "spectr/engine/engine_models.h"

namespace spectr::cli {

/// The flags for a chat template instead of the model's own, for its variables, for what messages may hold,
/// and for whether answers have thoughts and what becomes of them.
class TemplateFlags {
 public:
  void add(CLI::App& command);
  /// What was given. Throws Failure where a template is none, or cannot be read.
  ChatOptions read() const;
  /// The limit of reasoning that was given; none where there is no limit, or no reasoning.
  std::optional<ReasoningLimit> reasoning_limit() const;

 private:
  std::string text_;
  std::string file_;
  bool special_in_content_ = false;
  std::string format_ = "auto";
  std::string variables_;  // JSON
  std::string effort_;
  std::optional<bool> thinks_;
  std::optional<std::size_t> budget_;  // tokens of reasoning
  std::string budget_message_;
};

}  // namespace spectr::cli

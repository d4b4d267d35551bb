#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "apps/server/model_set.h"

namespace spectr::cli {

/// The flags for a chat template instead of the model's own, for what messages may hold, and for what becomes
/// of an answer's thoughts.
class TemplateFlags {
 public:
  void add(CLI::App& command);
  /// What was given. Throws Failure where a template is none, or cannot be read.
  server::ChatOptions read() const;

 private:
  std::string text_;
  std::string file_;
  bool special_in_content_ = false;
  std::string reasoning_ = "auto";
};

}  // namespace spectr::cli

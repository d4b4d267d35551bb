#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "apps/server/model_set.h"

namespace spectr::cli {

/// The flags for a chat template instead of the model's own, and for what messages may hold.
class TemplateFlags {
 public:
  void add(CLI::App& command);
  /// What was given. Throws Failure where a template is none, or cannot be read.
  server::ChatOptions read() const;

 private:
  std::string text_;
  std::string file_;
  bool special_in_content_ = false;
};

}  // namespace spectr::cli

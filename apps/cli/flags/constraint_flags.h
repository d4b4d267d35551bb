#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "spectr/engine/rules/grammar.h"

namespace spectr::cli {

/// The flags for a grammar or a JSON schema that constrains a completion.
class ConstraintFlags {
 public:
  void add(CLI::App& command);
  /// Returns the constraint, if one was given. Throws Failure if a file cannot be read.
  std::optional<Constraint> read() const;

 private:
  std::string grammar_, grammar_file_, schema_, schema_file_;
};

}  // namespace spectr::cli

#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "spectr/engine/engine.h"

namespace spectr::cli {

/// --prompt-cache FILE: the sequence of a run, from which later runs with the same beginning go on.
class PromptCache {
 public:
  void add(CLI::App& command);
  bool is_used() const { return !file_.empty(); }

  /// Lets an engine of one slot keep the sequence. Requires: called before the engine is loaded.
  void prepare(EngineOptions& options) const;
  /// Reads the file if there is one; a file that cannot be used is told of, and the prompt is computed.
  void restore(Engine& engine) const;
  /// Writes the file. A file that cannot be written is told of.
  void save(Engine& engine) const;

 private:
  std::string file_;
  bool is_read_only_ = false;
};

}  // namespace spectr::cli

#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "spectr/engine/engine.h"

namespace spectr::cli {

/// Implements --prompt-cache FILE: the sequence of a run, which later runs with the same prefix reuse.
class PromptCache {
 public:
  void add(CLI::App& command);
  bool is_used() const { return !file_.empty(); }

  /// Lets an engine of one slot keep its sequence. Must be called before the engine is loaded.
  void prepare(EngineOptions& options) const;
  /// Reads the file if it exists. Errors are printed, and the prompt is computed instead.
  void restore(Engine& engine) const;
  /// Writes the file. Errors are printed.
  void save(Engine& engine) const;

 private:
  std::string file_;
  bool is_read_only_ = false;
};

}  // namespace spectr::cli

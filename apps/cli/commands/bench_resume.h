#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>

#include "apps/bench/results_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "spectr/backend/cpu/machine_speed.h"
#include "spectr/base/version.h"
#include "spectr/engine/costs/processor_name.h"

namespace spectr::cli {

/// Implements --resume FILE: finished measurements are stored, and a killed run resumes after them.
class Resume {
 public:
  void add(CLI::App& command) {
    command
        .add_option("--resume", file_,
                    "keep finished rows in this file, and do not measure again what it holds")
        ->transform(file_name());
  }

  /// Reads the file, if one was given. Throws Failure.
  void open() {
    if (!file_.empty()) results_ = need(bench::ResultsFile::open(file_));
  }

  /// Returns the stored result of the same version, processor and key (settings and inputs), or else calls
  /// `measure` and stores its result. Throws Failure.
  template <class Measure>
  Json result(Json key, Measure measure) {
    key["version"] = version();
    key["processor"] = processor_name();
    key["instructions"] = instruction_set();
    if (auto known = results_ ? results_->find(key) : std::nullopt) return *std::move(known);
    Json measured = measure();
    if (results_) need(results_->add(key, measured), Status::failed);
    return measured;
  }

 private:
  std::string file_;
  std::optional<bench::ResultsFile> results_;
};

}  // namespace spectr::cli

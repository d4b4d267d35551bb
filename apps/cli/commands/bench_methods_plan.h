#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/methods/presets.h"
#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/sampling_flags.h"

namespace spectr::cli {

/// The configurations that `bench methods` compares: those of a preset, or those given by flags.
class MethodsPlan {
 public:
  void add(CLI::App& command);

  /// Completes the plan from the given flags. Throws Failure if the preset does not measure methods, if a
  /// setting that it fixes was also given, or if a method or plan does not exist.
  void choose(const CLI::App& command);

  /// Returns null without --preset.
  const bench::Preset* preset() const { return preset_; }
  const MethodFlags& method_flags() const { return settings_; }

  /// Returns the columns for a data set. Throws Failure if the preset does not have the chosen column.
  std::vector<const bench::Column*> columns(const std::string& dataset) const;
  /// Returns true if the preset's columns differ only in the draft model and none was chosen.
  bool wants_several_drafts() const;
  /// Returns true if the draft models correspond to the preset's columns one to one.
  bool column_per_draft(std::size_t draft_models) const;
  /// Returns all columns that could be run, for checks of what all of them need.
  std::vector<const bench::Column*> all_columns() const;

  /// Throws Failure if a prefix tree was given and no method drafts one.
  void check_tree() const;

  /// Returns the method that others are compared with; empty if there is none.
  std::string relative_to() const;
  /// Returns the seeds of the repetitions.
  std::vector<std::uint64_t> seeds() const;

  /// Returns true if one of the methods satisfies `wanted`.
  template <class Wanted>
  bool any_method(Wanted wanted) const {
    for (const bench::Column* column : all_columns()) {
      for (const bench::Axes& axes : column->axes) {
        for (const std::string& name : axes.methods) {
          if (wanted(**find_method(name))) return true;
        }
      }
    }
    return false;
  }

 private:
  void refuse_fixed(const CLI::App& command, const std::string& by) const;

  std::string name_;  // name of the preset
  std::string column_file_;
  std::vector<std::string> column_names_;
  bench::Axes axes_{.methods = {"speculative", "spectr"}};
  MethodFlags settings_;
  SamplingFlags sampling_;
  std::optional<std::string> relative_to_;
  std::uint64_t seed_ = 0;
  std::optional<std::size_t> repeats_;
  std::vector<std::uint64_t> seeds_;

  const bench::Preset* preset_ = nullptr;
  std::vector<bench::Column> given_;  // columns without a preset
};

}  // namespace spectr::cli

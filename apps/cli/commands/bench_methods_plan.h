#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/methods/presets.h"
#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/sampling_flags.h"

namespace spectr::cli {

/// What `bench methods` compares: the settings of a preset, or those that were given.
class MethodsPlan {
 public:
  void add(CLI::App& command);

  /// Fills in the rest from what was given. Throws Failure where a preset does not measure methods, where
  /// what it fixes was given too, or where a method or plan does not exist.
  void choose(const CLI::App& command);

  /// Null without --preset.
  const bench::Preset* preset() const { return preset_; }
  const MethodFlags& method_flags() const { return settings_; }

  /// What is measured on a data set of that name. Throws Failure where the preset has no such column.
  std::vector<const bench::Column*> columns(const std::string& dataset) const;
  /// Whether the preset's columns differ in the draft model alone, and none was chosen.
  bool wants_several_drafts() const;
  /// Whether every draft model has a column of its own, in their order.
  bool column_per_draft(std::size_t draft_models) const;
  /// Every column that may be run, to ask for what all of them need.
  std::vector<const bench::Column*> all_columns() const;

  /// Throws Failure where a prefix tree was given and no method drafts one.
  void check_tree() const;

  /// Which method others are compared with; empty: none.
  std::string relative_to() const;
  /// The seeds of the repetitions.
  std::vector<std::uint64_t> seeds() const;

  /// Whether a rule that satisfies `wanted` is among the methods.
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

  std::string name_;  // of the preset
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
  std::vector<bench::Column> given_;  // where there is no preset
};

}  // namespace spectr::cli

#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/support/json.h"

namespace spectr::bench {

/// A number with the decimals that a paper prints, since 2.10 differs from 2.1.
struct PrintedNumber {
  double value;
  int decimals;

  constexpr operator double() const { return value; }  // NOLINT(google-explicit-constructor): it is one
  std::string text() const { return fmt::format("{:.{}f}", value, decimals); }
};

/// Creates a PrintedNumber from a literal: 2.10_p has two decimals.
consteval PrintedNumber operator""_p(const char* digits) {
  double whole = 0.0, unit = 1.0;
  int decimals = 0;
  bool after_point = false;
  for (; *digits != '\0'; ++digits) {
    if (*digits == '.') {
      after_point = true;
    } else if (*digits != '\'') {
      whole = 10.0 * whole + static_cast<double>(*digits - '0');
      if (after_point) unit *= 10.0, ++decimals;
    }
  }
  return {whole / unit, decimals};  // rounded once, as a literal is
}

/// A value as a paper prints it: a mean and, if printed, its standard deviation.
struct PaperValue {
  PrintedNumber mean;
  std::optional<PrintedNumber> sd = {};

  std::string text() const { return sd ? mean.text() + " ± " + sd->text() : mean.text(); }
};

/// The values that a paper prints for a cell of a table. They are never measured here.
struct Printed {
  std::optional<PaperValue> tokens_per_second = {};
  std::optional<PaperValue> joules_per_token = {};
  std::optional<PaperValue> perplexity = {};
  std::optional<PaperValue> block_efficiency = {};
  std::optional<PaperValue> speedup = {};
  std::optional<PaperValue> score = {};
  std::vector<std::pair<std::string_view, PrintedNumber>> score_by_category = {};
};

/// The values that a paper prints for passes over a batch of sequences.
struct PrintedPass {
  std::optional<PaperValue> relative = {};   ///< relative to the table's first cell, of the target
  std::optional<PrintedNumber> joules = {};  ///< total of all runs
  std::optional<PrintedNumber> joules_per_run = {};
  std::optional<PrintedNumber> joules_per_input = {};
  std::optional<PrintedNumber> seconds = {};  ///< total of all runs
  std::optional<PrintedNumber> seconds_per_run = {};
  std::optional<PrintedNumber> seconds_per_input = {};
};

/// Returns `{source, relative: {mean, sd}, joules, joules_per_run, joules_per_input, seconds,
/// seconds_per_run, seconds_per_input, as_printed: {relative: "1.01 ± 0.15", …}}`.
Json to_json(const PrintedPass& printed, std::string_view source);

/// Returns `{source, tokens_per_second: {mean, sd}, …, as_printed: {tokens_per_second: "36.8 ± 0.53",
/// …}}`. Values that the paper does not print are null. `as_printed` has the printed ones with the
/// paper's digits.
Json to_json(const Printed& printed, std::string_view source);

}  // namespace spectr::bench

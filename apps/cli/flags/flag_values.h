#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr::cli {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Returns a limit of a table as an integer; no_limit if it is infinite.
std::int64_t whole_limit(double limit);

/// Parses a decimal integer with an optional '-'. Fails if the text is anything else or the value is outside
/// [min, max]; the message names the text and the range.
Result<std::int64_t> parse_whole(std::string_view text, std::int64_t min, std::int64_t max);

/// Makes a flag repeatable, with one literal value each time. By default, the parser treats a value in
/// brackets as a list.
CLI::Option* repeatable(CLI::Option* option);

// Validators for transform(). Their errors name the flag and the value.

/// Accepts an integer in [min, max].
CLI::Validator whole(std::int64_t min, std::int64_t max = no_limit);
/// Replaces llama.cpp's -1 by another number. Must be added after the validator of the number.
CLI::Validator minus_one_as(std::string number);
/// Accepts a number of threads from 1 to 1024, or llama.cpp's -1 for the default.
CLI::Validator thread_number();
/// Accepts a real number in C++ notation, including "inf" and "nan".
CLI::Validator real();
/// Rejects empty values, such as those of unset variables. `what` names the value, e.g. "key".
CLI::Validator not_empty(std::string what);
CLI::Validator file_name();

/// Returns the entries of comma-separated lists, trimmed and without empty ones.
std::vector<std::string> entries_of(const std::vector<std::string>& lists);

/// Parses a list such as "1,2,3" of entries in [min, max]. Throws CLI::ValidationError naming the flag.
std::vector<std::int64_t> parse_list(const std::string& flag, std::string_view list, std::int64_t min,
                                     std::int64_t max);

/// Adds a flag whose value is a comma-separated list of integers in [min, max].
template <class T>
CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<T>& values,
                      const std::string& help, std::int64_t min, std::int64_t max = no_limit) {
  const std::string flag = names.substr(0, names.find(','));
  const auto read = [&values, flag, min, max](const CLI::results_t& given) {
    const auto numbers = parse_list(flag, given.back(), min, max);
    values.assign(numbers.begin(), numbers.end());
    return true;
  };
  const auto shown = [&values] { return fmt::format("{}", fmt::join(values, ",")); };
  return app.add_option(names, read, help, !values.empty(), shown)->type_name("N,N,...");
}

}  // namespace spectr::cli

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

/// The whole number that `text` is: digits of base 10 behind an optional '-', and nothing else. Error: it is
/// none, or lies outside [min, max]; names both and the text.
Result<std::int64_t> parse_whole(std::string_view text, std::int64_t min, std::int64_t max);

/// A flag that may be given many times, each time with one value, which stays as it is: by itself the parser
/// takes a value in brackets for a list.
CLI::Option* repeatable(CLI::Option* option);

// What the value of a flag must be, for transform(). The error names the flag and the value.

/// A whole number in [min, max].
CLI::Validator whole(std::int64_t min, std::int64_t max = no_limit);
/// llama.cpp's -1, which stands for another number. Goes after what the number must be.
CLI::Validator minus_one_as(std::string number);
/// A number of threads: from 1 to 1024, or -1 for the default, as llama.cpp has it.
CLI::Validator thread_number();
/// A number as C++ writes it; "inf" and "nan" are numbers, too.
CLI::Validator real();
/// Not empty, as what comes from a variable that was not set. `what` it is: "key".
CLI::Validator not_empty(std::string what);
CLI::Validator file_name();

/// The entries of comma-separated lists, without spaces around them and without empty ones.
std::vector<std::string> entries_of(const std::vector<std::string>& lists);

/// "1,2,3" → its entries, each in [min, max]. Throws CLI::ValidationError in the name of the flag.
std::vector<std::int64_t> parse_list(const std::string& flag, std::string_view list, std::int64_t min,
                                     std::int64_t max);

/// A flag whose value is a list of whole numbers in [min, max], separated by commas.
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

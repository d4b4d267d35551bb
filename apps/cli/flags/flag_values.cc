#include "apps/cli/flags/flag_values.h"

#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "spectr/base/names.h"

namespace spectr::cli {
namespace {

/// Parses a number. Returns false if the text has anything else.
template <class Number>
bool read(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  return failed == std::errc{} && stop == end;
}

/// Trims leading and trailing spaces.
std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

std::int64_t whole_limit(double limit) {
  return std::isfinite(limit) ? static_cast<std::int64_t>(limit) : no_limit;
}

Result<std::int64_t> parse_whole(std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t number = 0;
  if (read(text, number) && number >= min && number <= max) return number;
  return error("must be a whole number from {} to {}, got '{}'", min, max, escape(text));
}

CLI::Option* repeatable(CLI::Option* option) {
  return option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
}

CLI::Validator whole(std::int64_t min, std::int64_t max) {
  const auto check = [min, max](std::string& text) {
    const auto number = parse_whole(text, min, max);
    if (!number) return number.error().message;
    text = std::to_string(*number);  // without leading zeros, which would make it octal
    return std::string();
  };
  return {check, ""};
}

CLI::Validator minus_one_as(std::string number) {
  const auto replace = [number = std::move(number)](std::string& text) {
    if (text == "-1") text = number;
    return std::string();
  };
  return {replace, ""};
}

CLI::Validator thread_number() {
  const auto check = [](std::string& text) {
    if (text == "-1") return std::string();
    if (whole(1, 1024)(text).empty()) return std::string();
    return fmt::format("must be -1 (all cores) or a whole number from 1 to 1024, got '{}'", escape(text));
  };
  return {check, ""};
}

CLI::Validator real() {
  const auto check = [](std::string& text) {
    double number = 0.0;
    return read(text, number) ? "" : fmt::format("must be a number, got '{}'", escape(text));
  };
  return {check, ""};
}

CLI::Validator not_empty(std::string what) {
  const auto check = [what = std::move(what)](std::string& text) {
    return text.empty() ? fmt::format("the {} is empty", what) : "";
  };
  return {check, ""};
}

CLI::Validator file_name() {
  return not_empty("file name");
}

std::vector<std::string> entries_of(const std::vector<std::string>& lists) {
  std::vector<std::string> entries;
  for (const std::string_view list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string_view entry = without_spaces(list.substr(begin, end - begin));
      if (!entry.empty()) entries.emplace_back(entry);
      begin = end + 1;
    }
  }
  return entries;
}

std::vector<std::int64_t> parse_list(const std::string& flag, std::string_view list, std::int64_t min,
                                     std::int64_t max) {
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const auto number = parse_whole(without_spaces(list.substr(begin, end - begin)), min, max);
    if (!number) throw CLI::ValidationError(flag, number.error().message);
    numbers.push_back(*number);
    begin = end + 1;
  }
  return numbers;
}

}  // namespace spectr::cli

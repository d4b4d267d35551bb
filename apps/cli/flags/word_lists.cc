#include "apps/cli/flags/word_lists.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace spectr::cli {
namespace {

std::optional<double> number(std::string_view text) {
  double value = 0.0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

bool has_word(std::string_view list, std::string_view word) {
  const std::vector<std::string_view> words = words_of(list);
  return std::ranges::find(words, word) != words.end();
}

bool is_neutral(std::string_view neutral, std::string_view value) {
  const auto given = number(value);
  const auto matches = [&](std::string_view word) {
    if (word == value) return true;
    const bool at_least = word.starts_with(">="), at_most = word.starts_with("<=");
    const auto limit = number(at_least || at_most ? word.substr(2) : word);
    if (!given || !limit) return false;
    return at_least ? *given >= *limit : at_most ? *given <= *limit : *given == *limit;
  };
  return !value.empty() && std::ranges::any_of(words_of(neutral), matches);
}

bool is_off(std::string_view value) {
  return value == "0" || value == "off" || value == "false" || value == "disabled";
}

bool is_switch_word(std::string_view word) {
  return is_off(word) || word == "1" || word == "on" || word == "true" || word == "enabled" ||
         word == "auto" || word == "-1";
}

}  // namespace spectr::cli

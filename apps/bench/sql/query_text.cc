#include "apps/bench/sql/query_text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace spectr::bench {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool in_a_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Returns the position of a lower-case word in a text, ignoring case; npos if it is absent.
std::size_t find_word(std::string_view text, std::string_view word) {
  for (std::size_t i = 0; i + word.size() <= text.size(); ++i) {
    const bool begins = i == 0 || !in_a_word(text[i - 1]);
    const bool ends = i + word.size() == text.size() || !in_a_word(text[i + word.size()]);
    if (!begins || !ends) continue;
    const auto same = [](char a, char b) { return lower(a) == b; };
    if (std::ranges::equal(text.substr(i, word.size()), word, same)) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::string query_of(std::string_view answer) {
  const std::size_t begin = std::min(find_word(answer, "select"), find_word(answer, "with"));
  if (begin == std::string_view::npos) return {};
  std::string_view query = answer.substr(begin);
  constexpr std::array<std::string_view, 3> ends = {";", "\n\n", "```"};
  for (const std::string_view end : ends) query = query.substr(0, query.find(end));
  while (!query.empty() && std::isspace(static_cast<unsigned char>(query.back())) != 0)
    query.remove_suffix(1);
  return std::string(query);
}

bool orders_rows(std::string_view query) {
  for (std::size_t at = find_word(query, "order"); at != std::string_view::npos;
       query = query.substr(at + 5), at = find_word(query, "order")) {
    const std::string_view rest = query.substr(at + 5);
    const std::size_t next = rest.find_first_not_of(" \t\r\n");
    if (next != std::string_view::npos && find_word(rest.substr(next), "by") == 0) return true;
  }
  return false;
}

}  // namespace spectr::bench

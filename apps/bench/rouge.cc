#include "apps/bench/rouge.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace spectr::bench {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  bool inside = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool part = byte >= 0x80 || std::isalnum(byte) != 0;  // non-ASCII UTF-8 counts as letters
    if (part && !inside) all.emplace_back();
    if (part) all.back() += static_cast<char>(std::tolower(byte));
    inside = part;
  }
  return all;
}

std::size_t longest_common_subsequence(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  // row[j] is the LCS length of the words of a so far and the first j words of b.
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const std::string& word : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = word == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

double rouge_l(std::string_view text, std::string_view reference) {
  const auto a = words(text), b = words(reference);
  if (a.empty() || b.empty()) return 0.0;
  return 2.0 * static_cast<double>(longest_common_subsequence(a, b)) /
         static_cast<double>(a.size() + b.size());
}

}  // namespace spectr::bench

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spectr::cli {

/// Letters that must be put in, left out or changed to make `b` of `a` (Levenshtein's distance). Cost: the
/// product of their lengths.
inline std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The name that somebody may have meant: the closest one, if one letter in four or less is wrong; or empty.
inline std::string_view closest(std::string_view given, std::span<const std::string> names) {
  std::string_view best;
  std::size_t least = given.size() / 4 + 1;
  for (const std::string& name : names) {
    if (const std::size_t distance = edits(given, name); distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace spectr::cli

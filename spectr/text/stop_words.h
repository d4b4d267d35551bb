#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectr {

/// Words before which a text ends; the search is incremental while the text grows.
class StopWords {
 public:
  StopWords() = default;
  /// Ignores empty words.
  explicit StopWords(std::vector<std::string> words);

  struct Found {
    std::size_t begin;  ///< where the text ends
    std::string_view word;
  };
  /// Returns the first stop word in `text` that ends after the first `looked` bytes, which were searched
  /// before. Cost: O(new text · words).
  std::optional<Found> find(std::string_view text, std::size_t looked) const;

  /// Returns the length of `text` without a suffix that could still become a stop word.
  std::size_t certain(std::string_view text) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace spectr

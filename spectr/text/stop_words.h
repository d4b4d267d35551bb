#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectr {

/// Words before which a text ends, looked for while it grows piece by piece.
class StopWords {
 public:
  StopWords() = default;
  /// Empty words are ignored.
  explicit StopWords(std::vector<std::string> words);

  struct Found {
    std::size_t begin;  ///< where the text ends
    std::string_view word;
  };
  /// The first stop word of `text` of which nothing but the beginning lies before `looked`, the length that
  /// was looked at already. Cost: O(new text · words).
  std::optional<Found> find(std::string_view text, std::size_t looked) const;

  /// How much of `text` is certain to stay: what could still become a stop word is not.
  std::size_t certain(std::string_view text) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace spectr

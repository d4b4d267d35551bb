#include "spectr/text/stop_words.h"

#include <algorithm>
#include <utility>

namespace spectr {

StopWords::StopWords(std::vector<std::string> words) : words_(std::move(words)) {
  std::erase(words_, "");
}

std::optional<StopWords::Found> StopWords::find(std::string_view text, std::size_t looked) const {
  std::optional<Found> first;
  for (const std::string& word : words_) {
    const std::size_t at = text.find(word, looked >= word.size() ? looked - word.size() + 1 : 0);
    if (at != std::string_view::npos && (!first || at < first->begin)) first = {at, word};
  }
  return first;
}

std::size_t StopWords::certain(std::string_view text) const {
  std::size_t held = 0;
  for (const std::string& word : words_) {
    for (std::size_t n = std::min(word.size() - 1, text.size()); n > held; --n) {
      if (text.ends_with(std::string_view(word).substr(0, n))) held = n;
    }
  }
  return text.size() - held;
}

}  // namespace spectr

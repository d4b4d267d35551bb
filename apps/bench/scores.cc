#include "apps/bench/scores.h"

#include <string_view>

#include "apps/bench/rouge.h"

namespace spectr::bench {
namespace {

/// Returns a scorer that compares first answers with their references.
template <class Compare>
Scorer comparison(std::string name, Compare compare) {
  return {std::move(name), [compare](std::span<const Answered> all) -> Result<Scores> {
            Scores scores;
            for (const Answered& one : all) {
              const std::string& reference = one.prompt->reference;
              scores.push_back(reference.empty()
                                   ? std::nullopt
                                   : std::optional<double>(compare(one.texts->front(), reference)));
            }
            return scores;
          }};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

Scorer rouge_scorer() {
  return comparison("rouge-l", rouge_l);
}

Scorer exact_scorer() {
  return comparison("exact", [](std::string_view text, std::string_view reference) {
    return trimmed(text) == trimmed(reference) ? 1.0 : 0.0;
  });
}

}  // namespace spectr::bench

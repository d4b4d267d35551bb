#include "spectr/decode/ngram_drafter.h"

#include <algorithm>
#include <optional>
#include <span>

namespace spectr {
namespace {

/// What followed the latest earlier occurrence of the text's last n tokens, for the largest n ≤ order that
/// has one; empty if none has.
std::span<const Token> continuation(std::span<const Token> text, std::size_t order) {
  for (std::size_t n = std::min(order, text.size() - 1); n >= 1; --n) {
    const auto suffix = text.last(n);
    const auto found = std::ranges::find_end(text.first(text.size() - 1), suffix);
    if (!found.empty()) return text.subspan(static_cast<std::size_t>(found.end() - text.begin()));
  }
  return {};
}

}  // namespace

Result<void> NgramDrafter::propose(const BlockStart& start, Models& models, Choices&, Draft& draft) {
  const auto next = continuation(start.text, order_);
  std::optional<std::size_t> last;
  for (Token token : next.first(std::min({next.size(), length_, start.left}))) {
    last = draft.add(last, token, draft.own(Distribution::point(token, models.vocabulary)));
    if (start.is_end(token)) break;
  }
  return {};
}

}  // namespace spectr

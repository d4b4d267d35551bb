#include "spectr/decode/ngram_drafter.h"

#include <algorithm>
#include <optional>

#include "spectr/decode/text_match.h"

namespace spectr {

Result<void> NgramDrafter::propose(const BlockStart& start, Models& models, Choices&, Draft& draft) {
  const TextMatch match = match_end(start.text, order_);
  if (match.length == 0) return {};
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < std::min(length_, start.left); ++i) {
    const Token token = match.goes_on(i);
    last = draft.add(last, token, draft.own(Distribution::point(token, models.vocabulary())));
    if (start.is_end(token)) break;
  }
  return {};
}

}  // namespace spectr

#include "spectr/decode/block_verifier.h"

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/decode/bonus.h"
#include "spectr/decode/excess_law.h"

namespace spectr {

Result<Verdict> BlockVerifier::select(const BlockStart& start, const Draft& draft, NodeLaws& target,
                                      Choices& choices) const {
  const auto draws = draft.draws();
  const std::size_t length = draws.size();
  const auto node = [&](std::size_t i) { return i == 0 ? TokenTree::root : draws[i - 1].node; };
  RecycledVector<double> c = {1.0};
  for (std::size_t i = 0; i < length; ++i) {
    SPECTR_CHECK(draws[i].parent == (i == 0 ? std::nullopt : std::optional(i - 1)));  // one chain
    SPECTR_TRY(const Distribution* q, target.at(node(i)));
    const Token x = draft.token(i);
    c.push_back(std::min(1.0, c[i] * ((*q)[x] / (*draws[i].law)[x])));
  }

  for (std::size_t i = length + 1; i-- > 0;) {
    choices.enter({start.index, static_cast<std::uint64_t>(node(i)), start.text.size() + i, Purpose::select});
    std::optional<ExcessLaw> excess;
    const Distribution* q = nullptr;
    if (i < length) {
      SPECTR_TRY(q, target.at(node(i)));
      excess.emplace(c[i], *q, *draws[i].law);
    }
    if (i > 0 && !choices.accept(excess ? excess->share(c[i]) : c[i])) continue;

    Verdict verdict;
    for (std::size_t j = 1; j <= i; ++j) verdict.path.push_back(node(j));
    if (!excess) {
      SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
      return verdict;
    }
    choices.enter(
        {start.index, static_cast<std::uint64_t>(node(i)), start.text.size() + i, Purpose::residual});
    verdict.last = (excess->law ? *excess->law : *q).draw(choices);
    verdict.last_source = Source::correction;
    return verdict;
  }
  return error("block verification of {} drafts found no end", length);  // i = 0 always ends it
}

}  // namespace spectr

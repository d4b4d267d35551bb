#include "spectr/decode/block.h"

#include "spectr/decode/draft.h"
#include "spectr/decode/node_distributions.h"

namespace spectr {

std::string_view name(Source source) {
  switch (source) {
    case Source::draft:
      return "draft";
    case Source::correction:
      return "correction";
    case Source::bonus:
      return "bonus";
    case Source::target:
      return "target";
  }
  return "";
}

Result<void> draw_bonus(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                        Choices& choices, Verdict& verdict) {
  const NodeId node = verdict.path.empty() ? TokenTree::root : verdict.path.back();
  const bool ended = node != TokenTree::root && start.is_end(draft.tree().token(node));
  if (ended || verdict.path.size() >= start.left) return {};
  SPECTR_TRY(const Distribution* q, target.at(node));
  choices.enter(start.place(node, verdict.path.size(), Purpose::bonus));
  verdict.last = q->draw(choices);
  verdict.last_source = verdict.path.empty() ? Source::target : Source::bonus;
  return {};
}

}  // namespace spectr

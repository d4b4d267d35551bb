#include "spectr/decode/decoder.h"

#include <cmath>
#include <limits>

#include "spectr/decode/stopwatch.h"

namespace spectr {
namespace {

/// −log of the softmax of a row at a token.
double negative_log_probability(const Logits& row, Token token) {
  return row.visit([token](auto logits) {
    double largest = -std::numeric_limits<double>::infinity();
    for (double l : logits) largest = std::max(largest, l);
    double sum = 0.0;
    for (double l : logits) sum += std::exp(l - largest);
    return largest + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(token)]);
  });
}

}  // namespace

Result<Block> Decoder::step(const BlockStart& start, Models& models, Choices& choices) {
  SPECTR_CHECK(!start.text.empty() && start.left >= 1);
  Stopwatch watch;
  Draft draft(start.text.back());
  SPECTR_TRY_VOID(drafter_->propose(start, models, choices, draft));
  seconds_.draft += watch.lap();

  Session& target = *models.target;
  SPECTR_TRY_VOID(target.score(start.text, draft.tree()));
  seconds_.target += watch.lap();

  NodeLaws laws(target, models.warp, start.text, draft.tree(), models.vocabulary);
  SPECTR_TRY(const Verdict verdict, verifier_->select(start, draft, laws, choices));

  Block block;
  block.drafted = draft.draws().size();
  NodeId above = TokenTree::root;
  const auto emit = [&](Token token, Source source) {
    block.negative_log_likelihoods.push_back(negative_log_probability(target.logits(above), token));
    block.tokens.push_back(token);
    block.sources.push_back(source);
  };
  for (NodeId node : verdict.path) {
    emit(draft.tree().token(node), Source::draft);
    above = node;
  }
  block.accepted = verdict.path.size();
  if (verdict.last) emit(*verdict.last, verdict.last_source);
  SPECTR_CHECK(!block.tokens.empty() && block.tokens.size() <= start.left);
  seconds_.select += watch.lap();

  target.keep(verdict.path);
  for (const auto& session : models.drafts) session->keep(verdict.path);
  seconds_.target += watch.lap();
  return block;
}

}  // namespace spectr

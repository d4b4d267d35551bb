#include "spectr/decode/decoder.h"

#include <algorithm>

#include "spectr/base/stopwatch.h"
#include "spectr/sampling/likelihood.h"

namespace spectr {
namespace {

/// Returns the probability of `token` under the distribution that it was drafted from below a node, or else
/// under that of the first draft there.
std::optional<double> draft_probability(const Draft& draft, NodeId above, Token token) {
  const TokenTree& tree = draft.tree();
  std::optional<double> of_first;
  for (const Draw& draw : draft.draws()) {
    if (tree.parent(draw.node) != above) continue;
    const double p = (*draw.distribution)[token];
    if (tree.token(draw.node) == token) return p;
    of_first = of_first.value_or(p);
  }
  return of_first;
}

/// Returns the length of the longest draft.
std::size_t depth_of(const Draft& draft) {
  int depth = 0;
  for (const Draw& draw : draft.draws()) depth = std::max(depth, draft.tree().depth(draw.node));
  return static_cast<std::size_t>(depth);
}

}  // namespace

Result<Block> Decoder::step(const BlockStart& start, Models& models, Choices& choices) {
  SPECTR_CHECK(!start.sequence.empty() && start.left >= 1);
  SPECTR_CHECK(models.drafts.size() >= models_.min && models.drafts.size() <= models_.max);
  Stopwatch watch;
  Draft draft(start.sequence.back());
  SPECTR_TRY_VOID(drafter_->propose(start, models, choices, draft));
  const bool settled = draft.target_passes() > 0;  // the target generated the draft itself
  (settled ? seconds_.target : seconds_.draft) += watch.lap();

  Session& target = models.target;
  if (!settled) SPECTR_TRY_VOID(target.score(start.sequence, draft.tree()));
  seconds_.target += watch.lap();

  NodeDistributions distributions(target, models.warp, start.sequence, draft.tree(), models.vocabulary());
  SPECTR_TRY(const Verdict verdict, verifier_->select(start, draft, distributions, choices));

  SPECTR_TRY_VOID(drafter_->observe(start, draft, verdict, distributions));

  Block block;
  block.target_calls = std::max<std::size_t>(draft.target_passes(), 1);
  block.drafted = settled ? 0 : draft.draws().size();
  block.depth = settled ? 0 : depth_of(draft);
  NodeId above = TokenTree::root;
  const auto emit = [&](Token token, Source source) -> Result<void> {
    const Logits row = target.logits(above);
    block.negative_log_likelihoods.push_back(negative_log_likelihood(row, token));
    SPECTR_TRY_VOID(row.state());
    block.tokens.push_back(token);
    block.sources.push_back(source);
    if (!start.details) return {};
    SPECTR_TRY(const Distribution* q, distributions.at(above));
    block.details.push_back(
        {(*q)[token], draft_probability(draft, above, token),
         start.sampled_alternatives ? likeliest(*q, *start.details) : likeliest(row, *start.details)});
    return {};
  };
  for (NodeId node : verdict.path) {
    SPECTR_TRY_VOID(emit(draft.tree().token(node), verdict.path_source));
    above = node;
  }
  block.accepted = verdict.path_source == Source::draft ? verdict.path.size() : 0;
  if (verdict.biases_known) block.biases = verdict.biases;
  block.rejections = verdict.rejections;
  if (verdict.last) SPECTR_TRY_VOID(emit(*verdict.last, verdict.last_source));
  SPECTR_CHECK(!block.tokens.empty() && block.tokens.size() <= start.left);
  if (models.warp.feedback()) {
    const NodeId last = verdict.last ? above : draft.tree().parent(above);
    SPECTR_TRY(const FeedbackState state, distributions.feedback_after(last, block.tokens.back()));
    models.warp.set_feedback_state(state);
  }
  seconds_.select += watch.lap();

  target.keep(verdict.path);
  for (Session* session : models.drafts) session->keep(verdict.path);
  seconds_.target += watch.lap();
  return block;
}

}  // namespace spectr

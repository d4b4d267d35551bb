#include "spectr/decode/beam_drafter.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace spectr {

Result<void> BeamDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  const std::size_t depth =
      draft_depth(*models.drafts.front(), start.sequence, std::min(length_, start.left));
  if (depth == 0) return {};
  Session& model = *models.drafts.front();
  beams_ = std::make_unique<Draft>(start.sequence.back());
  SPECTR_TRY(const BestBeam best,
             search_.run(start, model, models.warp, models.vocabulary(), depth, choices, *beams_));
  std::optional<std::size_t> parent;
  for (std::size_t draw : best.draws)
    parent = draft.add(parent, beams_->token(draw), beams_->draw(draw).distribution);
  // The session knows the beams' tree, not the chain: what is accepted of the chain is computed again, as a
  // few more rows of the next pass.
  model.rewind(start.sequence.size());
  return {};
}

Result<void> TargetBeams::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  const std::size_t depth = std::min(length_, start.left);
  SPECTR_TRY(BestBeam best,
             search_.run(start, *models.target, models.warp, models.vocabulary(), depth, choices, draft));
  draft.settle(std::move(best.draws), best.passes);
  return {};
}

}  // namespace spectr

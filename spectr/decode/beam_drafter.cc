#include "spectr/decode/beam_drafter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spectr/sampling/likelihood.h"

namespace spectr {

double BeamDrafter::log_likelihood(const Draw& draw, const Session& model) const {
  const Token token = beams_->tree().token(draw.node);
  if (law_ == JointLaw::warped) return std::log((*draw.distribution)[token]);
  return -negative_log_likelihood(model.logits(beams_->node_of(draw.parent)), token);
}

Result<void> BeamDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  const std::size_t depth =
      draft_depth(*models.drafts.front(), start.sequence, std::min(length_, start.left));
  if (depth == 0) return {};
  Session& model = *models.drafts.front();
  beams_ = std::make_unique<Draft>(start.sequence.back());
  SPECTR_TRY(FoundBeams found,
             search_.run(start, model, models.warp, models.vocabulary(), depth, choices, *beams_));
  found.beams.resize(std::min(found.beams.size(), drafts_));

  RecycledVector<std::optional<std::size_t>> copies(beams_->draws().size());  // by draw of the search
  for (std::size_t level = 0; level < depth; ++level) {
    for (const auto& beam : found.beams) {
      if (level >= beam.size() || copies[beam[level]]) continue;
      const Draw& draw = beams_->draw(beam[level]);
      const auto parent = draw.parent ? copies[*draw.parent] : std::nullopt;
      copies[beam[level]] = draft.add(parent, beams_->token(beam[level]), draw.distribution, draw.confidence,
                                      log_likelihood(draw, model));
    }
  }
  // The session has scored the beams' tree, not this one: the accepted part of it is computed again, as a few
  // more rows of the next pass.
  model.rewind(start.sequence.size());
  return {};
}

Result<void> TargetBeams::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  const std::size_t length = lengths_[start.index % lengths_.size()];
  const std::size_t depth = std::min(length, start.left);
  SPECTR_TRY(FoundBeams found,
             search_.run(start, models.target, models.warp, models.vocabulary(), depth, choices, draft));
  draft.settle(std::move(found.beams.front()), found.passes);
  return {};
}

}  // namespace spectr

#include "spectr/decode/models.h"

#include <algorithm>

namespace spectr {

Result<Models> Models::start(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                             const Warp& warp, std::size_t context, std::size_t nodes) {
  Models models{nullptr, {}, warp};
  SPECTR_TRY(models.target, target.start(context, nodes));
  for (const LanguageModel* draft : drafts) {
    const std::size_t most = std::min(models.target->context(), draft->context());
    SPECTR_TRY(models.drafts.emplace_back(), draft->start(most, nodes));
  }
  return models;
}

}  // namespace spectr

#include "spectr/decode/drafter.h"

namespace spectr {

Result<void> Drafter::open(const BlockStart& first, Models& models) {
  SPECTR_TRY_VOID(read_prompt(*models.target, first.text));
  for (const auto& draft : models.drafts) {
    if (draft_depth(*draft, first.text, first.left) > 0) SPECTR_TRY_VOID(read_prompt(*draft, first.text));
  }
  return {};
}

}  // namespace spectr

#include "spectr/lm/language_model.h"

namespace spectr {

std::size_t LanguageModel::score_together(std::span<Scoring> scorings) const {
  std::size_t rows = 0;
  for (Scoring& scoring : scorings) {
    if (scoring.is_over()) continue;
    try {
      scoring.result = scoring.session->score(scoring.text, *scoring.tree);
      scoring.complete = scoring.result.has_value();
      rows += static_cast<std::size_t>(scoring.tree->size());
    } catch (...) {
      scoring.failure = std::current_exception();
    }
  }
  return rows;
}

Result<double> LanguageModel::attention_seconds(std::size_t, std::size_t) const {
  return 0.0;
}

}  // namespace spectr

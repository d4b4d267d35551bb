#include "lab/theory/beam_drafts.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/enumerator.h"

namespace spectr::lab {

BeamDrafts::BeamDrafts(const MarkovPair& pair, std::size_t beams, std::size_t length)
    : pair_(pair),
      drafter_({beams, BeamMode::top}, length),
      models_(pair.start(drafter_.max_nodes(pair.horizon()))),
      likeliest_(pair, [&](std::size_t n, std::size_t x) { return pair.p(n, x); }, length) {}

Result<BeamDrafts::LogLikelihood> BeamDrafts::after(std::size_t n, std::size_t x) {
  std::vector<Token> text(n + 1, 0);
  text.back() = static_cast<Token>(x);
  Draft draft(text.back());
  Enumerator choices;  // not used by the top beams
  SPECTR_TRY_VOID(drafter_.propose({text, pair_.horizon() - n, n, {}}, models_, choices, draft));
  LogLikelihood out{0.0, likeliest_.log_likelihood(draft.draws().size(), n, x)};
  for (std::size_t i = 0; i < draft.draws().size(); ++i) {
    const auto y = static_cast<std::size_t>(draft.token(i));
    out.draft += std::log(pair_.p(n + i, x)[y]);
    x = y;
  }
  return out;
}

Result<double> worst_beam_error(const MarkovPair& pair, std::size_t beams, std::size_t length) {
  BeamDrafts drafts(pair, beams, length);
  double worst = 0.0;
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    for (std::size_t x = 0; x < pair.states(); ++x) {
      SPECTR_TRY(const auto log_p, drafts.after(n, x));
      if (log_p.likeliest < 0.0) worst = std::min(worst, 1.0 - log_p.draft / log_p.likeliest);
    }
  }
  return worst;
}

}  // namespace spectr::lab

#include "lab/text_bias.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lab/theory/over_acceptance.h"

namespace spectr::lab {
namespace {

/// Maximum length, in tokens: one pass.
constexpr std::size_t longest = 256;

}  // namespace

BiasMeter::BiasMeter(const StoryModels& models, Warp warp, std::unique_ptr<Session> target,
                     std::unique_ptr<Session> draft)
    : vocabulary_(models.target().vocabulary()),
      warp_(std::move(warp)),
      target_(std::move(target)),
      draft_(std::move(draft)) {}

Result<BiasMeter> BiasMeter::make(const StoryModels& models) {
  SPECTR_TRY(Warp warp, Warp::make(WarpOptions::none()));
  const auto start = [](const Transformer& model) {
    return model.start(std::min(longest, model.context()), longest);
  };
  SPECTR_TRY(auto target, start(models.target()));
  SPECTR_TRY(auto draft, start(models.draft()));
  return BiasMeter(models, std::move(warp), std::move(target), std::move(draft));
}

Result<Distribution> BiasMeter::distribution(const Session& session, NodeId node,
                                             std::span<const Token> text) const {
  const Logits row = session.logits(node);
  return warp_.distribution(row.first(std::min(row.size(), vocabulary_)), text, vocabulary_);
}

Result<void> BiasMeter::add(std::span<const Token> prompt, std::span<const Token> continuation,
                            double epsilon, TextBias& sums) {
  std::vector<Token> text(prompt.begin(), prompt.end());
  text.insert(text.end(), continuation.begin(), continuation.end());
  std::vector<NodeId> nodes;  // equal for both models
  for (Session* session : {target_.get(), draft_.get()}) {
    SPECTR_TRY(nodes, score_chain(*session, text));
  }
  for (std::size_t i = prompt.size(); i < text.size(); ++i) {
    const auto before = std::span(text).first(i);
    SPECTR_TRY(const Distribution p, distribution(*draft_, nodes[i - 1], before));
    SPECTR_TRY(const Distribution q, distribution(*target_, nodes[i - 1], before));
    ++sums.places;
    sums.opt += biased_step(p.probabilities(), q.probabilities(), epsilon, Correction::opt).bias;
    sums.uno += biased_step(p.probabilities(), q.probabilities(), epsilon, Correction::uno).bias;
    sums.draft += total_variation(p, q);
  }
  return {};
}

}  // namespace spectr::lab

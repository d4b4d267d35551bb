#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "lab/story_models.h"
#include "spectr/base/result.h"
#include "spectr/sampling/warp.h"

namespace spectr::lab {

/// Sums over the places of texts: how far the distribution of the next token would be from the target's, were
/// a draft tested there.
struct TextBias {
  std::size_t places = 0;
  double opt = 0.0, uno = 0.0;  ///< with over-acceptance ε and either correction: opt ≤ uno at every place
  double draft = 0.0;           ///< TV(p, q): were every draft accepted
};

/// Puts a number on what the corrections of over-acceptance do to one and the same texts, at temperature 1.
class BiasMeter {
 public:
  static Result<BiasMeter> make(const StoryModels& models);

  /// Adds the places of a continuation, those before each of its tokens. Requires: a prompt of at least one
  /// token. Error: the text is too long for a model.
  Result<void> add(std::span<const Token> prompt, std::span<const Token> continuation, double epsilon,
                   TextBias& sums);

 private:
  BiasMeter(const StoryModels& models, Warp warp, std::unique_ptr<Session> target,
            std::unique_ptr<Session> draft);

  Result<Distribution> distribution(const Session& session, NodeId node, std::span<const Token> text) const;

  std::size_t vocabulary_;
  Warp warp_;
  std::unique_ptr<Session> target_, draft_;
};

}  // namespace spectr::lab

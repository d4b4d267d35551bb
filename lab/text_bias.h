#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "lab/story_models.h"
#include "spectr/base/result.h"
#include "spectr/sampling/warp.h"

namespace spectr::lab {

/// Sums over the positions of sequences: the distance of the next token's distribution from the target's, if
/// a draft were tested there.
struct TextBias {
  std::size_t places = 0;
  double opt = 0.0, uno = 0.0;  ///< with over-acceptance ε and either correction; opt ≤ uno at every position
  double draft = 0.0;           ///< TV(p, q): the distance if every draft were accepted
};

/// Measures the bias of both corrections of over-acceptance on the same sequences, at temperature 1.
class BiasMeter {
 public:
  static Result<BiasMeter> make(const StoryModels& models);

  /// Adds the positions of a continuation, one before each of its tokens. Requires: a prompt of at least one
  /// token. Fails if the sequence is too long for a model.
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

#pragma once

#include <memory>
#include <optional>
#include <span>

#include "lab/story_models.h"
#include "spectr/base/result.h"

namespace spectr::lab {

/// Judges a continuation by the mean log-likelihood of its tokens given the prompt, under the target or under
/// the scorer, another model with its own tokenizer.
class Judge {
 public:
  enum class By { target, scorer };

  /// Requires: models.scorer is set if `by` is By::scorer.
  static Result<Judge> make(const StoryModels& models, By by);

  /// Returns nullopt if the scorer sees no part of the continuation (only an end token). Requires: a prompt
  /// and a continuation of at least one token each, in the target's vocabulary.
  Result<std::optional<double>> score(std::span<const Token> prompt, std::span<const Token> continuation);

 private:
  Judge(const StoryModels& models, By by, std::unique_ptr<Session> session)
      : models_(models), by_(by), session_(std::move(session)) {}

  const StoryModels& models_;
  By by_;
  std::unique_ptr<Session> session_;
};

}  // namespace spectr::lab

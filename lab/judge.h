#pragma once

#include <memory>
#include <optional>
#include <span>

#include "lab/story_models.h"
#include "spectr/base/result.h"

namespace spectr::lab {

/// Judges a continuation by the mean log-likelihood of its tokens given the prompt, under the target or under
/// the scorer: another model, which reads the text in its own tokens.
class Judge {
 public:
  enum class By { target, scorer };

  /// Requires: there is a scorer where it is to judge.
  static Result<Judge> make(const StoryModels& models, By by);

  /// None where the scorer sees nothing of the continuation (an end token alone). Requires: a prompt and a
  /// continuation of at least one token each, of the target's vocabulary.
  Result<std::optional<double>> score(std::span<const Token> prompt, std::span<const Token> continuation);

 private:
  Judge(const StoryModels& models, By by, std::unique_ptr<Session> session)
      : models_(models), by_(by), session_(std::move(session)) {}

  const StoryModels& models_;
  By by_;
  std::unique_ptr<Session> session_;
};

}  // namespace spectr::lab

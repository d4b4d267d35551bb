#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/model/language_model.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// The models of a run, each with its session of the text, and the one warp that all their laws go through.
struct Models {
  std::unique_ptr<Session> target;
  std::vector<std::unique_ptr<Session>> drafts;
  Warp warp;

  /// Fresh sessions for a text of at most `context` tokens (0: as many as the target can have; a draft model
  /// that can have fewer drafts up to there) and trees of at most `nodes` nodes. The models must outlive
  /// them. Error: a longer text than the target can have, or no memory for it.
  static Result<Models> start(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                              const Warp& warp, std::size_t context, std::size_t nodes);

  /// V of the target: of every law.
  std::size_t vocabulary() const { return target->vocabulary(); }
};

/// How deep a draft model can draft a text, at most `most`: as far as its context goes, and not at all if the
/// text has a token that it lacks (models of a family may have more or fewer unused tokens at their end).
std::size_t draft_depth(const Session& draft, std::span<const Token> text, std::size_t most);

/// Computes what is missing of everything but a prompt's last token, which belongs to the first block.
Result<void> read_prompt(Session& session, std::span<const Token> prompt);

}  // namespace spectr

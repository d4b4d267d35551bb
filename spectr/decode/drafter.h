#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "spectr/base/choices.h"
#include "spectr/base/result.h"
#include "spectr/decode/block.h"
#include "spectr/decode/draft.h"
#include "spectr/model/language_model.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// The models of a run, each with its session of the text, and the one warp that all their laws go through.
struct Models {
  std::unique_ptr<Session> target;
  std::vector<std::unique_ptr<Session>> drafts;
  Warp warp;
  std::size_t vocabulary;  ///< V of the target: of every law
};

/// Proposes continuations of a text.
class Drafter {
 public:
  virtual ~Drafter() = default;

  /// Adds draws to `draft`, whose tree has only its root. Never deeper than start.left, nothing below a token
  /// that ends a text, nothing beyond the context of a draft model. No draws: the block is a plain step.
  virtual Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) = 0;

  /// Most nodes of a tree that it proposes when `left` tokens may still be emitted, the root included: what
  /// sessions plan their memory for.
  virtual std::size_t most_nodes(std::size_t left = std::numeric_limits<std::size_t>::max()) const = 0;
};

/// The empty draft: plain decoding.
class NoDrafter final : public Drafter {
 public:
  Result<void> propose(const BlockStart&, Models&, Choices&, Draft&) override { return {}; }
  std::size_t most_nodes(std::size_t) const override { return 1; }
};

}  // namespace spectr

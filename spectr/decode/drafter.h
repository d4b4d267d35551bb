#pragma once

#include <cmath>
#include <cstddef>
#include <optional>

#include "spectr/base/choices.h"
#include "spectr/base/result.h"
#include "spectr/decode/block.h"
#include "spectr/decode/draft.h"
#include "spectr/decode/models.h"

namespace spectr {

/// How wide and how deep a drafter drafts: K sequences (or beams) of L tokens.
struct DraftShape {
  std::size_t drafts = 0;
  std::size_t length = 0;
};

/// What a drafter that chooses how to draft expected of a block.
struct Expectation {
  std::optional<std::size_t> model;  ///< that drafts; none: the text's own n-grams, if there are drafts
  DraftShape shape;                  ///< of length 0: no drafts
  double tokens;
  double seconds;
  double plain_seconds;  ///< of one token by plain decoding
  bool looks;            ///< drafts only to see what they are worth, though another way promises more
};

/// Proposes continuations of a text.
class Drafter {
 public:
  virtual ~Drafter() = default;

  /// Begins a text: the target and the draft models that are going to draft read the prompt, but for its last
  /// token, which belongs to the first block. Requires: `first` is the start of that block, which is proposed
  /// next; called before the first block of every text where the drafter remembers().
  virtual Result<void> open(const BlockStart& first, Models& models);

  /// Adds draws to `draft`, whose tree has only its root. Never deeper than start.left, nothing below a token
  /// that ends a text, nothing beyond the context of a draft model or the tokens that it has. No draws: the
  /// block is a plain step.
  virtual Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) = 0;

  /// Learns what became of its proposal; `target` knows the law of every node. Whatever it learns may decide
  /// how the next blocks are drafted.
  virtual Result<void> observe(const BlockStart&, const Draft&, const Verdict&, NodeLaws& /*target*/) {
    return {};
  }

  /// Most nodes of a tree that it proposes when `left` tokens may still be emitted, the root included: what
  /// sessions plan their memory for.
  virtual std::size_t most_nodes(std::size_t left) const = 0;

  virtual DraftShape shape() const = 0;
  /// Of the last block; none where the shape is not a choice.
  virtual std::optional<Expectation> expectation() const { return std::nullopt; }

  /// About how many ways a proposal can go with V tokens when `left` may still be emitted: what an
  /// enumeration has to expect.
  virtual double outcomes(std::size_t vocabulary, std::size_t left) const {
    return std::pow(static_cast<double>(vocabulary), static_cast<double>(most_nodes(left) - 1));
  }

  /// Whether what it proposes depends on the whole text, beyond its length, its last token and the models.
  virtual bool reads_text() const { return false; }
  /// Whether it depends on what it has observed of earlier blocks, too.
  virtual bool remembers() const { return false; }
};

/// The empty draft: plain decoding.
class NoDrafter final : public Drafter {
 public:
  Result<void> propose(const BlockStart&, Models&, Choices&, Draft&) override { return {}; }
  std::size_t most_nodes(std::size_t) const override { return 1; }
  DraftShape shape() const override { return {}; }
};

}  // namespace spectr

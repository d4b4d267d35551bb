#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spectr/base/choices.h"
#include "spectr/base/result.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/decode/block.h"
#include "spectr/decode/draft.h"
#include "spectr/lm/language_model.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// The models of a run, each with its session of the sequence, and the one warp that all their distributions
/// go through.
struct Models {
  std::unique_ptr<Session> target;
  std::vector<std::unique_ptr<Session>> drafts;
  Warp warp;

  /// Fresh sessions for a sequence of at most `context` tokens (0: as many as the target can have; a draft
  /// model that can have fewer drafts up to there) and trees of at most `nodes` nodes. The models must
  /// outlive them. Error: a longer sequence than the target can have, or no memory for it.
  static Result<Models> start(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                              const Warp& warp, std::size_t context, std::size_t nodes);

  /// V of the target, which is the V of every distribution.
  std::size_t vocabulary() const { return target->vocabulary(); }
};

/// How deep a draft model can draft behind a sequence, at most `max_depth`: as far as its context goes, and
/// not at all if the sequence has a token that it lacks (models of a family may have more or fewer unused
/// tokens at their end).
std::size_t draft_depth(const Session& draft, std::span<const Token> sequence, std::size_t max_depth);

/// Computes what is missing of everything but a prompt's last token, which belongs to the first block.
Result<void> read_prompt(Session& session, std::span<const Token> prompt);

/// How wide and how deep a drafter drafts: K draft sequences (or beams) of L tokens, of which they share the
/// first `trunk`.
struct DraftShape {
  std::size_t drafts = 0;
  std::size_t length = 0;
  std::size_t trunk = 0;
};

/// What a drafter that chooses how to draft expected of a block.
struct Expectation {
  std::optional<std::size_t> model;  ///< the draft model; none where n-grams or nothing is drafted
  DraftShape shape;                  ///< its length is 0 where nothing is drafted
  double tokens;                     ///< expected tokens of the block
  double seconds;                    ///< expected seconds of the block
  double plain_seconds;              ///< seconds of one token by plain decoding
  bool probe;      ///< it drafts to see what drafts are worth, though another choice promises more
  double charged;  ///< seconds of the last block that was observed, by the costs and what it did
};

/// What a drafter has learned of a draft model from one sequence: how much is accepted, by so many contexts.
struct Learned {
  Support support;
  std::size_t contexts;
  LearnedAcceptance acceptance;
};

/// Proposes continuations of a sequence.
class Drafter {
 public:
  virtual ~Drafter() = default;

  /// Begins a sequence: the target and the draft models that are going to draft read the prompt, but for its
  /// last token, which belongs to the first block. Requires: `first` is the start of that block, which is
  /// proposed next; called before the first block of every sequence where the drafter remembers().
  virtual Result<void> open(const BlockStart& first, Models& models);

  /// Adds draws to `draft`, whose tree has only its root. It never drafts deeper than start.left, nothing
  /// below a token that ends a completion, nothing beyond the context of a draft model or the tokens that it
  /// has. Without draws the block is a plain step.
  virtual Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) = 0;

  /// Learns what became of its proposal; `target` knows the distribution of every node. Whatever it learns
  /// may decide how the next blocks are drafted.
  virtual Result<void> observe(const BlockStart&, const Draft&, const Verdict&,
                               NodeDistributions& /*target*/) {
    return {};
  }

  /// The largest tree that it proposes when `left` tokens may still be emitted, in nodes, the root included:
  /// sessions plan their memory for it.
  virtual std::size_t max_nodes(std::size_t left) const = 0;

  virtual DraftShape shape() const = 0;
  /// The expectation of the last block; none where the shape is not a choice.
  virtual std::optional<Expectation> expectation() const { return std::nullopt; }

  /// The approximate number of proposals that are possible with V tokens when `left` may still be emitted: an
  /// enumeration has to expect as many.
  virtual double outcomes(std::size_t vocabulary, std::size_t left) const {
    return std::pow(static_cast<double>(vocabulary), static_cast<double>(max_nodes(left) - 1));
  }

  /// What it has learned of the draft models, for later sequences; none where it learns nothing.
  virtual std::vector<Learned> learned() const { return {}; }

  /// Whether what it proposes depends on the whole sequence, beyond its length, its last token and the
  /// models.
  virtual bool reads_sequence() const { return false; }
  /// Whether it depends on earlier blocks, too: on what it has observed of them, or on how many they were.
  virtual bool remembers() const { return false; }
};

/// The empty draft: plain decoding.
class NoDrafter final : public Drafter {
 public:
  Result<void> propose(const BlockStart&, Models&, Choices&, Draft&) override { return {}; }
  std::size_t max_nodes(std::size_t) const override { return 1; }
  DraftShape shape() const override { return {}; }
};

/// BiLD's draft (arXiv 2302.07863): the small model goes on alone as long as its likeliest token has a
/// probability of at least the fallback threshold τ₁, for at most L tokens. The cut looks at the
/// distribution, never at the token drawn from it.
class ConfidentDrafter final : public Drafter {
 public:
  ConfidentDrafter(double fallback, std::size_t length) : fallback_(fallback), length_(length) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  std::size_t max_nodes(std::size_t left) const override { return 1 + std::min(length_, left); }
  DraftShape shape() const override { return {1, length_}; }

 private:
  double fallback_;
  std::size_t length_;
};

}  // namespace spectr

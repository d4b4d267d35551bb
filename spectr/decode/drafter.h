#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "spectr/base/choices.h"
#include "spectr/base/result.h"
#include "spectr/decode/block.h"
#include "spectr/decode/costs/cost_model.h"
#include "spectr/decode/draft.h"
#include "spectr/lm/language_model.h"
#include "spectr/sampling/warp.h"

namespace spectr {

class OwnedModels;

/// The sessions of one sequence in the models of a run, and the warp that is applied to all their
/// distributions. The sessions are borrowed and must outlive it.
struct Models {
  Models(Session& of_target, std::vector<Session*> of_drafts, Warp applied)
      : target(of_target), drafts(std::move(of_drafts)), warp(std::move(applied)) {}
  Models(OwnedModels&&) = delete;  // it would lose its sessions

  Session& target;
  std::vector<Session*> drafts;
  Warp warp;

  /// Returns V of the target, which is the V of every distribution.
  std::size_t vocabulary() const { return target.vocabulary(); }
};

/// Models that own their sessions.
class OwnedModels : public Models {
 public:
  /// Creates sessions for a sequence of at most `context` tokens (0: the target's maximum; a draft model with
  /// a smaller context drafts only up to there) and trees of at most `nodes` nodes. The models must outlive
  /// them. Fails if the target's maximum is exceeded or memory is insufficient.
  static Result<OwnedModels> start(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                                   const Warp& warp, std::size_t context, std::size_t nodes);

  void add_draft(std::unique_ptr<Session> session);

 private:
  OwnedModels(std::unique_ptr<Session> session, const Warp& warp);

  std::vector<std::unique_ptr<Session>> sessions_;  // the target's first
};

/// Returns how deep a draft model can draft after a sequence, at most `max_depth`: up to the end of its
/// context, and not at all if the sequence has a token that it lacks (models of a family can differ in the
/// number of unused tokens at the end).
std::size_t draft_depth(const Session& draft, std::span<const Token> sequence, std::size_t max_depth);

/// Prefills a prompt except for its last token, which belongs to the first block.
Result<void> read_prompt(Session& session, std::span<const Token> prompt);

/// The width and depth of drafts: K draft sequences (or beams) of L tokens, which share the first `trunk`
/// tokens.
struct DraftShape {
  std::size_t drafts = 0;
  std::size_t length = 0;
  std::size_t trunk = 0;
};

/// The forecast for a block, by a drafter that chooses how to draft.
struct Expectation {
  std::optional<std::size_t> model;  ///< the draft model; nullopt for n-grams or no drafts
  DraftShape shape;                  ///< its length is 0 if there are no drafts
  double tokens;                     ///< expected tokens of the block
  double seconds;                    ///< expected seconds of the block
  double plain_seconds;              ///< seconds of one token by plain decoding
  bool probe;                        ///< a draft model was looked at before the block (see AutoDrafter)
  double charged;                    ///< modelled seconds of the last observed block
};

/// The positions of one sequence at which a drafter has compared a draft model with the target.
struct Learned {
  Support support;
  std::size_t seen;                        ///< number of positions
  std::vector<LearnedPosition> positions;  ///< the latest of them
};

/// Proposes continuations of a sequence.
class Drafter {
 public:
  virtual ~Drafter() = default;

  /// Begins a sequence: the target and the drafting models prefill the prompt except for its last token,
  /// which belongs to the first block. Requires: `first` is the start of that block, which is proposed next.
  /// If the drafter is_stateful(), it must be called before every sequence's first block.
  virtual Result<void> open(const BlockStart& first, Models& models);

  /// Adds draws to `draft`, whose tree has only its root. It never drafts deeper than start.left, below a
  /// token that ends a completion, beyond the context of a draft model, or tokens that a draft model lacks.
  /// Without draws the block is a plain step.
  virtual Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) = 0;

  /// Learns from the outcome of its proposal; `target` has the distribution of every node. This can affect
  /// how the next blocks are drafted.
  virtual Result<void> observe(const BlockStart&, const Draft&, const Verdict&,
                               NodeDistributions& /*target*/) {
    return {};
  }

  /// Returns the maximum tree size in nodes, including the root, if `left` tokens may still be emitted.
  /// Sessions reserve memory for it.
  virtual std::size_t max_nodes(std::size_t left) const = 0;

  virtual DraftShape shape() const = 0;
  /// Returns the forecast for the last block, or nullopt if the shape is not a choice.
  virtual std::optional<Expectation> expectation() const { return std::nullopt; }

  /// Returns the approximate number of possible proposals for V tokens if `left` tokens may still be emitted.
  /// An enumeration uses it to estimate its cost.
  virtual double outcomes(std::size_t vocabulary, std::size_t left) const {
    return std::pow(static_cast<double>(vocabulary), static_cast<double>(max_nodes(left) - 1));
  }

  /// Returns what it has learned about the draft models, for later sequences; empty if it does not learn.
  virtual std::vector<Learned> learned() const { return {}; }

  /// Returns true if its proposals depend on the whole sequence rather than only on its length, its last
  /// token and the models.
  virtual bool reads_sequence() const { return false; }
  /// Returns true if its proposals depend on earlier blocks: on observations, or on their number.
  virtual bool is_stateful() const { return false; }
};

/// The empty draft: plain decoding.
class NoDrafter final : public Drafter {
 public:
  Result<void> propose(const BlockStart&, Models&, Choices&, Draft&) override { return {}; }
  std::size_t max_nodes(std::size_t) const override { return 1; }
  DraftShape shape() const override { return {}; }
};

/// BiLD's draft (arXiv 2302.07863): the small model drafts as long as its likeliest token has a probability
/// of at least the fallback threshold τ₁, for at most L tokens. The condition depends on the distribution,
/// never on the token drawn from it.
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

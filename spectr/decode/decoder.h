#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "spectr/decode/drafter.h"
#include "spectr/decode/verifier.h"

namespace spectr {

/// Seconds spent in the stages of a block.
struct StageSeconds {
  double draft = 0.0;
  double target = 0.0;
  double select = 0.0;
};

/// How many draft models a method works with.
struct DraftModels {
  std::size_t least = 0;
  std::size_t most = 0;
};

/// Drafter × verifier. One block at a time, so that it can be run on real models and enumerated on tables
/// alike; `step` is a function of the text and of the choices, and where the drafter remembers() of past
/// blocks.
class Decoder {
 public:
  Decoder(std::unique_ptr<Drafter> drafter, std::unique_ptr<Verifier> verifier)
      : drafter_(std::move(drafter)), verifier_(std::move(verifier)) {}

  /// From now on `step` breaks its contract with other numbers of draft models.
  void expect(DraftModels models) { models_ = models; }

  /// One block: draft, score, select, commit. The sessions then hold the text up to the new last token.
  /// Requires: as many draft models as it expects, those of MethodRule::models.
  Result<Block> step(const BlockStart& start, Models& models, Choices& choices);

  Drafter& drafter() { return *drafter_; }
  const Drafter& drafter() const { return *drafter_; }

  /// Most nodes of a tree when `left` tokens may still be emitted: what a session must hold.
  std::size_t most_nodes(std::size_t left) const { return drafter_->most_nodes(left); }
  /// The K and L that are drafted; of `auto` the largest of the text so far.
  DraftShape shape() const { return drafter_->shape(); }

  /// Time spent so far, by stage.
  const StageSeconds& seconds() const { return seconds_; }

 private:
  std::unique_ptr<Drafter> drafter_;
  std::unique_ptr<Verifier> verifier_;
  DraftModels models_{0, std::numeric_limits<std::size_t>::max()};
  StageSeconds seconds_;
};

}  // namespace spectr

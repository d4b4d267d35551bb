#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "spectr/decode/drafter.h"
#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// The seconds spent in the stages of a block.
struct StageSeconds {
  double draft = 0.0;
  double target = 0.0;
  double select = 0.0;
};

/// How many draft models a method works with.
struct DraftModels {
  std::size_t min = 0;
  std::size_t max = 0;
};

/// A drafter × a verifier. It makes one block at a time, so that it can be run on real models and enumerated
/// on tables alike; `step` is a function of the sequence and of the choices, and where the drafter
/// remembers() of past blocks. Where the warp has a feedback, `step` moves its state on.
class Decoder {
 public:
  Decoder(std::unique_ptr<Drafter> drafter, std::unique_ptr<Verifier> verifier)
      : drafter_(std::move(drafter)), verifier_(std::move(verifier)) {}

  /// From now on `step` breaks its contract with other numbers of draft models.
  void expect(DraftModels models) { models_ = models; }

  /// Makes one block: draft, score, select, commit. The sessions then hold the sequence up to the new last
  /// token.
  /// Requires: as many draft models as it expects, those of MethodRule::models.
  Result<Block> step(const BlockStart& start, Models& models, Choices& choices);

  Drafter& drafter() { return *drafter_; }
  const Drafter& drafter() const { return *drafter_; }
  const Verifier& verifier() const { return *verifier_; }

  /// The largest tree when `left` tokens may still be emitted, in nodes: a session must hold it.
  std::size_t max_nodes(std::size_t left) const { return drafter_->max_nodes(left); }
  /// The K and L that are drafted; of `auto` the largest of the sequence so far.
  DraftShape shape() const { return drafter_->shape(); }

  /// The time spent so far, by stage.
  const StageSeconds& seconds() const { return seconds_; }

 private:
  std::unique_ptr<Drafter> drafter_;
  std::unique_ptr<Verifier> verifier_;
  DraftModels models_{0, std::numeric_limits<std::size_t>::max()};
  StageSeconds seconds_;
};

}  // namespace spectr

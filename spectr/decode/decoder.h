#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "spectr/decode/drafter.h"
#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// The seconds spent in each stage of a block.
struct StageSeconds {
  double draft = 0.0;
  double target = 0.0;
  double select = 0.0;
};

/// The range of numbers of draft models that a method supports.
struct DraftModels {
  std::size_t min = 0;
  std::size_t max = 0;
};

/// A combination of a drafter and a verifier. It makes one block at a time, so it can both run on real models
/// and be enumerated on tables. `step` is a function of the sequence and the choices, and of past blocks if
/// the drafter is_stateful(). If the warp has a feedback, `step` updates its state.
class Decoder {
 public:
  Decoder(std::unique_ptr<Drafter> drafter, std::unique_ptr<Verifier> verifier)
      : drafter_(std::move(drafter)), verifier_(std::move(verifier)) {}

  /// Sets the numbers of draft models that `step` requires.
  void expect(DraftModels models) { models_ = models; }

  /// Makes one block: draft, score, select, commit. Afterwards the sessions hold the sequence up to the new
  /// last token.
  /// Requires: a number of draft models in the expected range, that of MethodRule::models.
  Result<Block> step(const BlockStart& start, Models& models, Choices& choices);

  Drafter& drafter() { return *drafter_; }
  const Drafter& drafter() const { return *drafter_; }
  const Verifier& verifier() const { return *verifier_; }

  /// Returns the maximum tree size in nodes if `left` tokens may still be emitted; sessions must support it.
  std::size_t max_nodes(std::size_t left) const { return drafter_->max_nodes(left); }
  /// Returns the drafted K and L; for `auto` the largest ones of the sequence so far.
  DraftShape shape() const { return drafter_->shape(); }

  /// Returns the time spent so far, by stage.
  const StageSeconds& seconds() const { return seconds_; }

 private:
  std::unique_ptr<Drafter> drafter_;
  std::unique_ptr<Verifier> verifier_;
  DraftModels models_{0, std::numeric_limits<std::size_t>::max()};
  StageSeconds seconds_;
};

}  // namespace spectr

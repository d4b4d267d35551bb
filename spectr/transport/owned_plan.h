#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// A random stream. (seed, stream) is the key of its numbers, and `block` their position. Equal keys and
/// positions give equal numbers.
struct RandomStream {
  std::uint64_t seed = 0, stream = 0, block = 0;
};

/// A transport plan that owns its distributions, for bindings to other languages: every argument is checked.
/// Thread-safe; calls on one plan run one after another.
class OwnedPlan {
 public:
  /// Builds the plan `name` for k drafts from p and the target q. Fails if there is no such plan, if p and q
  /// have different vocabularies, if k lies outside [1, 1024], or if the plan cannot be built.
  static Result<std::unique_ptr<OwnedPlan>> make(std::string_view name, Distribution p, Distribution q,
                                                 std::size_t k, const PlanOptions& options = {});

  std::size_t vocabulary() const { return q_.vocabulary(); }
  /// Returns the number of drafts that draw() returns and select() takes: k, or fewer if the plan draws
  /// without replacement and p has fewer tokens.
  std::size_t drafts() const { return plan_->drafts(); }
  const PlanRule& rule() const { return *rule_; }

  /// acceptance(), bias() and residual() return the values of TransportPlan.
  double acceptance() const;
  double bias() const;
  std::optional<Distribution> residual() const;

  /// Returns the exact distribution of Y by enumeration: [V]. Fails above 2e5 tuples of drafts or 2e7
  /// outcomes.
  Result<std::vector<double>> law() const;
  /// Returns the exact distribution of Y given the drafts. Fails if draw() cannot have returned them.
  Result<Distribution> conditional(std::span<const Token> drafts) const;

  std::vector<Token> draw(const RandomStream& stream) const;
  /// Fails if draw() cannot have returned these drafts. Its random numbers differ from those of draw().
  Result<Selection> select(std::span<const Token> drafts, const RandomStream& stream) const;

 private:
  OwnedPlan(const PlanRule* rule, Distribution p, Distribution q)
      : rule_(rule), p_(std::move(p)), q_(std::move(q)) {}
  Result<void> check_drafts(std::span<const Token> drafts) const;

  const PlanRule* rule_;
  Distribution p_, q_;
  std::unique_ptr<TransportPlan> plan_;
  mutable std::mutex mutex_;  // plans cache values that are computed on first use
};

}  // namespace spectr

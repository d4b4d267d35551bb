#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// The distributions p₁ … p_k of the k drafts of one token, in the order of drawing and testing. A view: the
/// distributions must outlive it and every plan built from it.
class DraftDistributions {
 public:
  /// Uses one distribution for k ≥ 1 drafts.
  DraftDistributions(const Distribution& p, std::size_t k) : distributions_(k, &p), equal_(true) {
    SPECTR_CHECK(k >= 1);
  }
  /// Uses one distribution per draft (several draft models).
  explicit DraftDistributions(std::span<const Distribution* const> distributions);

  std::size_t count() const { return distributions_.size(); }
  const Distribution& operator[](std::size_t i) const { return *distributions_[i]; }
  /// Returns true if all drafts use the same distribution object.
  bool equal() const { return equal_; }
  /// Returns the number of draft tuples: the product of the distributions' sizes, possibly huge.
  double tuples() const;

 private:
  RecycledVector<const Distribution*> distributions_;
  bool equal_;
};

/// Rejections rarer than this are attributed to rounding; their residual is noise.
inline constexpr double rounding_of_rejection = 1e-15;

/// The result of a selection: the token, and whether a test (or a winning ticket) accepted a draft. A
/// residual draw that happens to equal a draft is not `accepted`.
struct Selection {
  Token token;
  bool accepted;
};

/// A plan's parameters by name, for reports: {"rho", 1.5}, {"alphas", [⅓, 1]}, {"fallback", "…"}.
using PlanParameters = std::map<std::string, std::variant<double, std::vector<double>, std::string>>;

/// A transport plan from the distribution of k drafts to the target distribution q: it owns a drafting
/// distribution and maps drafts X₁ … X_k to an output Y. Lossless plans have Y ~ q exactly.
class TransportPlan : public RecycledObject {
 public:
  virtual ~TransportPlan() = default;

  /// Returns k, the number of drafts that draw() produces and select() takes.
  virtual std::size_t drafts() const = 0;

  /// Draws X₁ … X_k from the plan's drafting distribution. Requires: out.size() == drafts().
  virtual void draw(std::span<Token> out, Choices& choices) const = 0;

  /// Maps the drafts to Y. Requires: drafts from draw(). Allocates at most once, when the first rejection
  /// computes the residual; therefore only one thread may use a plan at a time.
  virtual Selection select(std::span<const Token> drafts, Choices& choices) const = 0;

  /// Returns the probability that a test accepts, over drafts and choices. O(1), except for recursive-wor: it
  /// computes the value in each call, which can take seconds, or returns NaN (rejected_without_replacement).
  virtual double acceptance() const = 0;

  /// Returns the distribution of Y if no test accepts; nullopt if the acceptance is 1, or if it depends on
  /// the drafts.
  virtual std::optional<Distribution> residual() const = 0;

  /// Returns the exact distribution of Y given the drafts, from formulas rather than by running select().
  virtual Distribution conditional(std::span<const Token> drafts) const = 0;

  /// Returns the TV distance between the distribution of Y and q: 0 for every lossless plan.
  virtual double bias() const { return 0.0; }

  virtual PlanParameters parameters() const { return {}; }
};

/// Returns the exact distribution of Y, indexed by token: all draft tuples of the plan's draw() through its
/// select(), over all choices, weighted by their exact probabilities. The code that is enumerated is the code
/// that samples. Cost: one run of draw() and select() per outcome.
std::vector<double> enumerate_distribution(const TransportPlan& plan, std::size_t vocabulary);

}  // namespace spectr

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

/// The distributions p₁ … p_k of the k drafts of one token, in the order in which they are drawn and tested.
/// A view: the distributions must outlive it and every plan built from it.
class DraftDistributions {
 public:
  /// k ≥ 1 drafts from one distribution.
  DraftDistributions(const Distribution& p, std::size_t k) : distributions_(k, &p), equal_(true) {
    SPECTR_CHECK(k >= 1);
  }
  /// One distribution per draft (several draft models).
  explicit DraftDistributions(std::span<const Distribution* const> distributions);

  std::size_t count() const { return distributions_.size(); }
  const Distribution& operator[](std::size_t i) const { return *distributions_[i]; }
  /// True where all drafts come from one and the same distribution object.
  bool equal() const { return equal_; }
  /// Number of draft tuples, V₁ · … · V_k for distributions of so many entries, as a double (it may be huge).
  double tuples() const;

 private:
  RecycledVector<const Distribution*> distributions_;
  bool equal_;
};

/// A rejection rarer than this is rounding: its residual is noise.
inline constexpr double rounding_of_rejection = 1e-15;

/// What a plan made of the drafts: the token, and whether a test (or a winning ticket) accepted a draft.
/// A residual draw may happen to equal a draft; it is still not `accepted`.
struct Selection {
  Token token;
  bool accepted;
};

/// What a plan was built with, by name, for reports: {"rho", 1.5}, {"alphas", [⅓, 1]}, {"fallback", "…"}.
using PlanParameters = std::map<std::string, std::variant<double, std::vector<double>, std::string>>;

/// A transport plan from the distribution of k drafts to the target distribution q: it owns a drafting
/// distribution and maps drafts X₁ … X_k to an output Y. Lossless plans have Y ~ q exactly.
class TransportPlan : public RecycledObject {
 public:
  virtual ~TransportPlan() = default;

  /// k, the number of drafts that draw() gives and select() takes.
  virtual std::size_t drafts() const = 0;

  /// Draws X₁ … X_k from the plan's drafting distribution. Requires: out.size() == drafts().
  virtual void draw(std::span<Token> out, Choices& choices) const = 0;

  /// Maps the drafts to Y. Requires: drafts as draw() gives them. Allocates nothing, but the first time that
  /// it rejects perhaps the residual; so a plan is used by one thread at a time.
  virtual Selection select(std::span<const Token> drafts, Choices& choices) const = 0;

  /// Probability that a test accepts, over drafts and choices. O(1); but recursive-wor computes it in each
  /// call, which can take seconds, and gives NaN where that would be too long (rejected_without_replacement).
  virtual double acceptance() const = 0;

  /// The distribution of Y when no test accepts; nullopt where acceptance is 1 or where it depends on the
  /// drafts.
  virtual std::optional<Distribution> residual() const = 0;

  /// The exact distribution of Y given the drafts, computed from formulas rather than by running select().
  virtual Distribution conditional(std::span<const Token> drafts) const = 0;

  /// TV between the distribution of Y and q: 0 for every lossless plan.
  virtual double bias() const { return 0.0; }

  virtual PlanParameters parameters() const { return {}; }
};

/// The exact distribution of Y: every draft tuple of the plan's draw() through its select(), over all
/// choices, weighted by their exact probabilities. Indexed by token. This is the distribution that is
/// sampled, by the code that samples it. Cost: one run of draw() and select() per outcome.
std::vector<double> enumerate_distribution(const TransportPlan& plan, std::size_t vocabulary);

}  // namespace spectr

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spectr/decode/auto/auto_params.h"

namespace spectr {

/// How much of the vocabulary distributions have.
enum class Support {
  whole,
  cut,    ///< short, by filters
  point,  ///< one token: all drafts of a node are alike
};
inline constexpr std::size_t support_count = 3;

/// The cost of attention in passes whose seconds are known behind a sequence of `behind` tokens.
struct AttentionCost {
  std::size_t behind = 0;
  double per_token = 0.0;  ///< seconds that every row takes longer for each further token that it attends to
};

/// The seconds of one pass of a model by its number of rows (tokens of the sequence and nodes of the tree),
/// and by the depth, the number of tokens that they attend to.
class CostCurve {
 public:
  struct Point {
    std::size_t rows;
    double seconds;
  };

  /// Requires: at least one point, rows strictly ascending and ≥ 1, seconds > 0 and nowhere falling;
  /// attention.per_token ≥ 0.
  explicit CostCurve(std::vector<Point> points, AttentionCost attention = {});

  /// The seconds of a pass. They are linear between the points; beyond the last, the slope between it and the
  /// one at half of its rows goes on (neighbours may differ by chance). At a depth of less than
  /// attention().behind tokens a pass takes as long as there.
  double seconds(double rows, double depth = 0.0) const;

  /// What a pass of so many rows costs one of `requests` requests that are decoded concurrently and take all
  /// passes together, each with as many rows. Requires: requests ≥ 1.
  CostCurve shared(std::size_t requests) const;

  std::span<const Point> points() const { return points_; }
  const AttentionCost& attention() const { return attention_; }

 private:
  /// The seconds that every row more than the last point's takes. Requires: two points.
  double last_slope() const;

  std::vector<Point> points_;
  AttentionCost attention_;
};

/// The seconds of what is done between passes.
struct SelectCosts {
  /// A row of logits becomes a distribution over the whole vocabulary, and a token is drawn from it.
  double distribution = 0.0;
  double filtered = 0.0;    ///< the same with filters; plans for such distributions cost next to nothing
  double likelihood = 0.0;  ///< the likelihood of an emitted token under the unfiltered target
  double one = 0.0;         ///< a plan for one draft, for distributions over the whole vocabulary
  double several = 0.0;     ///< k-Seq for several drafts
  double optimal = 0.0;     ///< the optimal plan for several drafts
};

/// What `auto` has learned of a draft model in earlier completions, at the first positions of blocks: a first
/// guess for later ones.
struct LearnedAcceptance {
  /// By AutoParams::confidences: the share of contexts with that confidence of the draft model.
  std::array<double, AutoParams::confidences.size()> confidences = {};
  /// By AutoParams::confidences and AutoParams::drafts: what the target accepted there.
  std::array<std::array<double, AutoParams::drafts.size()>, AutoParams::confidences.size()> accepted = {};

  bool operator==(const LearnedAcceptance&) const = default;
};

/// The seconds of what a draft model does.
struct DraftCosts {
  CostCurve passes;
  /// What a block takes longer because the model's passes and the target's alternate: each pushes the other's
  /// weights out of the caches.
  double alternation = 0.0;
  /// The seconds per token of a sequence that it reads in one go, where only the last token's logits are
  /// wanted. Without them a token costs as much as a row of a pass.
  std::optional<double> reading = std::nullopt;
  /// By Support: acceptance differs with the distributions.
  std::array<std::optional<LearnedAcceptance>, support_count> learned = {};
};

/// What an automatic choice is based on: measured once per machine, set of models and number of threads, and
/// stored, never measured while a completion is being decided.
struct Costs {
  CostCurve target;
  std::vector<DraftCosts> drafts;  ///< one for each draft model, if there are any
  SelectCosts select;

  /// Whether the optimal plan is used where distributions are dense, too: where it takes hardly longer than
  /// k-Seq, beside the target's pass. (Where they are short it takes next to nothing.)
  bool optimal_pays() const { return select.optimal <= select.several + 0.01 * target.seconds(1.0); }
  /// The seconds of a plan for K drafts from dense distributions.
  double plan_seconds(std::size_t K) const {
    if (K == 1) return select.one;
    return optimal_pays() ? select.optimal : select.several;
  }

  /// The costs of one of `requests` requests that are decoded concurrently and take all passes together.
  /// Requires: requests ≥ 1.
  Costs shared(std::size_t requests) const;

  /// A number that is the same for the same costs only: printed beside the seed, because both fix the
  /// completion.
  std::uint64_t hash() const;
};

}  // namespace spectr

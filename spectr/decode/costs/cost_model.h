#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace spectr {

/// The support of the distributions within the vocabulary.
enum class Support {
  whole,
  cut,    ///< short, because of filters
  point,  ///< one token: all drafts of a node are equal
};
inline constexpr std::size_t support_count = 3;

/// The cost of attention in passes that were measured after a sequence of `behind` tokens.
struct AttentionCost {
  std::size_t behind = 0;
  double per_token = 0.0;  ///< additional seconds per row for each further attended token
};

/// The seconds of one pass of a model as a function of its number of rows (tokens of the sequence and nodes
/// of the tree) and of its depth, the number of tokens that they attend to.
class CostCurve {
 public:
  struct Point {
    std::size_t rows;
    double seconds;
  };

  /// Requires: at least one point, rows strictly ascending and ≥ 1, seconds > 0 and non-decreasing;
  /// attention.per_token ≥ 0.
  explicit CostCurve(std::vector<Point> points, AttentionCost attention = {});

  /// Returns the seconds of a pass. They are linear between the points. Beyond the last point, the slope from
  /// the point at half of its rows is used (adjacent points can differ by noise). Depths below
  /// attention().behind tokens cost the same as that depth.
  double seconds(double rows, double depth = 0.0) const;

  /// Returns the cost per request of passes that are shared by `requests` concurrent requests, each with the
  /// given number of rows. Requires: requests ≥ 1.
  CostCurve shared(std::size_t requests) const;

  std::span<const Point> points() const { return points_; }
  const AttentionCost& attention() const { return attention_; }

 private:
  /// Returns the seconds per row beyond the last point. Requires: two points.
  double last_slope() const;

  std::vector<Point> points_;
  AttentionCost attention_;
};

/// The seconds of the work between passes.
struct SelectCosts {
  /// Turning a row of logits into a distribution over the whole vocabulary and drawing a token from it.
  double distribution = 0.0;
  double filtered = 0.0;    ///< the same work with filters; plans for such distributions cost almost nothing
  double likelihood = 0.0;  ///< computing the likelihood of an emitted token under the unfiltered target
  double one = 0.0;         ///< a plan for one draft, for distributions over the whole vocabulary
  double several = 0.0;     ///< k-Seq for several drafts
  double optimal = 0.0;     ///< the optimal plan for several drafts
};

/// A position of an earlier completion as a draft model saw it. `auto` starts later completions from such
/// positions.
struct LearnedPosition {
  /// The numbers of drafts whose acceptance is kept.
  static constexpr std::array<std::size_t, 4> drafts = {1, 2, 4, 8};

  double confidence = 0.0;  ///< the draft model's largest probability, at temperature 1 and without filters
  double merging = 0.0;     ///< the probability that two drafts are equal
  std::array<double, drafts.size()> accepted = {};  ///< P(the token is one of the drafts), by `drafts`
  /// The level of the block that drafted it, from 1; 0 if drafts do not depend on where their block begins.
  std::size_t level = 0;

  bool operator==(const LearnedPosition&) const = default;
};

/// The costs of a draft model, in seconds.
struct DraftCosts {
  CostCurve passes;
  /// Additional seconds per block because passes of the model and the target alternate: each evicts the
  /// other's weights from the caches.
  double alternation = 0.0;
  /// Prefill seconds per token, if only the last token's logits are needed. If unset, a token costs as much
  /// as a row of a pass.
  std::optional<double> reading = std::nullopt;
  /// Positions of an earlier completion, by Support: acceptance differs with the distributions.
  std::array<std::optional<std::vector<LearnedPosition>>, support_count> learned = {};
  /// Trained drafters only, whose drafts depend on where their block begins: seconds of the first pass of a
  /// block, which also reads the target's states. `passes` are then the later passes, one for each level.
  std::optional<double> first = std::nullopt;
  /// Maximum length of drafts if the first pass drafts a whole block.
  std::optional<std::size_t> block = std::nullopt;
};

/// The basis of an automatic choice. It is measured once per machine, set of models and number of threads,
/// and stored; it is never measured while a completion is being decided.
struct Costs {
  CostCurve target;
  std::vector<DraftCosts> drafts;  ///< one per draft model
  SelectCosts select;

  /// Returns true if the optimal plan is also used for dense distributions: if it takes hardly longer than
  /// k-Seq, relative to the target's pass. (For short distributions it takes almost no time.)
  bool optimal_pays() const { return select.optimal <= select.several + 0.01 * target.seconds(1.0); }
  /// Returns the seconds of a plan for K drafts from dense distributions.
  double plan_seconds(std::size_t K) const {
    if (K == 1) return select.one;
    return optimal_pays() ? select.optimal : select.several;
  }

  /// Returns the costs per request if `requests` concurrent requests share all passes except those of trained
  /// drafters. Requires: requests ≥ 1.
  Costs shared(std::size_t requests) const;

  /// Returns a hash that identifies the costs. It is printed with the seed, because both determine the
  /// completion.
  std::uint64_t hash() const;
};

}  // namespace spectr

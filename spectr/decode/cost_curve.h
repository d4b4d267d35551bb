#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spectr {

/// Attention in passes whose seconds are known behind a text of `behind` tokens.
struct AttentionCost {
  std::size_t behind = 0;
  double per_token = 0.0;  ///< seconds that every row takes longer for each further token of the text
};

/// Seconds of one pass of a model by its number of rows (tokens of text and nodes of the tree), and by the
/// length of the text that they attend to.
class CostCurve {
 public:
  struct Point {
    std::size_t rows;
    double seconds;
  };

  /// Requires: at least one point, rows strictly ascending and ≥ 1, seconds > 0 and nowhere falling;
  /// attention.per_token ≥ 0.
  explicit CostCurve(std::vector<Point> points, AttentionCost attention = {});

  /// Linear between the points; beyond the last, its slope goes on. Behind less than attention().behind
  /// tokens a pass counts as long as there.
  double seconds(double rows, double text = 0.0) const;

  /// What a pass of so many rows costs one of `texts` texts that take all passes together, each with as many
  /// rows. Requires: texts ≥ 1.
  CostCurve shared(std::size_t texts) const;

  std::span<const Point> points() const { return points_; }
  const AttentionCost& attention() const { return attention_; }

 private:
  std::vector<Point> points_;
  AttentionCost attention_;
};

/// Seconds of what is done between passes.
struct SelectCosts {
  double law = 0.0;       ///< a row of logits becomes a law of the whole vocabulary; a token is drawn from it
  double filtered = 0.0;  ///< the same with filters; plans for such laws cost next to nothing
  double likelihood = 0.0;  ///< of a token that becomes text, under the unfiltered target
  double one = 0.0;         ///< a plan for one draft, for laws of the whole vocabulary
  double several = 0.0;     ///< a plan for several drafts
};

/// Seconds of what a draft model does.
struct DraftCosts {
  CostCurve passes;
  /// What a block takes longer because the model's passes and the target's alternate: each pushes the other's
  /// weights out of the caches.
  double alternation = 0.0;
};

/// What an automatic choice is based on: measured once per machine, set of models and number of threads, and
/// stored, never measured while a text is being decided.
struct Costs {
  CostCurve target;
  std::vector<DraftCosts> drafts;  ///< of each draft model, if any
  SelectCosts select;

  /// For one of `texts` texts that take all passes together. Requires: texts ≥ 1.
  Costs shared(std::size_t texts) const;

  /// A number that is the same for the same costs only: printed beside the seed, because both fix the text.
  std::uint64_t hash() const;
};

}  // namespace spectr

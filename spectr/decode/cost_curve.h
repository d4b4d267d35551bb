#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/model/language_model.h"

namespace spectr {

/// Seconds of one pass of a model by its number of rows (tokens of text and nodes of the tree).
class CostCurve {
 public:
  struct Point {
    std::size_t rows;
    double seconds;
  };

  /// Requires: at least one point, rows strictly ascending and ≥ 1, seconds > 0 and nowhere falling.
  explicit CostCurve(std::vector<Point> points);

  /// Measures passes of the given widths behind a text of `depth` tokens, short ones after passes like them:
  /// the medians of several rounds over all models and widths, so that what disturbs the machine for some
  /// seconds meets all alike. At most some ten seconds, or one round where that takes longer. Requires:
  /// widths ascending, ≥ 1; depth ≥ 1 and less than every context.
  static Result<std::vector<CostCurve>> measure(std::span<const LanguageModel* const> models,
                                                std::span<const std::size_t> widths, std::size_t depth);

  /// Linear between the points; beyond the last, its slope goes on.
  double seconds(double rows) const;

  /// What a pass of so many rows costs one of `texts` texts that take all passes together, each with as many
  /// rows. Requires: texts ≥ 1.
  CostCurve shared(std::size_t texts) const;

  std::span<const Point> points() const { return points_; }

 private:
  std::vector<Point> points_;
};

/// Seconds of what is done between passes, for laws of the whole vocabulary.
struct SelectCosts {
  double law = 0.0;      ///< a row of logits becomes a law, and a token is drawn from it
  double one = 0.0;      ///< a plan for one draft
  double several = 0.0;  ///< a plan for several drafts
};

/// What an automatic choice is based on: measured once per machine, set of models and number of threads, and
/// stored, never measured while a text is being decided.
struct Costs {
  CostCurve target;
  std::vector<CostCurve> drafts;  ///< of each draft model, if any
  SelectCosts select;

  /// For one of `texts` texts that take all passes together. Requires: texts ≥ 1.
  Costs shared(std::size_t texts) const;

  /// A number that is the same for the same costs only: printed beside the seed, because both fix the text.
  std::uint64_t hash() const;
};

}  // namespace spectr

#pragma once

#include <cstddef>
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

  /// Linear between the points; beyond the last, the slope between it and the one at half of its rows goes on
  /// (neighbours may differ by chance). Behind less than attention().behind tokens a pass counts as long as
  /// there.
  double seconds(double rows, double text = 0.0) const;

  /// What a pass of so many rows costs one of `texts` texts that take all passes together, each with as many
  /// rows. Requires: texts ≥ 1.
  CostCurve shared(std::size_t texts) const;

  std::span<const Point> points() const { return points_; }
  const AttentionCost& attention() const { return attention_; }

 private:
  /// Seconds that every row more than the last point's takes. Requires: two points.
  double last_slope() const;

  std::vector<Point> points_;
  AttentionCost attention_;
};

}  // namespace spectr

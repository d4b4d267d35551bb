#include "spectr/decode/cost_curve.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "spectr/base/check.h"

namespace spectr {

CostCurve::CostCurve(std::vector<Point> points, AttentionCost attention)
    : points_(std::move(points)), attention_(attention) {
  SPECTR_CHECK(!points_.empty() && attention_.per_token >= 0.0);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    SPECTR_CHECK(points_[i].rows >= 1 && points_[i].seconds > 0.0);
    if (i == 0) continue;
    SPECTR_CHECK(points_[i - 1].rows < points_[i].rows && points_[i - 1].seconds <= points_[i].seconds);
  }
}

double CostCurve::seconds(double rows, double text) const {
  const double further = std::max(text - static_cast<double>(attention_.behind), 0.0);
  const double attention = rows * further * attention_.per_token;
  if (rows <= static_cast<double>(points_.front().rows) || points_.size() == 1)
    return points_.front().seconds + attention;
  const auto above =
      std::ranges::find_if(points_, [rows](const Point& p) { return static_cast<double>(p.rows) >= rows; });
  if (above == points_.end())
    return points_.back().seconds + (rows - static_cast<double>(points_.back().rows)) * last_slope() +
           attention;
  const Point& right = *above;
  const Point& left = *(above - 1);
  const double share = (rows - static_cast<double>(left.rows)) / static_cast<double>(right.rows - left.rows);
  // std::lerp gives exactly the points, and falls nowhere.
  return std::lerp(left.seconds, right.seconds, share) + attention;
}

double CostCurve::last_slope() const {
  const Point& last = points_.back();
  const auto is_half = [&last](const Point& p) { return 2 * p.rows <= last.rows; };
  const auto half = std::ranges::find_if(points_ | std::views::reverse, is_half);
  const Point& from = half == points_.rend() ? points_.front() : *half;
  return (last.seconds - from.seconds) / static_cast<double>(last.rows - from.rows);
}

CostCurve CostCurve::shared(std::size_t texts) const {
  SPECTR_CHECK(texts >= 1);
  std::vector<Point> points = points_;
  for (Point& p : points) {
    p.seconds = seconds(static_cast<double>(texts * p.rows)) / static_cast<double>(texts);
  }
  return CostCurve(std::move(points), attention_);  // every row has its own
}

}  // namespace spectr

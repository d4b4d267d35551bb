#include "spectr/decode/cost_curve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/fnv1a.h"

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
  const Point& right = above == points_.end() ? points_.back() : *above;
  const Point& left = *(&right - 1);
  const double share = (rows - static_cast<double>(left.rows)) / static_cast<double>(right.rows - left.rows);
  // std::lerp gives exactly the points, and falls nowhere.
  return std::lerp(left.seconds, right.seconds, share) + attention;
}

CostCurve CostCurve::shared(std::size_t texts) const {
  SPECTR_CHECK(texts >= 1);
  std::vector<Point> points = points_;
  for (Point& p : points) {
    p.seconds = seconds(static_cast<double>(texts * p.rows)) / static_cast<double>(texts);
  }
  return CostCurve(std::move(points), attention_);  // every row has its own
}

Costs Costs::shared(std::size_t texts) const {
  Costs shared{target.shared(texts), {}, select};
  for (const DraftCosts& draft : drafts)
    shared.drafts.push_back({draft.passes.shared(texts), draft.alternation / static_cast<double>(texts)});
  return shared;
}

std::uint64_t Costs::hash() const {
  Fnv1a hash;
  const auto add_seconds = [&hash](double seconds) { hash.add(std::bit_cast<std::uint64_t>(seconds)); };
  const auto add_curve = [&](const CostCurve& curve) {
    hash.add(curve.points().size());
    for (const CostCurve::Point& point : curve.points()) {
      hash.add(point.rows);
      add_seconds(point.seconds);
    }
    hash.add(curve.attention().behind);
    add_seconds(curve.attention().per_token);
  };
  add_curve(target);
  for (const DraftCosts& draft : drafts) {
    add_curve(draft.passes);
    add_seconds(draft.alternation);
  }
  for (double seconds : {select.law, select.filtered, select.likelihood, select.one, select.several})
    add_seconds(seconds);
  return hash.value();
}

}  // namespace spectr

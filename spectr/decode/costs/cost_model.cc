#include "spectr/decode/costs/cost_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ranges>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/hash.h"

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

double CostCurve::seconds(double rows, double depth) const {
  const double further = std::max(depth - static_cast<double>(attention_.behind), 0.0);
  const double attention = rows * further * attention_.per_token;
  if (rows <= static_cast<double>(points_.front().rows) || points_.size() == 1)
    return points_.front().seconds + attention;
  const auto above =
      std::ranges::find_if(points_, [rows](const Point& p) { return static_cast<double>(p.rows) >= rows; });
  if (above == points_.end()) {
    const Point& last = points_.back();
    return last.seconds + (rows - static_cast<double>(last.rows)) * last_slope() + attention;
  }
  const Point& right = *above;
  const Point& left = *(above - 1);
  const double share = (rows - static_cast<double>(left.rows)) / static_cast<double>(right.rows - left.rows);
  // std::lerp reproduces the points exactly and is monotonic.
  return std::lerp(left.seconds, right.seconds, share) + attention;
}

double CostCurve::last_slope() const {
  const Point& last = points_.back();
  const auto is_half = [&last](const Point& p) { return 2 * p.rows <= last.rows; };
  const auto half = std::ranges::find_if(points_ | std::views::reverse, is_half);
  const Point& from = half == points_.rend() ? points_.front() : *half;
  return (last.seconds - from.seconds) / static_cast<double>(last.rows - from.rows);
}

CostCurve CostCurve::shared(std::size_t requests) const {
  SPECTR_CHECK(requests >= 1);
  std::vector<Point> points = points_;
  for (Point& p : points) {
    p.seconds = seconds(static_cast<double>(requests * p.rows)) / static_cast<double>(requests);
  }
  return CostCurve(std::move(points), attention_);  // every row has its own attention cost
}

Costs Costs::shared(std::size_t requests) const {
  Costs shared{target.shared(requests), {}, select};
  for (const DraftCosts& draft : drafts) {
    DraftCosts& one = shared.drafts.emplace_back(draft);
    one.alternation /= static_cast<double>(requests);
    if (!draft.first) one.passes = draft.passes.shared(requests);
  }
  return shared;
}

std::uint64_t Costs::hash() const {
  Fnv1a hash;
  const auto add = [&hash](double number) { hash.add(std::bit_cast<std::uint64_t>(number)); };
  const auto add_curve = [&](const CostCurve& curve) {
    hash.add(curve.points().size());
    for (const CostCurve::Point& point : curve.points()) {
      hash.add(point.rows);
      add(point.seconds);
    }
    hash.add(curve.attention().behind);
    add(curve.attention().per_token);
  };
  add_curve(target);
  for (const DraftCosts& draft : drafts) {
    add_curve(draft.passes);
    add(draft.alternation);
    if (draft.reading) add(*draft.reading);
    if (draft.first) add(*draft.first);
    if (draft.block) hash.add(*draft.block);
    for (const auto& learned : draft.learned) {
      if (!learned) continue;
      for (const LearnedPosition& position : *learned) {
        add(position.confidence);
        add(position.merging);
        std::ranges::for_each(position.accepted, add);
        if (position.level > 0) hash.add(position.level);
      }
    }
  }
  for (double seconds :
       {select.distribution, select.filtered, select.likelihood, select.one, select.several, select.optimal})
    add(seconds);
  return hash.value();
}

}  // namespace spectr

#include "spectr/decode/cost_curve.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/stopwatch.h"

namespace spectr {
namespace {

// Rounds over all widths end after so many, or after so many seconds.
constexpr int most_rounds = 12;
constexpr double most_seconds = 5.0;

/// A root with width − 1 nodes below it: the cost of a pass does not depend on their shape.
TokenTree tree_of(std::size_t width) {
  TokenTree tree(0);
  for (std::size_t i = 1; i < width; ++i) tree.child(TokenTree::root, static_cast<Token>(i));
  return tree;
}

}  // namespace

CostCurve::CostCurve(std::vector<Point> points) : points_(std::move(points)) {
  SPECTR_CHECK(!points_.empty());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    SPECTR_CHECK(points_[i].rows >= 1 && points_[i].seconds > 0.0);
    SPECTR_CHECK(i == 0 || points_[i - 1].rows < points_[i].rows);
  }
}

Result<CostCurve> CostCurve::measure(const LanguageModel& model, std::span<const std::size_t> widths,
                                     std::size_t depth) {
  SPECTR_CHECK(!widths.empty() && depth >= 1 && widths.back() <= model.vocabulary());
  SPECTR_TRY(const std::unique_ptr<Session> session, model.start(depth + 1, widths.back()));
  const std::vector<Token> text(depth, 0);
  SPECTR_TRY_VOID(session->score(text, TokenTree(0)));

  // Round after round, so that a disturbance of the machine meets all widths alike.
  std::vector<Point> points;
  for (std::size_t width : widths) points.push_back({width, std::numeric_limits<double>::infinity()});
  double spent = 0.0;
  for (int round = 0; round < most_rounds && spent < most_seconds; ++round) {
    for (Point& point : points) {
      const TokenTree tree = tree_of(point.rows);
      session->rewind(depth - 1);  // the last token and the nodes: as many rows as there are
      Stopwatch watch;
      SPECTR_TRY_VOID(session->score(text, tree));
      const double seconds = std::max(watch.lap(), 1e-9);
      point.seconds = std::min(point.seconds, seconds);
      spent += seconds;
    }
  }
  return CostCurve(std::move(points));
}

double CostCurve::seconds(double rows) const {
  if (rows <= static_cast<double>(points_.front().rows) || points_.size() == 1)
    return points_.front().seconds;
  const auto above =
      std::ranges::find_if(points_, [rows](const Point& p) { return static_cast<double>(p.rows) >= rows; });
  const Point& right = above == points_.end() ? points_.back() : *above;
  const Point& left = *(&right - 1);
  const double share = (rows - static_cast<double>(left.rows)) / static_cast<double>(right.rows - left.rows);
  return left.seconds + share * (right.seconds - left.seconds);
}

std::uint64_t Costs::hash() const {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over 64-bit words
  const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  for (const CostCurve* curve : {&target, &draft}) {
    for (const CostCurve::Point& point : curve->points()) {
      add(point.rows);
      add(std::bit_cast<std::uint64_t>(point.seconds));
    }
  }
  for (double seconds : {select.law, select.one, select.several}) add(std::bit_cast<std::uint64_t>(seconds));
  return hash;
}

}  // namespace spectr

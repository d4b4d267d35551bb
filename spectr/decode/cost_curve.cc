#include "spectr/decode/cost_curve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/median.h"
#include "spectr/base/stopwatch.h"

namespace spectr {
namespace {

// Rounds over all widths end after so many, or after so many seconds.
constexpr int most_rounds = 12;
constexpr double most_seconds = 10.0;

// After so long the caches hold what passes of a kind need, or cannot hold it.
constexpr double settling_seconds = 2e-3;

/// A root with width − 1 nodes below it: the cost of a pass does not depend on their shape.
TokenTree tree_of(std::size_t width) {
  TokenTree tree(0);
  for (std::size_t i = 1; i < width; ++i) tree.child(TokenTree::root, static_cast<Token>(i));
  return tree;
}

/// A wider pass does not cost less: where it seemed to, the two and those between get their mean (the closest
/// ascending numbers by least squares; "pool adjacent violators").
std::vector<CostCurve::Point> ascending(std::vector<CostCurve::Point> points) {
  for (std::size_t end = 1; end < points.size(); ++end) {
    double sum = points[end].seconds;
    std::size_t begin = end;
    const auto mean = [&] { return sum / static_cast<double>(end + 1 - begin); };
    while (begin > 0 && points[begin - 1].seconds > mean()) sum += points[--begin].seconds;
    const double level = mean();
    for (std::size_t i = begin; i <= end; ++i) points[i].seconds = level;
  }
  return points;
}

/// A model whose passes are timed behind one text.
class TimedModel {
 public:
  static Result<TimedModel> start(const LanguageModel& model, std::span<const std::size_t> widths,
                                  std::size_t depth) {
    SPECTR_TRY(std::unique_ptr<Session> session, model.start(depth + 1, widths.back()));
    TimedModel timed(std::move(session), widths, depth);
    SPECTR_TRY_VOID(timed.session_->score(timed.text_, TokenTree(0)));
    return timed;
  }

  /// Passes of each width in turn.
  Result<void> time() {
    for (std::size_t i = 0; i < widths_.size(); ++i) SPECTR_TRY_VOID(time(tree_of(widths_[i]), seconds_[i]));
    return {};
  }

  CostCurve curve() const {
    std::vector<CostCurve::Point> points;
    for (std::size_t i = 0; i < widths_.size(); ++i) points.push_back({widths_[i], median(seconds_[i])});
    return CostCurve(ascending(std::move(points)));
  }

 private:
  TimedModel(std::unique_ptr<Session> session, std::span<const std::size_t> widths, std::size_t depth)
      : session_(std::move(session)), widths_(widths), text_(depth, 0), seconds_(widths.size()) {}

  /// Passes over the last token and the nodes of a tree. The first ones do not count where they are short: in
  /// a text a pass follows its like, and soon; here it follows a much wider one, or another model's, and
  /// finds its weights gone from the caches.
  Result<void> time(const TokenTree& tree, std::vector<double>& seconds) {
    for (double spent = 0.0; spent < 2 * settling_seconds;) {
      const bool settled = spent >= settling_seconds;
      session_->rewind(text_.size() - 1);
      Stopwatch watch;
      SPECTR_TRY_VOID(session_->score(text_, tree));
      const double took = std::max(watch.lap(), 1e-9);
      if (settled || took >= settling_seconds) seconds.push_back(took);
      spent += took;
    }
    return {};
  }

  std::unique_ptr<Session> session_;
  std::span<const std::size_t> widths_;
  std::vector<Token> text_;
  std::vector<std::vector<double>> seconds_;  // [width][round]
};

}  // namespace

CostCurve::CostCurve(std::vector<Point> points) : points_(std::move(points)) {
  SPECTR_CHECK(!points_.empty());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    SPECTR_CHECK(points_[i].rows >= 1 && points_[i].seconds > 0.0);
    if (i == 0) continue;
    SPECTR_CHECK(points_[i - 1].rows < points_[i].rows && points_[i - 1].seconds <= points_[i].seconds);
  }
}

Result<std::vector<CostCurve>> CostCurve::measure(std::span<const LanguageModel* const> models,
                                                  std::span<const std::size_t> widths, std::size_t depth) {
  SPECTR_CHECK(!widths.empty() && depth >= 1);
  std::vector<TimedModel> timed;
  for (const LanguageModel* model : models) {
    SPECTR_CHECK(widths.back() <= model->vocabulary());
    SPECTR_TRY(TimedModel one, TimedModel::start(*model, widths, depth));
    timed.push_back(std::move(one));
  }
  Stopwatch watch;
  double spent = 0.0;
  for (int round = 0; round < most_rounds && spent < most_seconds; ++round, spent += watch.lap()) {
    for (TimedModel& model : timed) SPECTR_TRY_VOID(model.time());
  }
  std::vector<CostCurve> curves;
  for (TimedModel& model : timed) curves.push_back(model.curve());
  return curves;
}

double CostCurve::seconds(double rows) const {
  if (rows <= static_cast<double>(points_.front().rows) || points_.size() == 1)
    return points_.front().seconds;
  const auto above =
      std::ranges::find_if(points_, [rows](const Point& p) { return static_cast<double>(p.rows) >= rows; });
  const Point& right = above == points_.end() ? points_.back() : *above;
  const Point& left = *(&right - 1);
  const double share = (rows - static_cast<double>(left.rows)) / static_cast<double>(right.rows - left.rows);
  return std::lerp(left.seconds, right.seconds, share);  // exactly the points, and nowhere falling
}

CostCurve CostCurve::shared(std::size_t texts) const {
  SPECTR_CHECK(texts >= 1);
  std::vector<Point> points = points_;
  for (Point& p : points) {
    p.seconds = seconds(static_cast<double>(texts * p.rows)) / static_cast<double>(texts);
  }
  return CostCurve(std::move(points));
}

Costs Costs::shared(std::size_t texts) const {
  Costs shared{target.shared(texts), {}, select};
  for (const CostCurve& draft : drafts) shared.drafts.push_back(draft.shared(texts));
  return shared;
}

std::uint64_t Costs::hash() const {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over 64-bit words
  const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  const auto add_curve = [&add](const CostCurve& curve) {
    add(curve.points().size());
    for (const CostCurve::Point& point : curve.points()) {
      add(point.rows);
      add(std::bit_cast<std::uint64_t>(point.seconds));
    }
  };
  add_curve(target);
  for (const CostCurve& draft : drafts) add_curve(draft);
  for (double seconds : {select.law, select.one, select.several}) add(std::bit_cast<std::uint64_t>(seconds));
  return hash;
}

}  // namespace spectr

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/stopwatch.h"
#include "spectr/decode/costs/measure_costs.h"
#include "spectr/lm/flat_tree.h"

namespace spectr {
namespace {

// The rounds over all widths end after this number of rounds or seconds.
constexpr int max_rounds = 12;
constexpr double max_seconds = 2.5;

// After this time the caches have reached a steady state for one kind of pass.
constexpr double settling_seconds = 2e-3;

// Rows of alternating passes, if the widths allow it: a token and a node below it.
constexpr std::size_t alternating_rows = 2;

/// Makes the times non-decreasing, since a wider pass does not cost less: violating neighbours get their mean
/// (isotonic least squares, "pool adjacent violators").
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

/// Caps each time by that of several narrower passes in sequence: a longer time was a disturbance.
std::vector<CostCurve::Point> capped(std::vector<CostCurve::Point> points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto instead = static_cast<double>(div_up(points[i].rows, points[j].rows));
      points[i].seconds = std::min(points[i].seconds, instead * points[j].seconds);
    }
  }
  return points;
}

/// The seconds of a pass. Those of a trained drafter have two parts: the first pass of a block, and a later
/// one.
struct Lap {
  double first = 0.0;
  double pass = 0.0;
  double all() const { return first + pass; }
};

/// A model or a trained drafter whose passes after one sequence are timed.
class TimedModel {
 public:
  static Result<TimedModel> start(const LanguageModel& model, std::span<const std::size_t> widths,
                                  std::size_t depth) {
    SPECTR_CHECK(widths.back() <= model.vocabulary());
    SPECTR_TRY(std::unique_ptr<Session> session, model.start(depth + 1, widths.back()));
    return start(nullptr, std::move(session), widths, depth);
  }

  static Result<TimedModel> start(const LanguageModel& target, const FollowTarget& drafter,
                                  std::span<const std::size_t> widths, std::size_t depth) {
    SPECTR_CHECK(widths.back() < target.vocabulary());
    SPECTR_TRY(std::unique_ptr<Session> followed, target.start(depth + 1, 1));
    SPECTR_TRY(std::unique_ptr<Session> session, drafter(*followed, widths.back() + 1));
    return start(std::move(followed), std::move(session), widths, depth);
  }

  /// Returns the seconds of a pass over the last token and the nodes of a tree.
  Result<Lap> pass(const TokenTree& tree) {
    session_->rewind(sequence_.size() - 1);
    Lap lap;
    Stopwatch watch;
    if (is_trained()) {
      // In a block it also reads the states of tokens that were accepted: here that of the last one.
      if (session_->length() + 1 == sequence_.size()) session_->rewind(session_->length() - 1);
      SPECTR_TRY_VOID(session_->score(sequence_, TokenTree(0)));
      lap.first = watch.lap();
    }
    SPECTR_TRY_VOID(session_->score(sequence_, tree));
    lap.pass = std::max(watch.lap(), 1e-9);
    return lap;
  }

  /// Times passes of each width in turn. Short passes do not count at first: during decoding a pass closely
  /// follows a similar one, but here it follows a much wider one, or another model's, and finds its weights
  /// evicted from the caches.
  Result<void> time() {
    for (Width& width : widths_) {
      double spent = 0.0;
      for (int passes = 0; spent < 2 * settling_seconds || passes < 2 || width.seconds.empty(); ++passes) {
        const bool settled = spent >= settling_seconds;
        SPECTR_TRY(const Lap took, pass(width.tree));
        spent += took.all();
        width.min = std::min(width.min, took.all());  // ignores occasional passes that were interrupted
        if (!settled && width.min < settling_seconds) continue;
        width.seconds.push_back(took.pass);
        if (is_trained()) firsts_.push_back(took.first);
      }
    }
    return {};
  }

  /// Times the prefill of the whole sequence. A trained drafter reads the target's states, which are there.
  Result<void> read() {
    session_->rewind(0);
    if (is_trained() && sequence_.size() > 1) {
      target_->rewind(0);
      SPECTR_TRY_VOID(target_->score(std::span(sequence_).first(sequence_.size() - 1), TokenTree(0)));
    }
    Stopwatch watch;
    SPECTR_TRY_VOID(session_->score(sequence_, TokenTree(0)));
    readings_.push_back(watch.lap() / static_cast<double>(sequence_.size()));
    return {};
  }

  /// Returns the prefill seconds per token, in the least disturbed round.
  double reading() const { return *std::ranges::min_element(readings_); }

  /// Returns the costs of a draft model or a trained drafter.
  DraftCosts costs(double alternation) const {
    DraftCosts costs = {curve(), alternation, reading()};
    if (!is_trained()) return costs;
    costs.first = lower_quartile(firsts_);
    costs.reading = std::max(0.0, reading() - *costs.first / static_cast<double>(sequence_.size()));
    if (session_->max_depth() < no_limit) costs.block = session_->max_depth();
    return costs;
  }

  CostCurve curve() const { return CostCurve(ascending(capped(measured()))); }
  bool is_trained() const { return target_ != nullptr; }

  /// Adds, for each width, the ratio of the median time to the lower quartile.
  void add_spreads(std::vector<double>& spreads) const {
    for (const Width& width : widths_)
      spreads.push_back(median(width.seconds) / lower_quartile(width.seconds));
  }

  /// Returns the largest factor by which a measured time deviates from the fitted curve.
  double bent() const {
    const std::vector<CostCurve::Point> points = measured();
    const CostCurve straight = curve();
    double max = 1.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double ratio = points[i].seconds / straight.points()[i].seconds;
      max = std::max({max, ratio, 1.0 / ratio});
    }
    return max;
  }

 private:
  std::vector<CostCurve::Point> measured() const {
    std::vector<CostCurve::Point> points;
    for (const Width& width : widths_) points.push_back({width.rows, lower_quartile(width.seconds)});
    return points;
  }

  struct Width {
    std::size_t rows;
    TokenTree tree;
    double min = std::numeric_limits<double>::infinity();
    std::vector<double> seconds = {};  // only of passes that count
  };

  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  static Result<TimedModel> start(std::unique_ptr<Session> target, std::unique_ptr<Session> session,
                                  std::span<const std::size_t> widths, std::size_t depth) {
    TimedModel timed(std::move(target), std::move(session), widths, depth);
    SPECTR_TRY_VOID(timed.session_->score(timed.sequence_, TokenTree(0)));
    return timed;
  }

  TimedModel(std::unique_ptr<Session> target, std::unique_ptr<Session> session,
             std::span<const std::size_t> widths, std::size_t depth)
      : target_(std::move(target)), session_(std::move(session)), sequence_(depth, 0) {
    for (const std::size_t rows : widths)
      widths_.push_back({rows, flat_tree(is_trained() ? rows + 1 : rows)});
  }

  std::unique_ptr<Session> target_;  // the session that a trained drafter follows; null: a model
  std::unique_ptr<Session> session_;
  std::vector<Token> sequence_;
  std::vector<Width> widths_;
  std::vector<double> readings_;  // [round]
  std::vector<double> firsts_;    // of trained drafters
};

/// Measures a draft model whose passes alternate with the target's.
class Alternation {
 public:
  explicit Alternation(std::size_t rows) : tree_(flat_tree(rows)) {}

  /// Times both models alone and alternating, in direct succession. Takes the minimum of a few passes each,
  /// so that other load on the machine has little effect.
  Result<void> time(TimedModel& draft, TimedModel& target) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    SPECTR_TRY(const double draft_alone, alone(draft));
    SPECTR_TRY(const double target_alone, alone(target));
    double draft_in_turn = infinite, target_in_turn = infinite;
    for (int turn = 0; turn < turns; ++turn) {
      SPECTR_TRY(const Lap of_draft, draft.pass(tree_));
      SPECTR_TRY(const Lap of_target, target.pass(tree_));
      if (turn == 0) continue;
      draft_in_turn = std::min(draft_in_turn, of_draft.all());
      target_in_turn = std::min(target_in_turn, of_target.all());
      if (of_target.all() >= settling_seconds) break;
    }
    longer_.push_back(longer(draft_in_turn, draft_alone) + longer(target_in_turn, target_alone));
    return {};
  }

  /// Returns the additional seconds per pair of alternating passes.
  double extra() const { return std::max(median(longer_), 0.0); }

 private:
  static constexpr int turns = 8;  // the first turn does not count

  /// Returns the minimum seconds of a model's passes without alternation, of two passes if they are long.
  Result<double> alone(TimedModel& model) {
    double min = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < turns; ++turn) {
      SPECTR_TRY(const Lap lap, model.pass(tree_));
      const double took = lap.all();
      if (turn > 0 || took >= settling_seconds) min = std::min(min, took);
      if (took >= settling_seconds && turn > 0) break;
    }
    return min;
  }

  /// Returns the slowdown of a pass by alternation. Long passes read more than the caches hold, so nothing
  /// can be evicted, and differences are noise.
  static double longer(double in_turn, double alone) {
    return alone >= settling_seconds ? 0.0 : in_turn - alone;
  }

  TokenTree tree_;
  std::vector<double> longer_;  // [round]
};

}  // namespace

Result<MeasuredCosts> measure_passes(const LanguageModel& target,
                                     std::span<const LanguageModel* const> drafts,
                                     std::span<const std::size_t> widths, std::size_t depth,
                                     const MeasuringProgress& progress,
                                     std::span<const FollowTarget> drafters) {
  SPECTR_CHECK(!widths.empty() && depth >= 1);
  SPECTR_TRY(TimedModel timed_target, TimedModel::start(target, widths, depth));
  std::vector<TimedModel> timed_drafts;
  for (const LanguageModel* draft : drafts) {
    SPECTR_TRY(TimedModel timed, TimedModel::start(*draft, widths, depth));
    timed_drafts.push_back(std::move(timed));
  }
  for (const FollowTarget& drafter : drafters) {
    SPECTR_TRY(TimedModel timed, TimedModel::start(target, drafter, widths, depth));
    timed_drafts.push_back(std::move(timed));
  }
  std::vector<Alternation> alternations(timed_drafts.size(),
                                        Alternation(std::min(alternating_rows, widths.back())));

  Stopwatch watch;
  double spent = 0.0;
  for (int round = 0; round < max_rounds && spent < max_seconds; ++round) {
    SPECTR_TRY_VOID(timed_target.time());
    for (std::size_t i = 0; i < timed_drafts.size(); ++i) {
      SPECTR_TRY_VOID(timed_drafts[i].read());
      SPECTR_TRY_VOID(timed_drafts[i].time());
      SPECTR_TRY_VOID(alternations[i].time(timed_drafts[i], timed_target));
    }
    spent += watch.lap();
    const double rounds = static_cast<double>(round + 1) / max_rounds;
    if (progress) progress(std::min(1.0, std::max(rounds, spent / max_seconds)));
  }

  Costs costs{timed_target.curve(), {}, {}};
  std::vector<double> spreads;
  timed_target.add_spreads(spreads);
  double bent = timed_target.bent();
  for (std::size_t i = 0; i < timed_drafts.size(); ++i) {
    costs.drafts.push_back(timed_drafts[i].costs(alternations[i].extra()));
    if (timed_drafts[i].is_trained()) continue;  // its later passes can be too short to tell a disturbance
    timed_drafts[i].add_spreads(spreads);
    bent = std::max(bent, timed_drafts[i].bent());
  }
  return MeasuredCosts{std::move(costs), std::max(median(std::move(spreads)), bent)};
}

}  // namespace spectr

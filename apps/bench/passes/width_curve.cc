#include "apps/bench/passes/width_curve.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "spectr/base/stopwatch.h"
#include "spectr/lm/flat_tree.h"
#include "spectr/nn/pass_profile.h"

namespace spectr::bench {
namespace {

constexpr double seconds_per_width_round = 0.05;  // per width, with at least three passes
constexpr int min_width_passes = 3;

/// Measurements of a width so far.
struct WidthPoint {
  std::size_t width;
  double min_seconds = 1e9;  // s
  std::size_t passes = 0;
  std::optional<double> joules = 0.0;
};

Result<void> pass_round(Session& session, std::span<const Token> text, WidthPoint& point,
                        EnergyMeter& meter) {
  const TokenTree tree = flat_tree(point.width);
  meter.start();
  double spent = 0.0;
  for (int i = 0; i < min_width_passes || spent < seconds_per_width_round; ++i) {
    session.rewind(text.size() - 1);  // rewinds to the last token: it is the root of the tree and recomputed
    Stopwatch watch;
    SPECTR_TRY_VOID(session.score(text, tree));
    const double seconds = watch.lap();
    point.min_seconds = std::min(point.min_seconds, seconds);
    spent += seconds;
    ++point.passes;
  }
  const auto energy = meter.stop();
  point.joules = point.joules && energy ? std::optional(*point.joules + energy->joules) : std::nullopt;
  return {};
}

/// Returns the bytes of weights that a pass of each width reads after the prompt.
Result<std::vector<double>> weight_bytes(const Transformer& model, std::span<const Token> text,
                                         std::span<const std::size_t> widths) {
  PassProfile profile;
  const std::size_t widest = std::ranges::max(widths);
  SPECTR_TRY(const std::unique_ptr<Session> session, model.start(text.size() + 1, widest, &profile));
  SPECTR_TRY_VOID(session->score(text, TokenTree(text.back())));
  std::vector<double> bytes;
  for (const std::size_t width : widths) {
    const double before = profile.weight_bytes();
    session->rewind(text.size() - 1);
    SPECTR_TRY_VOID(session->score(text, flat_tree(width)));
    bytes.push_back(profile.weight_bytes() - before);
  }
  return bytes;
}

Result<void> check(const LanguageModel& model, const WidthSettings& settings) {
  if (settings.widths.empty() || settings.depths.empty()) return error("no widths or no depths are given");
  for (std::size_t width : settings.widths) {
    if (width < 1 || width > model.vocabulary()) {
      return error("a pass of {} nodes is impossible: the vocabulary has {} tokens", width,
                   model.vocabulary());
    }
  }
  return {};
}

}  // namespace

Result<Json> measure_widths(const Transformer& model, const WidthSettings& settings, EnergyMeter& meter,
                            const std::function<void(std::size_t, std::size_t)>& done) {
  SPECTR_TRY_VOID(check(model, settings));
  std::vector<std::size_t> widths = settings.widths;
  widths.push_back(1);  // the baseline of `relative`
  std::ranges::sort(widths);
  widths.erase(std::ranges::unique(widths).begin(), widths.end());

  Json rows = Json::array();
  for (std::size_t d = 0; d < settings.depths.size(); ++d) {
    const std::size_t depth = settings.depths[d];
    SPECTR_TRY(const std::unique_ptr<Session> session, model.start(depth + 2, widths.back()));
    const std::vector<Token> text(depth + 1, 0);
    SPECTR_TRY_VOID(session->score(text, TokenTree(0)));
    std::vector<WidthPoint> points;
    for (std::size_t width : widths) points.push_back({width});
    for (std::size_t round = 0; round < settings.rounds; ++round) {
      for (WidthPoint& point : points) SPECTR_TRY_VOID(pass_round(*session, text, point, meter));
      done(d * settings.rounds + round + 1, settings.depths.size() * settings.rounds);
    }
    SPECTR_TRY(const std::vector<double> bytes, weight_bytes(model, text, widths));
    for (std::size_t i = 0; i < points.size(); ++i) {
      const WidthPoint& point = points[i];
      if (std::ranges::find(settings.widths, point.width) == settings.widths.end()) continue;
      rows.push_back(
          {{"width", point.width},
           {"depth", depth},
           {"ms", point.min_seconds * 1e3},
           {"relative", point.min_seconds / points.front().min_seconds},
           {"weight_mb", bytes[i] * 1e-6},
           {"joules", point.joules ? Json(*point.joules / static_cast<double>(point.passes)) : Json()}});
    }
  }
  return rows;
}

}  // namespace spectr::bench

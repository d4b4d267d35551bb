#include "apps/bench/passes/cluster_curve.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "spectr/base/stopwatch.h"
#include "spectr/lm/flat_tree.h"

namespace spectr::bench {
namespace {

constexpr double seconds_per_round = 0.1;  // per width and round, with at least three passes
constexpr std::size_t min_passes = 3;

/// Returns the time of an exchange in seconds, the fastest of three runs.
template <class Exchange>
Result<double> exchange_seconds(std::size_t count, const Exchange& exchange) {
  SPECTR_TRY(const double first, exchange({count, 10}));
  const auto rounds = static_cast<std::size_t>(std::clamp(0.03 / first, 10.0, 3000.0));
  double fastest = first;
  for (int run = 0; run < 3; ++run) {
    SPECTR_TRY(const double seconds, exchange({count, rounds}));
    fastest = std::min(fastest, seconds);
  }
  return fastest;
}

Result<double> sum_seconds(ShardedBackend& ranks, std::size_t count) {
  return exchange_seconds(count, [&](const Rounds& rounds) { return ranks.sum_seconds(rounds); });
}
/// Returns the time of a message from a rank to the next.
Result<double> hop_seconds(ShardedBackend& ranks, std::size_t count) {
  SPECTR_TRY(const double ring,
             exchange_seconds(count, [&](const Rounds& rounds) { return ranks.ring_seconds(rounds); }));
  return ring / static_cast<double>(ranks.ranks());
}

/// The average of several passes.
struct Pass {
  double seconds;
  std::vector<RankTimes> ranks;  ///< sums over all passes
};

Result<Pass> run_passes(Session& session, std::span<const Token> text, std::size_t width,
                        ShardedBackend* ranks) {
  const TokenTree tree = flat_tree(width);
  if (ranks != nullptr) {
    SPECTR_TRY_VOID(ranks->take_times());
  }
  std::size_t passes = 0;
  Stopwatch watch;
  double spent = 0.0;
  for (; passes < min_passes || spent < seconds_per_round; ++passes) {
    session.rewind(text.size() - 1);  // rewinds to the last token: it is the root of the tree and recomputed
    SPECTR_TRY_VOID(session.score(text, tree));
    spent += watch.lap();
  }
  Pass pass{spent / static_cast<double>(passes), {}};
  if (ranks != nullptr) {
    SPECTR_TRY(pass.ranks, ranks->take_times());
  }
  return pass;
}

/// Returns the seconds that ranks compute in a pass: the maximum for Split::rows, the sum for Split::layers.
double computing_seconds(const Pass& pass, Split split) {
  double most = 0.0, sum = 0.0;
  for (const RankTimes& rank : pass.ranks) {
    const double seconds = rank.computing / static_cast<double>(rank.passes);
    most = std::max(most, seconds);
    sum += seconds;
  }
  return split == Split::rows ? most : sum;
}

/// Returns the row of a width with the components of its time.
Result<Json> row_of(const Pass& pass, std::size_t width, std::size_t numbers, ShardedBackend* ranks,
                    Split split) {
  Json row = {{"ranks", ranks == nullptr ? 1 : ranks->ranks()},
              {"split", ranks == nullptr ? Json() : Json(split == Split::rows ? "row" : "layer")},
              {"width", width},
              {"ms", pass.seconds * 1e3}};
  double computing = pass.seconds, exchange = 0.0, order = 0.0;
  std::size_t exchanges = 0;
  if (ranks != nullptr) {
    computing = computing_seconds(pass, split);
    if (split == Split::rows) {
      exchanges = pass.ranks.back().exchanges / pass.ranks.back().passes;
      SPECTR_TRY(exchange, sum_seconds(*ranks, numbers));
      SPECTR_TRY(order, hop_seconds(*ranks, 64));
    } else {
      exchanges = ranks->ranks();
      SPECTR_TRY(exchange, hop_seconds(*ranks, numbers));
    }
  }
  row["computing_ms"] = computing * 1e3;
  row["exchanges"] = exchanges;
  row["exchange_us"] = exchange * 1e6;
  row["predicted_ms"] = (computing + order + static_cast<double>(exchanges) * exchange) * 1e3;
  return row;
}

}  // namespace

Result<Json> measure_exchanges(ShardedBackend& ranks) {
  Json rows = Json::array();
  for (const std::size_t count : {1, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18}) {
    SPECTR_TRY(const double sum, sum_seconds(ranks, count));
    SPECTR_TRY(const double hop, hop_seconds(ranks, count));
    rows.push_back({{"ranks", ranks.ranks()},
                    {"bytes", count * sizeof(float)},
                    {"sum_us", sum * 1e6},
                    {"hop_us", hop * 1e6}});
  }
  return rows;
}

Result<Json> measure_shared_passes(const Transformer& model, ShardedBackend* ranks, Split split,
                                   const ClusterSettings& settings) {
  if (settings.widths.empty()) return error("no widths are given");
  const std::size_t widest = std::ranges::max(settings.widths);
  if (std::ranges::min(settings.widths) < 1 || widest > model.vocabulary()) {
    return error("a pass of {} rows is impossible: the vocabulary has {} tokens", widest, model.vocabulary());
  }
  SPECTR_TRY(const std::unique_ptr<Session> session, model.start(settings.depth + 2, widest));
  const std::vector<Token> text(settings.depth + 1, 0);
  SPECTR_TRY_VOID(session->score(text, TokenTree(0)));
  std::vector<std::optional<Pass>> fastest(settings.widths.size());
  for (std::size_t round = 0; round < settings.rounds; ++round) {
    for (std::size_t i = 0; i < fastest.size(); ++i) {
      SPECTR_TRY(Pass pass, run_passes(*session, text, settings.widths[i], ranks));
      if (!fastest[i] || pass.seconds < fastest[i]->seconds) fastest[i] = std::move(pass);
    }
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < fastest.size(); ++i) {
    const std::size_t width = settings.widths[i], numbers = width * model.spec().width;
    SPECTR_TRY(Json row, row_of(*fastest[i], width, numbers, ranks, split));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace spectr::bench

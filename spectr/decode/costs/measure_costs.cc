#include "spectr/decode/costs/measure_costs.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/base/stopwatch.h"
#include "spectr/decode/auto/auto_params.h"
#include "spectr/sampling/likelihood.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/plans/k_seq.h"
#include "spectr/transport/plans/tickets.h"

namespace spectr {
namespace {

constexpr std::size_t widths[] = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, AutoParams::max_rows, 48, AutoParams::max_block_rows};
constexpr std::size_t depth = 64;
constexpr std::size_t attention_rows = 8;

/// Returns the minimum time of several calls of `work`, which returns a Result.
template <class Work>
Result<double> min_seconds(Work work) {
  double min = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 16; ++i) {
    Stopwatch watch;
    SPECTR_TRY_VOID(work());
    min = std::min(min, watch.lap());
  }
  return min;
}

/// Returns a session of a sequence of one token, scored.
Result<std::unique_ptr<Session>> scored(const LanguageModel& model) {
  const Token sequence[] = {0};
  SPECTR_TRY(std::unique_ptr<Session> session, model.start(1, 1));
  SPECTR_TRY_VOID(session->score(sequence, TokenTree(0)));
  return session;
}

/// Measures the costs of selection for the models' own distributions after one token. `draft` is the target
/// itself if there is no draft model.
Result<SelectCosts> measure_select(const LanguageModel& target, const LanguageModel& draft) {
  SPECTR_TRY(const auto p_session, scored(draft));
  SPECTR_TRY(const auto q_session, scored(target));
  SPECTR_TRY(const Warp dense, Warp::make(WarpOptions::none()));
  SPECTR_TRY(const Warp filtered, Warp::make({}));
  const auto distribution_of = [vocabulary = target.vocabulary()](const Session& session, const Warp& warp) {
    const Logits row = session.logits(TokenTree::root);
    return warp.distribution(row.first(std::min(row.size(), vocabulary)), {}, vocabulary);
  };
  SPECTR_TRY(const Distribution p, distribution_of(*p_session, dense));
  SPECTR_TRY(const Distribution q, distribution_of(*q_session, dense));

  CounterRandom choices(0);
  choices.enter({0, 0, 0, Purpose::draft});
  const auto draw_from = [&](const Warp& warp) {
    return min_seconds([&]() -> Result<Token> {
      SPECTR_TRY(const Distribution distribution, distribution_of(*q_session, warp));
      return distribution.draw(choices);
    });
  };
  const auto likelihood = [&]() -> Result<double> {
    return negative_log_likelihood(q_session->logits(TokenTree::root), 0);
  };
  const auto seconds_of = [&](auto build, std::size_t drafts) {
    return min_seconds([&] { return build(DraftDistributions(p, drafts), q, {}); });
  };
  SelectCosts costs;
  SPECTR_TRY(costs.distribution, draw_from(dense));
  SPECTR_TRY(costs.filtered, draw_from(filtered));
  SPECTR_TRY(costs.likelihood, min_seconds(likelihood));
  SPECTR_TRY(costs.one, seconds_of(build_k_seq, 1));
  SPECTR_TRY(costs.several, seconds_of(build_k_seq, 4));
  SPECTR_TRY(costs.optimal, seconds_of(build_tickets, 4));
  return costs;
}

/// Adds the attention cost beyond the depth at which a curve was measured.
Result<void> add_attention(CostCurve& passes, const LanguageModel& model, std::size_t rows,
                           std::size_t behind) {
  SPECTR_TRY(const double per_token, model.attention_seconds(rows, behind));
  const auto points = passes.points();
  passes = CostCurve({points.begin(), points.end()}, {.behind = behind, .per_token = per_token});
  return {};
}

}  // namespace

Result<MeasuredCosts> measure_costs(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                                    const MeasuringProgress& progress,
                                    std::span<const FollowTarget> drafters) {
  std::vector<const LanguageModel*> models = {&target};
  models.insert(models.end(), drafts.begin(), drafts.end());
  std::size_t behind = depth;
  const std::size_t more = drafters.empty() ? 0 : 1;  // the tree of a drafter has a root above its rows
  const std::size_t max_rows = drafters.empty() ? AutoParams::max_rows : AutoParams::max_block_rows;
  std::span<const std::size_t> possible = widths;
  while (possible.back() > max_rows) possible = possible.first(possible.size() - 1);
  for (const LanguageModel* model : models) {
    if (model->context() < 2) {
      return error(
          "{} has a context of {} tokens: its passes cannot be measured, name another method than auto",
          model->name(), model->context());
    }
    behind = std::min(behind, model->context() - 1);
    while (possible.size() > 1 && possible.back() + more > model->vocabulary())
      possible = possible.first(possible.size() - 1);
  }

  SPECTR_TRY(MeasuredCosts measured, measure_passes(target, drafts, possible, behind, progress, drafters));
  Costs& costs = measured.costs;
  const std::size_t rows = std::min(attention_rows, possible.back());
  SPECTR_TRY_VOID(add_attention(costs.target, target, rows, behind));
  for (std::size_t i = 0; i < drafts.size(); ++i)
    SPECTR_TRY_VOID(add_attention(costs.drafts[i].passes, *drafts[i], rows, behind));
  SPECTR_TRY(costs.select, measure_select(target, drafts.empty() ? target : *drafts.front()));
  return measured;
}

}  // namespace spectr

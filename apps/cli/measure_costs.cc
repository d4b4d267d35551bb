#include "apps/cli/measure_costs.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "apps/cli/failure.h"
#include "spectr/base/counter_random.h"
#include "spectr/base/stopwatch.h"
#include "spectr/decode/auto_drafter.h"
#include "spectr/decode/pass_costs.h"
#include "spectr/model/attention_seconds.h"
#include "spectr/sampling/likelihood.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/k_seq.h"

namespace spectr::cli {
namespace {

constexpr std::size_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, AutoDrafter::most_rows};
constexpr std::size_t depth = 128;
constexpr std::size_t attention_rows = 8;

// On a machine that does nothing else passes differ by less.
constexpr double usual_spread = 1.3;

/// The least of several times that `work` takes.
template <class Work>
double least_seconds(Work work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 16; ++i) {
    Stopwatch watch;
    work();
    least = std::min(least, watch.lap());
  }
  return least;
}

/// Of the models' own laws after one token. The draft's is the target's too where that has no other.
SelectCosts measure_select(const Transformer& target, const Transformer& draft) {
  const Token text[] = {0};
  const auto scored = [&](const Transformer& model) {
    auto session = need(model.start(1, 1), Status::failed);
    need(session->score(text, TokenTree(0)), Status::failed);
    return session;
  };
  const auto p_session = scored(draft), q_session = scored(target);
  const std::size_t vocabulary = target.vocabulary();
  const Warp dense = need(Warp::make(WarpOptions::none())), filtered = need(Warp::make({}));
  const auto law_of = [&](const Session& session, const Warp& warp) {
    const Logits row = session.logits(TokenTree::root);
    return need(warp.law(row.first(std::min(row.size(), vocabulary)), {}, vocabulary));
  };
  const Distribution p = law_of(*p_session, dense), q = law_of(*q_session, dense);
  CounterRandom choices(0);
  choices.enter({0, 0, 0, Purpose::draft});
  const auto draw_from = [&](const Warp& warp) {
    return least_seconds([&] { (void)law_of(*q_session, warp).draw(choices); });
  };
  const auto plan_for = [&](std::size_t drafts) {
    return least_seconds([&] { (void)need(build_k_seq(DraftLaws(p, drafts), q, {})); });
  };
  return {.law = draw_from(dense),
          .filtered = draw_from(filtered),
          .likelihood =
              least_seconds([&] { (void)negative_log_likelihood(q_session->logits(TokenTree::root), 0); }),
          .one = plan_for(1),
          .several = plan_for(4)};
}

}  // namespace

Costs measure_costs(std::span<const Transformer* const> models) {
  std::size_t behind = depth;
  std::span<const std::size_t> possible = widths;
  for (const Transformer* model : models) {
    const ModelConfig& config = model->config();
    if (config.context < 2) {
      throw Failure(Status::usage,
                    fmt::format("{} has a context of {} tokens: its passes cannot be measured, "
                                "name another method than auto",
                                config.name, config.context));
    }
    behind = std::min(behind, config.context - 1);
    while (possible.back() > std::max<std::size_t>(config.vocabulary, 1))
      possible = possible.first(possible.size() - 1);
  }
  const std::vector<const LanguageModel*> drafts(models.begin() + 1, models.end());
  auto [costs, spread] = need(measure_passes(*models.front(), drafts, possible, behind), Status::failed);
  const std::size_t rows = std::min(attention_rows, possible.back());
  const auto with_attention = [&](const CostCurve& curve, const Transformer& model) {
    const double per_token = need(attention_seconds(model, rows, behind), Status::failed);
    const auto points = curve.points();
    return CostCurve({points.begin(), points.end()}, {.behind = behind, .per_token = per_token});
  };
  costs.target = with_attention(costs.target, *models.front());
  for (std::size_t i = 0; i < drafts.size(); ++i)
    costs.drafts[i].passes = with_attention(costs.drafts[i].passes, *models[i + 1]);
  costs.select = measure_select(*models.front(), *models[models.size() > 1 ? 1 : 0]);
  if (spread > usual_spread) {
    fmt::print(stderr,
               "the machine was busy meanwhile: passes took {:.1f} times as long as they can; what was "
               "measured may be wrong, and is measured again where --cost-file names another file\n",
               spread);
  }
  return std::move(costs);
}

}  // namespace spectr::cli

#include "apps/bench/passes/select_times.h"

#include "apps/bench/passes/call_times.h"
#include "apps/bench/passes/laws.h"
#include "spectr/base/counter_random.h"
#include "spectr/transport/plans.h"

namespace spectr::bench {
namespace {

constexpr double seconds_per_measurement = 0.05;

/// A pair of distributions and its names in a row.
struct Case {
  std::string_view laws, filters;
  Distributions distributions;
};

std::vector<Case> cases(std::size_t vocabulary, std::uint32_t seed) {
  std::vector<Case> all;
  for (const LawKind& kind : law_kinds) {
    Distributions dense = kind.make(vocabulary, seed);
    Distributions short_ones = filtered(dense);
    all.push_back({kind.name, "none", std::move(dense)});
    all.push_back({kind.name, "default", std::move(short_ones)});
  }
  return all;
}

Json measure(const PlanRule& rule, const Case& of, std::size_t k) {
  const Distributions& distributions = of.distributions;
  Json row = {{"plan", rule.name},
              {"vocab", distributions.p.vocabulary()},
              {"laws", of.laws},
              {"filters", of.filters},
              {"k", k},
              {"build_us", nullptr},
              {"select_us", nullptr},
              {"error", nullptr}};
  const DraftDistributions drafts(distributions.p, k);
  const auto plan = rule.build(drafts, distributions.q, {});
  if (!plan) {
    row["error"] = plan.error().message;
    return row;
  }
  row["build_us"] = time_calls(seconds_per_measurement, [&] {
                      (void)rule.build(drafts, distributions.q, {});
                    }).median_microseconds;
  // Selections are timed in batches: a single one is shorter than reading the clock.
  constexpr std::size_t batch = 64;
  std::vector<Token> tokens((*plan)->drafts());
  CounterRandom choices(1);
  (*plan)->draw(tokens, choices);
  const auto select_all = [&] {
    for (std::size_t i = 0; i < batch; ++i) (void)(*plan)->select(tokens, choices);
  };
  row["select_us"] =
      time_calls(seconds_per_measurement, select_all).median_microseconds / static_cast<double>(batch);
  return row;
}

}  // namespace

Result<Json> measure_selection(const SelectSettings& settings,
                               const std::function<void(std::size_t, std::size_t)>& done) {
  std::vector<const PlanRule*> rules;
  for (const std::string& name : settings.plans) {
    SPECTR_TRY(const PlanRule* rule, find_plan(name));
    rules.push_back(rule);
  }
  if (rules.empty()) {
    for (const PlanRule& rule : plan_rules()) rules.push_back(&rule);
  }
  Json rows = Json::array();
  const std::size_t total =
      rules.size() * settings.vocabularies.size() * settings.drafts.size() * 2 * law_kinds.size();
  std::size_t finished = 0;
  for (std::size_t vocabulary : settings.vocabularies) {
    for (const Case& of : cases(vocabulary, settings.seed)) {
      for (const PlanRule* rule : rules) {
        for (std::size_t k : settings.drafts) {
          const bool repeats = rule->max_drafts == 1 && k != settings.drafts.front();
          if (!repeats) rows.push_back(measure(*rule, of, rule->max_drafts == 1 ? 1 : k));
          done(++finished, total);
        }
      }
    }
  }
  return rows;
}

}  // namespace spectr::bench

// Benchmarks building each plan, with one streaming pass over p and q as the reference.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/bench/passes/laws.h"
#include "spectr/base/counter_random.h"
#include "spectr/transport/plans.h"

namespace spectr {
namespace {

void one_pass(benchmark::State& state) {
  const auto [p, q] = bench::language_laws(static_cast<std::size_t>(state.range(0)), 1);
  for ([[maybe_unused]] auto _ : state) {
    double sum = 0.0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += std::min(p.probabilities()[i], q.probabilities()[i]);
    benchmark::DoNotOptimize(sum);
  }
}

void build(benchmark::State& state, const PlanRule& rule) {
  const auto [p, q] = bench::language_laws(static_cast<std::size_t>(state.range(0)), 1);
  const std::size_t k = rule.max_drafts == 1 ? 1 : static_cast<std::size_t>(state.range(1));
  for ([[maybe_unused]] auto _ : state) {
    auto plan = rule.build({p, k}, q, {});
    if (!plan) {
      state.SkipWithError(plan.error().message.c_str());
      return;
    }
    benchmark::DoNotOptimize(plan);
  }
}

void select(benchmark::State& state, const PlanRule& rule) {
  const auto [p, q] = bench::language_laws(static_cast<std::size_t>(state.range(0)), 1);
  const std::size_t k = rule.max_drafts == 1 ? 1 : static_cast<std::size_t>(state.range(1));
  const auto plan = rule.build({p, k}, q, {});
  if (!plan) {
    state.SkipWithError(plan.error().message.c_str());
    return;
  }
  CounterRandom choices(1);
  std::vector<Token> drafts((*plan)->drafts());
  (*plan)->draw(drafts, choices);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize((*plan)->select(drafts, choices));
}

constexpr std::int64_t dense = 32'000, shortened = 40;

void add_benchmarks() {
  benchmark::RegisterBenchmark("one pass", one_pass)
      ->Arg(dense)
      ->Arg(shortened)
      ->Unit(benchmark::kMicrosecond);
  for (const PlanRule& rule : plan_rules()) {
    const std::string name(rule.name);
    for (const std::int64_t k : {2, 8}) {
      for (const std::int64_t size : {dense, shortened}) {
        if (name == "otm-lp" && (size != shortened || k != 2)) continue;
        benchmark::RegisterBenchmark(("build " + name).c_str(), build, rule)
            ->Args({size, k})
            ->Unit(benchmark::kMicrosecond);
      }
    }
    if (name != "otm-lp")
      benchmark::RegisterBenchmark(("select " + name).c_str(), select, rule)->Args({dense, 8});
  }
}

}  // namespace
}  // namespace spectr

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  spectr::add_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
}

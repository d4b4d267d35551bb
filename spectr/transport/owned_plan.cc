#include "spectr/transport/owned_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spectr/base/counter_random.h"

namespace spectr {
namespace {

constexpr std::size_t max_plan_drafts = 1024;
constexpr double max_law_tuples = 2e5, max_law_outcomes = 2e7;

}  // namespace

Result<std::unique_ptr<OwnedPlan>> OwnedPlan::make(std::string_view name, Distribution p, Distribution q,
                                                   std::size_t k, const PlanOptions& options) {
  SPECTR_TRY(const PlanRule* rule, find_plan(name));
  if (p.vocabulary() != q.vocabulary())
    return error("p has a vocabulary of {}, but q has {}", p.vocabulary(), q.vocabulary());
  if (k < 1 || k > max_plan_drafts) return error("k must lie in [1, {}], got {}", max_plan_drafts, k);
  if (rule->max_drafts > 0 && k > rule->max_drafts)
    return error("k: plan {} takes at most {} draft, got {}", rule->name, rule->max_drafts, k);
  if (!std::isfinite(options.epsilon)) return error("epsilon must be a number, got {}", options.epsilon);
  if (options.rounds < 1) return error("rounds must be at least 1, got {}", options.rounds);
  std::unique_ptr<OwnedPlan> owned(new OwnedPlan(rule, std::move(p), std::move(q)));
  SPECTR_TRY(owned->plan_, rule->build(DraftDistributions(owned->p_, k), owned->q_, options));
  return owned;
}

double OwnedPlan::acceptance() const {
  const std::lock_guard lock(mutex_);
  return plan_->acceptance();
}

double OwnedPlan::bias() const {
  const std::lock_guard lock(mutex_);
  return plan_->bias();
}

std::optional<Distribution> OwnedPlan::residual() const {
  const std::lock_guard lock(mutex_);
  return plan_->residual();
}

Result<std::vector<double>> OwnedPlan::law() const {
  const auto V = static_cast<double>(vocabulary());
  const double tuples = std::pow(V, static_cast<double>(drafts()));
  if (tuples > max_law_tuples || tuples * V > max_law_outcomes) {
    return error("the law of {} drafts of {} tokens takes {:.3g} tuples, at most {:.3g} are enumerated",
                 drafts(), vocabulary(), tuples, std::min(max_law_tuples, max_law_outcomes / V));
  }
  const std::lock_guard lock(mutex_);
  return enumerate_distribution(*plan_, vocabulary());
}

Result<Distribution> OwnedPlan::conditional(std::span<const Token> drafts) const {
  SPECTR_TRY_VOID(check_drafts(drafts));
  const std::lock_guard lock(mutex_);
  return plan_->conditional(drafts);
}

std::vector<Token> OwnedPlan::draw(const RandomStream& stream) const {
  std::vector<Token> out(drafts());
  CounterRandom random(stream.seed, stream.stream);
  random.enter({.block = stream.block, .purpose = Purpose::draft});
  const std::lock_guard lock(mutex_);
  plan_->draw(out, random);
  return out;
}

Result<Selection> OwnedPlan::select(std::span<const Token> drafts, const RandomStream& stream) const {
  SPECTR_TRY_VOID(check_drafts(drafts));
  CounterRandom random(stream.seed, stream.stream);
  random.enter({.block = stream.block, .purpose = Purpose::select});
  const std::lock_guard lock(mutex_);
  return plan_->select(drafts, random);
}

Result<void> OwnedPlan::check_drafts(std::span<const Token> drafts) const {
  if (drafts.size() != this->drafts())
    return error("drafts must have {} tokens, got {}", this->drafts(), drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Token x = drafts[i];
    if (x < 0 || static_cast<std::size_t>(x) >= vocabulary())
      return error("drafts[{}] must lie in [0, {}], got {}", i, vocabulary() - 1, x);
    if (!(p_[x] > 0.0)) return error("drafts[{}] is {}, which has probability 0 in p", i, x);
    if (rule_->drafting != Drafting::independent && std::ranges::count(drafts.first(i), x) > 0)
      return error("drafts[{}] is {} again, but plan {} draws without replacement", i, x, rule_->name);
  }
  return {};
}

}  // namespace spectr

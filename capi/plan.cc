#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "spectr/transport/checked_distribution.h"
#include "spectr/transport/owned_plan.h"
#include "spectr/transport/plans.h"

struct spectr_plan {
  std::unique_ptr<spectr::OwnedPlan> plan;
};

namespace {

using namespace spectr;
using namespace spectr::capi;

Result<Distribution> distribution(const double* values, std::size_t vocabulary, std::string_view name) {
  SPECTR_TRY_VOID(need(values, name));
  SPECTR_TRY_VOID(need_vocabulary(vocabulary));
  return checked_distribution(std::span(values, vocabulary), name);
}

Result<std::span<const Token>> draft_list(const std::int32_t* drafts, std::size_t count) {
  if (count > 0) SPECTR_TRY_VOID(need(drafts, "drafts"));
  return std::span(drafts, count);
}

}  // namespace

bool spectr_plan_at(size_t index, spectr_plan_info* info) {
  const std::span<const PlanRule> rules = plan_rules();
  if (info == nullptr || index >= rules.size()) return false;
  const PlanRule& rule = rules[index];
  *info = {.name = c_string(rule.name),
           .summary = c_string(rule.summary),
           .lossless = rule.lossless,
           .independent = rule.drafting == Drafting::independent,
           .max_drafts = rule.max_drafts};
  return true;
}

spectr_status spectr_plan_new(const char* name, const double* p, const double* q, size_t vocabulary, size_t k,
                              const spectr_plan_options* options, spectr_plan** plan, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(plan, "plan"));
    *plan = nullptr;
    SPECTR_TRY_VOID(need(name, "name"));
    SPECTR_TRY(Distribution drafting, distribution(p, vocabulary, "p"));
    SPECTR_TRY(Distribution target, distribution(q, vocabulary, "q"));
    PlanOptions chosen;
    if (options != nullptr) chosen = {.epsilon = options->epsilon, .rounds = options->rounds};
    SPECTR_TRY(auto made, OwnedPlan::make(name, std::move(drafting), std::move(target), k, chosen));
    *plan = new spectr_plan{std::move(made)};
    return {};
  });
}

void spectr_plan_free(spectr_plan* plan) {
  delete plan;
}

size_t spectr_plan_drafts(const spectr_plan* plan) {
  return plan == nullptr ? 0 : plan->plan->drafts();
}

spectr_status spectr_plan_acceptance(const spectr_plan* plan, double* acceptance, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(plan, "plan"));
    SPECTR_TRY_VOID(need(acceptance, "acceptance"));
    *acceptance = plan->plan->acceptance();
    return {};
  });
}

spectr_status spectr_plan_law(const spectr_plan* plan, double* law, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(plan, "plan"));
    SPECTR_TRY_VOID(need(law, "law"));
    SPECTR_TRY(const std::vector<double> found, plan->plan->law());
    std::ranges::copy(found, law);
    return {};
  });
}

spectr_status spectr_plan_residual(const spectr_plan* plan, double* residual, bool* exists,
                                   spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(plan, "plan"));
    SPECTR_TRY_VOID(need(residual, "residual"));
    SPECTR_TRY_VOID(need(exists, "exists"));
    const auto found = plan->plan->residual();
    *exists = found.has_value();
    if (found) write(*found, residual);
    return {};
  });
}

spectr_status spectr_plan_conditional(const spectr_plan* plan, const int32_t* drafts, size_t count,
                                      double* conditional, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(plan, "plan"));
    SPECTR_TRY_VOID(need(conditional, "conditional"));
    SPECTR_TRY(const auto list, draft_list(drafts, count));
    SPECTR_TRY(const Distribution found, plan->plan->conditional(list));
    write(found, conditional);
    return {};
  });
}

spectr_status spectr_plan_draw(const spectr_plan* plan, const spectr_stream* stream, int32_t* drafts,
                               spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(plan, "plan"));
    SPECTR_TRY_VOID(need(stream, "stream"));
    SPECTR_TRY_VOID(need(drafts, "drafts"));
    std::ranges::copy(plan->plan->draw({stream->seed, stream->stream, stream->block}), drafts);
    return {};
  });
}

spectr_status spectr_plan_select(const spectr_plan* plan, const int32_t* drafts, size_t count,
                                 const spectr_stream* stream, int32_t* token, bool* accepted,
                                 spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(plan, "plan"));
    SPECTR_TRY_VOID(need(stream, "stream"));
    SPECTR_TRY_VOID(need(token, "token"));
    SPECTR_TRY(const auto list, draft_list(drafts, count));
    SPECTR_TRY(const Selection y, plan->plan->select(list, {stream->seed, stream->stream, stream->block}));
    *token = y.token;
    if (accepted != nullptr) *accepted = y.accepted;
    return {};
  });
}

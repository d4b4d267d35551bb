#include "spectr/decode/auto/best_shape.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "spectr/decode/auto/draft_candidate.h"
#include "spectr/decode/suffix_drafter.h"
#include "spectr/transport/plans.h"

namespace spectr {
namespace {

/// Returns true if the method drafts one sequence for any K.
bool is_chain(const MethodRule& method) {
  MethodOptions options;
  options.drafts = 2;
  const auto decoder = make_decoder(method, options);
  return decoder && decoder->shape().drafts == 1;
}

/// Returns the largest K that the request's plan supports.
std::size_t max_drafts(const MethodRule& method, const MethodRequest& request) {
  const auto plan = find_plan(request.others.plan.value_or(std::string(method.plan)));
  const std::size_t max = plan ? (*plan)->max_drafts : 0;
  return max == 0 ? AutoParams::drafts.back() : max;
}

/// Returns true if the trunk is also chosen automatically.
bool opens_trunk(const MethodRule& method, const MethodRequest& request) {
  return request.auto_trunk && method.reads(Setting::trunk);
}

}  // namespace

bool leaves_shape_open(const MethodRule& method, const MethodRequest& request) {
  const bool one_model = method.models.min == 1 && method.models.max == 1;
  const bool is_fixed = !request.others.tree.empty() || request.others.trunk > 0;
  if (!one_model || method.reads(Setting::beams) || is_fixed) return false;
  return !request.length || (!request.drafts && !is_chain(method)) || opens_trunk(method, request);
}

MethodOptions settings_by_costs(const MethodRule& method, const MethodRequest& request,
                                std::shared_ptr<const Costs> costs, const Warp& warp, std::size_t vocabulary,
                                std::optional<std::size_t> max_nodes) {
  MethodOptions settings = request.settings();
  if (method.reads(Setting::suffix_reach) && !request.length) settings.length = SuffixDrafter::open_length;
  if (costs != nullptr && request.load.value_or(1) > 1)
    costs = std::make_shared<const Costs>(costs->shared(*request.load));
  if (costs != nullptr && costs->drafts.size() == 1 && leaves_shape_open(method, request)) {
    const AutoParams params;
    const Support support = support_of(warp, vocabulary);
    constexpr std::size_t behind = 0, left = 256;
    const Forecast forecast(*costs, params, support, behind, left, RegretBudget(params));
    DraftCandidate candidate(0, *costs, params);
    if (const auto& learned = costs->drafts.front().learned[static_cast<std::size_t>(support)])
      candidate.remember(*learned);
    const bool chain = is_chain(method);
    const DraftShape best =
        candidate.best_shape(forecast, chain ? std::optional<std::size_t>(1) : request.drafts, request.length,
                             max_drafts(method, request), max_nodes, opens_trunk(method, request));
    settings.drafts = request.drafts.value_or(best.drafts);
    settings.length = best.length;
    if (opens_trunk(method, request)) settings.trunk = best.trunk;
  }
  settings.costs = std::move(costs);
  return settings;
}

}  // namespace spectr

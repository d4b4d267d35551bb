#include "spectr/decode/costs/best_shape.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spectr/decode/auto/policy.h"
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

/// Returns the largest K that the request's plan supports, at most `limit`.
std::size_t max_drafts(const MethodRule& method, const MethodRequest& request, std::size_t limit) {
  const auto plan = find_plan(request.others.plan.value_or(std::string(method.plan)));
  const std::size_t max = plan ? (*plan)->max_drafts : 0;
  return max == 0 ? limit : max;
}

/// Returns true if the trunk is also chosen automatically.
bool opens_trunk(const MethodRule& method, const MethodRequest& request) {
  return request.auto_trunk && method.reads(Setting::trunk);
}

/// The K and L that a request fixes, and the limits of the part of the shape that it leaves open.
struct OpenShape {
  std::optional<std::size_t> drafts, length;
  std::size_t max_drafts = 1;
  std::optional<std::size_t> max_rows;
  bool with_trunks = false;
};

/// Returns the shape that promises the most tokens per second among those with the given K and L, in blocks
/// of at most max_rows rows. If none is that small, returns the smallest.
DraftShape best_shape(const Costs& costs, Support support, const OpenShape& open) {
  constexpr std::size_t depth = 0, left = 256;
  const AutoParams params;
  const Forecast forecast(costs, params, support, depth, left, RegretBudget(params));
  const DraftCosts& draft = costs.drafts.front();
  const ShapeLimits limits = limits_of(draft);

  const std::size_t widest = forecast.sequences_differ() ? open.max_drafts : 1;
  const std::size_t longest = std::min(open.length.value_or(limits.length), limits.length);
  std::vector<Replay::Family> families;
  for (std::size_t K = open.drafts.value_or(1); K <= open.drafts.value_or(widest); ++K) {
    for (std::size_t trunk = 0; trunk < (open.with_trunks && K > 1 ? longest : 1); ++trunk)
      families.push_back({K, trunk, longest});
  }
  const double never[] = {0.0};
  Replay replay(families, never, params.memory, draft.first.has_value());
  forecast.begin(replay, draft);

  const std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  const std::size_t max_rows =
      std::min(open.max_rows.value_or(unlimited), open.drafts || open.length ? unlimited : limits.rows);
  DraftShape best = {open.drafts.value_or(1), open.length.value_or(1)};
  if (open.with_trunks && best.drafts > 1) best.trunk = best.length - 1;
  double best_rate = 0.0;
  for (std::size_t s = 0; s < replay.settings().size(); ++s) {
    DraftShape shape = replay.settings()[s].shape;
    if (open.length && shape.length < longest) continue;
    shape.length = open.length.value_or(shape.length);
    if (shape.trunk + shape.drafts * (shape.length - shape.trunk) >= max_rows) continue;
    const double tokens = replay.tokens(s);
    const double rate = tokens / (replay.seconds(s) + tokens * forecast.token_seconds(shape.drafts));
    if (rate <= best_rate) continue;
    best_rate = rate;
    best = shape;
  }
  return best;
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
    OpenShape open = {.drafts = is_chain(method) ? std::optional<std::size_t>(1) : request.drafts,
                      .length = request.length,
                      .max_drafts = max_drafts(method, request, limits_of(costs->drafts.front()).drafts),
                      .max_rows = max_nodes,
                      .with_trunks = opens_trunk(method, request)};
    const DraftShape best = best_shape(*costs, support_of(warp, vocabulary), open);
    settings.drafts = request.drafts.value_or(best.drafts);
    settings.length = best.length;
    if (opens_trunk(method, request)) settings.trunk = best.trunk;
  }
  settings.costs = std::move(costs);
  return settings;
}

}  // namespace spectr

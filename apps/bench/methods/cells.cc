#include "apps/bench/methods/cells.h"

#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "apps/support/setting_json.h"
#include "spectr/transport/plans.h"

namespace spectr::bench {
namespace {

template <class T>
std::vector<T> or_else(const std::vector<T>& values, T fallback) {
  return values.empty() ? std::vector<T>{std::move(fallback)} : values;
}

/// Replaces each element by one copy per value of a setting; does nothing if there are no values.
template <class T>
void multiply(std::vector<MethodOptions>& all, const std::vector<T>& values, T MethodOptions::* setting) {
  if (values.empty()) return;
  std::vector<MethodOptions> more;
  for (const MethodOptions& options : all) {
    for (const T& value : values) {
      more.push_back(options);
      more.back().*setting = value;
    }
  }
  all = std::move(more);
}

/// Returns the combinations of all axes except plans and warps.
std::vector<MethodOptions> combinations(const Axes& axes, const MethodOptions& settings) {
  std::vector<MethodOptions> all = {settings};
  multiply(all, axes.lengths, &MethodOptions::length);
  multiply(all, axes.drafts, &MethodOptions::drafts);
  if (!axes.drafts.empty()) {
    for (MethodOptions& options : all) options.verified_beams = options.drafts;
  }
  multiply(all, axes.beams, &MethodOptions::beams);
  multiply(all, axes.beam_modes, &MethodOptions::beam_mode);
  multiply(all, axes.taus, &MethodOptions::tau);
  multiply(all, axes.bild_fallbacks, &MethodOptions::bild_fallback);
  multiply(all, axes.bild_rollbacks, &MethodOptions::bild_rollback);
  return all;
}

/// Returns a key of the cell that covers exactly what its method reads.
std::string identity(const Cell& cell) {
  return text_of({to_json(cell), cell.draft, basic_sampling(cell.warp.options())});
}

/// Fails if a plan does not exist or if none of the methods reads plans.
Result<void> check_plans(const Axes& axes) {
  for (const std::string& plan : axes.plans) SPECTR_TRY_VOID(find_plan(plan));
  if (axes.plans.empty()) return {};
  for (const std::string& name : axes.methods) {
    SPECTR_TRY(const MethodRule* method, find_method(name));
    if (!method->plan.empty()) return {};
  }
  return error("plan {} is not read: none of the methods {} has a plan to choose",
               fmt::join(axes.plans, ", "), fmt::join(axes.methods, ", "));
}

/// Returns the combinations of one method, in order.
Result<std::vector<Cell>> expand_method(const MethodRule& method, const Axes& axes,
                                        const MethodOptions& settings, const Warp& warp) {
  std::vector<Cell> cells;
  const auto plans = method.plan.empty()
                         ? std::vector<std::string>{""}
                         : or_else(axes.plans, settings.plan.value_or(std::string(method.plan)));
  for (const std::string& plan : plans) {
    for (const MethodOptions& options : combinations(axes, settings)) {
      Cell cell{&method, options, {options.drafts, options.length}, warp};
      if (!method.reads(Setting::tree)) cell.options.tree.clear();
      cell.options.plan = plan.empty() ? std::nullopt : std::optional(plan);
      if (!method.reads(Setting::costs) || settings.costs) {
        SPECTR_TRY(const Decoder decoder, make_decoder(method, cell.options));
        cell.shape = decoder.shape();
      }
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

Json null_if_zero(std::size_t number) {
  return number > 0 ? Json(number) : Json(nullptr);
}

}  // namespace

Result<std::vector<Cell>> expand(std::span<const Axes> groups, const MethodOptions& settings,
                                 const WarpOptions& warp, std::size_t draft_models) {
  std::vector<Cell> all;
  std::set<std::string> seen;
  for (const Axes& axes : groups) {
    SPECTR_TRY_VOID(check_plans(axes));
    for (const std::string& name : axes.methods) {
      SPECTR_TRY(const MethodRule* method, find_method(name));
      for (const WarpOptions& options : or_else(axes.warps, warp)) {
        SPECTR_TRY(const Warp made, Warp::make(options));
        SPECTR_TRY(const std::vector<Cell> cells, expand_method(*method, axes, settings, made));
        for (Cell cell : cells) {
          const std::size_t models = method->models.max == 0 ? 1 : draft_models;
          for (cell.draft = 0; cell.draft < models; ++cell.draft) {
            if (seen.insert(identity(cell)).second) all.push_back(cell);
          }
        }
      }
    }
  }
  return all;
}

Json to_json(const Cell& cell) {
  const MethodOptions& o = cell.options;
  const WarpOptions& warp = cell.warp.options();
  Json json = {{"method", cell.method->name},
               {"plan", o.plan ? Json(*o.plan) : Json(nullptr)},
               {"drafts", null_if_zero(cell.shape.drafts)},
               {"length", null_if_zero(cell.shape.length)}};
  for (const Setting axis :
       {Setting::beams, Setting::beam_mode, Setting::tau, Setting::bild_fallback, Setting::bild_rollback}) {
    const MethodSetting& setting = method_setting(axis);
    json[std::string(setting.name)] = cell.method->reads(axis) ? json_of(setting, o) : Json(nullptr);
  }
  json["warp"] = {{"temperature", warp.temperature}, {"top_k", warp.top_k}, {"top_p", warp.top_p}};
  if (!o.tree.empty() && cell.method->reads(Setting::tree)) json["tree"] = o.tree;
  if (o.trunk > 0 && cell.method->reads(Setting::trunk)) json["trunk"] = o.trunk;
  return json;
}

}  // namespace spectr::bench

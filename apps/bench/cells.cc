#include "apps/bench/cells.h"

#include <fmt/ranges.h>

#include <set>
#include <tuple>
#include <utility>

#include "spectr/transport/plans.h"

namespace spectr::bench {
namespace {

template <class T>
std::vector<T> or_else(const std::vector<T>& values, T fallback) {
  return values.empty() ? std::vector<T>{std::move(fallback)} : values;
}

/// What tells cells apart.
auto identity(const Cell& cell) {
  return std::tuple(cell.method->name, cell.options.plan.value_or(""), cell.shape.drafts, cell.shape.length,
                    cell.method->reads(Setting::tau) ? cell.options.tau : 0.0, cell.draft);
}

/// Error: a plan that does not exist, or plans that none of the methods would read.
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

/// The combinations of one method, in order.
Result<std::vector<Cell>> expand_method(const MethodRule& method, const Axes& axes,
                                        const MethodOptions& settings, std::size_t draft_models) {
  std::vector<Cell> cells;
  const auto plans = method.plan.empty()
                         ? std::vector<std::string>{""}
                         : or_else(axes.plans, settings.plan.value_or(std::string(method.plan)));
  for (const std::string& plan : plans) {
    for (std::size_t length : or_else(axes.lengths, settings.length)) {
      for (std::size_t drafts : or_else(axes.drafts, settings.drafts)) {
        for (std::size_t beams : or_else(axes.beams, settings.beams)) {
          for (double tau : or_else(axes.taus, settings.tau)) {
            Cell cell{&method, settings, {drafts, length}};
            if (!method.reads(Setting::tree)) cell.options.tree.clear();
            cell.options.plan = plan.empty() ? std::nullopt : std::optional(plan);
            cell.options.drafts = drafts;
            cell.options.length = length;
            cell.options.beams = beams;
            cell.options.tau = tau;
            if (!method.reads(Setting::costs) || settings.costs) {
              SPECTR_TRY(const Decoder decoder, make_decoder(method, cell.options));
              cell.shape = decoder.shape();
            }
            const std::size_t models = method.models.max == 0 ? 1 : draft_models;
            for (cell.draft = 0; cell.draft < models; ++cell.draft) cells.push_back(cell);
          }
        }
      }
    }
  }
  return cells;
}

}  // namespace

Result<std::vector<Cell>> expand(std::span<const Axes> groups, const MethodOptions& settings,
                                 std::size_t draft_models) {
  std::vector<Cell> all;
  std::set<decltype(identity(std::declval<Cell>()))> seen;
  for (const Axes& axes : groups) {
    SPECTR_TRY_VOID(check_plans(axes));
    for (const std::string& name : axes.methods) {
      SPECTR_TRY(const MethodRule* method, find_method(name));
      SPECTR_TRY(std::vector<Cell> cells, expand_method(*method, axes, settings, draft_models));
      for (Cell& cell : cells) {
        if (seen.insert(identity(cell)).second) all.push_back(std::move(cell));
      }
    }
  }
  return all;
}

}  // namespace spectr::bench

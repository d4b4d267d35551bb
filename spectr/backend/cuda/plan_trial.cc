#include "spectr/backend/cuda/plan_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/base/numeric.h"

namespace spectr::cuda {
namespace {

constexpr std::size_t max_candidates = 12;   // candidate plans per product
constexpr double max_relative_time = 0.998;  // maximum relative time of a pass for a plan to count as faster

std::size_t bytes_of(const call::Product& product) {
  std::size_t bytes = 0;
  for (const auto& [weights, y] : product.targets)
    bytes += PanelLayout(weights.type, weights.rows, weights.cols).code_bytes;
  return bytes;
}

/// Returns the products of a pass that have no chosen plan, with their total bytes.
std::map<ProductSizes, std::size_t> products_to_try(std::span<const call::AnyCall> calls,
                                                    const ProductPlans& plans) {
  std::map<ProductSizes, std::size_t> all;
  for (const call::AnyCall& call : calls) {
    const auto* const product = std::get_if<call::Product>(&call.get());
    if (product == nullptr) continue;
    const ProductSizes sizes = sizes_of(*product);
    // Products of several slabs have too many different sizes, and few plans.
    if (sizes.slabs == 1 && !plans.has_chosen(sizes)) all[sizes] += bytes_of(*product);
  }
  return all;
}

bool is_for_trial(const call::AnyCall& call) {
  if (const auto* const norm = std::get_if<call::Norm>(&call.get())) return !norm->picked;
  return std::holds_alternative<call::Product>(call.get()) ||
         std::holds_alternative<call::FloatProduct>(call.get()) ||
         std::holds_alternative<call::Quantize>(call.get()) ||
         std::holds_alternative<call::Activate>(call.get());
}

}  // namespace

ProductSizes sizes_of(const call::Product& product) {
  std::size_t panels = 0;
  for (const auto& [weights, y] : product.targets) panels += div_up(weights.rows, WeightPanels::panel_rows);
  const QuantizedLayout& layout = product.x.layout;
  return {product.targets.front().weights.type, static_cast<int>(panels), static_cast<int>(layout.blocks()),
          static_cast<int>(layout.tiles()),     product.may_split,        static_cast<int>(layout.slabs())};
}

std::vector<call::AnyCall> calls_for_trial(std::span<const call::AnyCall> calls) {
  std::vector<call::AnyCall> kept;
  std::ranges::copy_if(calls, std::back_inserter(kept), is_for_trial);
  return kept;
}

std::size_t bytes_to_try(std::span<const call::AnyCall> calls, const ProductPlans& plans) {
  std::size_t bytes = 0;
  for (const auto& [sizes, of_product] : products_to_try(calls, plans)) bytes += of_product;
  return bytes;
}

Result<void> choose_plans(std::span<const call::AnyCall> calls, ProductPlans& plans,
                          const std::function<Result<double>()>& seconds) {
  const std::map<ProductSizes, std::size_t> to_try = products_to_try(calls, plans);
  std::vector<std::pair<std::size_t, ProductSizes>> order;
  for (const auto& [sizes, bytes] : to_try) order.emplace_back(bytes, sizes);
  std::ranges::sort(order, std::ranges::greater());
  SPECTR_TRY(double best, seconds());
  for (const auto& [bytes, sizes] : order) {
    std::vector<ProductPlan> candidates = product_plans(sizes, plans.device());
    if (candidates.empty()) continue;
    if (candidates.size() > max_candidates) candidates.resize(max_candidates);
    ProductPlan chosen = candidates.front();
    for (std::size_t i = 1; i < candidates.size(); ++i) {
      plans.choose(sizes, candidates[i]);
      SPECTR_TRY(const double time, seconds());
      if (time >= best * max_relative_time) continue;
      best = time;
      chosen = candidates[i];
    }
    plans.choose(sizes, chosen);
  }
  return {};
}

std::string lines_of(const ProductPlans& plans) {
  std::string lines;
  for (const auto& [sizes, plan] : plans.chosen()) {
    const ProductShape& shape = plan.shape;
    lines +=
        fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", format_of(sizes.type).name, sizes.panels,
                    sizes.blocks, sizes.tiles, sizes.may_split ? 1 : 0, shape.tiles, shape.sharers,
                    shape.warps, shape.segments, static_cast<int>(shape.columns), plan.groups, plan.ring);
  }
  return lines;
}

void take_lines(const std::string& lines, ProductPlans& plans) {
  std::istringstream all(lines);
  for (std::string line; std::getline(all, line);) {
    std::istringstream words(line);
    std::string format;
    ProductSizes sizes = {};
    ProductPlan plan = {};
    int columns = 0;
    if (!(words >> format >> sizes.panels >> sizes.blocks >> sizes.tiles >> sizes.may_split >>
          plan.shape.tiles >> plan.shape.sharers >> plan.shape.warps >> plan.shape.segments >> columns >>
          plan.groups >> plan.ring))
      continue;
    const auto type =
        std::ranges::find(device_layouts(), format, [](TensorType one) { return format_of(one).name; });
    if (type == device_layouts().end() || sizes.panels < 1 || sizes.blocks < 1 || sizes.tiles < 1 ||
        sizes.tiles > 8)
      continue;
    sizes.type = *type;
    plan.shape.columns = static_cast<Columns>(columns);
    for (const ProductPlan& known : product_plans(sizes, plans.device())) {
      plan.shared_bytes = known.shared_bytes;
      if (plan == known) plans.choose(sizes, plan);
    }
  }
}

}  // namespace spectr::cuda

// Products of every format, width and kernel shape.
#include <algorithm>
#include <set>

#include "spectr/backend/cuda/plan_trial.h"
#include "tests/card/card.h"
#include "tests/support/devices/device_products.h"

namespace spectr::card {
namespace {

using test::ProductCase;
using test::ProductOn;

/// Returns the rows of a matrix: fewer if rows are long, because twins are slow.
std::size_t rows_for(std::size_t cols) {
  return cols <= 2048 ? 512 : cols <= 5632 ? 128 : 96;
}

/// Returns the first plan of each shape for a product.
std::vector<cuda::ProductPlan> plan_of_each_shape(const cuda::ProductSizes& sizes,
                                                  const cuda::Processors& device) {
  std::vector<cuda::ProductPlan> plans;
  std::set<std::string> seen;
  for (const cuda::ProductPlan& plan : product_plans(sizes, device)) {
    if (seen.insert(kernel_of(sizes.type, plan.shape)).second) plans.push_back(plan);
  }
  return plans;
}

/// Compares a product by all kernels, and returns how many there are.
int compare_kernels_of(const Card& card, const ProductCase& c, Report& report) {
  const WeightPanels panels =
      pack_for_device(c.type, c.rows, c.cols, test::random_tensor(c.type, c.rows, c.cols, 1));
  const std::vector<float> x = test::random_floats(c.n * c.cols, 2);
  ProductOn here(*card.device, c, panels, x), there(*card.twins, c, panels, x);
  const auto expected = there.bits_of_product();
  report.compare(here.bits_of_product() == expected, text_of(c));
  if (card.cuda == nullptr) return 1;
  const cuda::Processors& processors = card.cuda->plans().device();
  std::set<std::string> kernels;
  for (const bool may_split : {false, true}) {
    const cuda::ProductSizes sizes = cuda::sizes_of(here.product(may_split));
    const std::vector<cuda::ProductPlan> plans = plan_of_each_shape(sizes, processors);
    const auto activated = may_split ? there.bits_of_split_product() : expected;
    for (const cuda::ProductPlan& plan : plans) {
      card.cuda->choose(sizes, plan);
      const auto found = may_split ? here.bits_of_split_product() : here.bits_of_product();
      const std::string kernel = kernel_of(c.type, plan.shape);
      kernels.insert(kernel);
      report.compare(found == activated, text_of(c) + ", " + kernel);
    }
    if (!plans.empty()) card.cuda->choose(sizes, plans.front());
  }
  return std::max<int>(static_cast<int>(kernels.size()), 1);
}

}  // namespace

void compare_products(const Card& card, const Extent& extent, Report& report) {
  report.begin("bits of products", {"format", "columns", "rows of x", "kernels", "differ"});
  constexpr std::size_t widths[] = {1, 3, 8, 9, 17, 33, 64, 65}, columns[] = {768, 2048, 5632, 28672};
  const auto all_columns = extent.of(std::vector(std::begin(columns), std::end(columns)));
  const auto all_widths = extent.of(std::vector(std::begin(widths), std::end(widths)));
  for (const TensorType type : {TensorType::q8_0, TensorType::q4_0, TensorType::q4_k, TensorType::q6_k}) {
    for (const std::size_t cols : all_columns) {
      for (const std::size_t n : all_widths) {
        const int before = report.differences();
        const int kernels = compare_kernels_of(card, {type, rows_for(cols), cols, n}, report);
        report.row({format_of(type).name, cols, n, kernels, report.differences() - before});
      }
    }
  }
  for (const TensorType type : {TensorType::f16, TensorType::bf16, TensorType::f32}) {
    for (const std::size_t cols : all_columns) {
      for (const std::size_t n : all_widths) {
        const ProductCase c{type, 96, cols, n};
        const int before = report.differences();
        report.compare(float_product_bits(*card.device, c) == float_product_bits(*card.twins, c), text_of(c));
        report.row({format_of(type).name, cols, n, 1, report.differences() - before});
      }
    }
  }
}

}  // namespace spectr::card

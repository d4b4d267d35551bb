#include <gtest/gtest.h>

#include <algorithm>

#include "spectr/backend/cuda/product_plan.h"

namespace spectr::cuda {
namespace {

constexpr FormatBytes formats[] = {
    {1024, 64, 0, false}, {512, 64, 0, false}, {512, 64, 64, true}, {640, 128, 0, true}};
constexpr Processors device{.count = 132, .shared_bytes = 228 * 1024};

TEST(ProductPlans, FitAndServeAllRows) {
  for (const FormatBytes& format : formats) {
    for (const int n : {1, 2, 8, 9, 16, 20, 32, 33, 64}) {
      for (const auto& [rows, cols] : {std::pair{96, 256}, {2048, 2048}, {2048, 5632}, {32000, 2048}}) {
        const std::vector<ProductPlan> plans = product_plans(format, rows, cols, n, 4, device);
        EXPECT_FALSE(plans.empty()) << rows << 'x' << cols << ", " << n << " rows";
        for (const ProductPlan& plan : plans) {
          EXPECT_GE(8 * plan.shape.x_tiles(), n);
          EXPECT_EQ(plan.shape.one_run, cols <= 2048);
          EXPECT_EQ(plan.groups % plan.shape.parts(), 0);
          const int blocks = (cols + 63) / 64,
                    per_processor = (plan.groups + device.count - 1) / device.count;
          const ProductMemory memory =
              product_memory(plan.shape, format, rows, blocks, plan.groups, plan.ring);
          EXPECT_EQ(memory.bytes(), plan.shared_bytes);
          EXPECT_LE(per_processor * (plan.shared_bytes + 1024), device.shared_bytes);
          EXPECT_EQ(memory.barriers_at() % 8, 0);
          EXPECT_EQ(memory.slot_bytes() % 16, 0);
        }
      }
    }
  }
}

TEST(ProductPlans, KeepToThePartsThatAReaderAdds) {
  for (const int parts : {1, 2, 4}) {
    for (const ProductPlan& plan : product_plans(formats[0], 2048, 2048, 8, parts, device)) {
      EXPECT_LE(plan.shape.parts(), parts);
    }
  }
}

TEST(ProductPlans, HaveRingsNoLongerThanTheWork) {
  for (const ProductPlan& plan : product_plans(formats[0], 2048, 2048, 1, 4, device)) {
    const int panels = most_panels(plan.shape, 2048, plan.groups), lanes = plan.shape.lanes();
    EXPECT_LE(plan.ring, (panels + lanes - 1) / lanes * plan.shape.stretches());
  }
}

TEST(ProductShapes, AreAllDifferent) {
  const auto shapes = product_shapes();
  for (auto one = shapes.begin(); one != shapes.end(); ++one)
    EXPECT_EQ(std::count(one, shapes.end(), *one), 1);
}

}  // namespace
}  // namespace spectr::cuda

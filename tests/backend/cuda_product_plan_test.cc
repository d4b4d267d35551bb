#include <gtest/gtest.h>

#include <algorithm>

#include "spectr/backend/cuda/product_plan.h"
#include "spectr/backend/device/weights/weight_panels.h"

namespace spectr::cuda {
namespace {

constexpr Processors device{.count = 132, .shared_bytes = 228 * 1024};

/// Sizes of a product with a [rows, cols] matrix.
ProductSizes sizes(TensorType type, int rows, int cols, int tiles, bool may_split) {
  return {type, (rows + 15) / 16, (cols + 63) / 64, tiles, may_split};
}

TEST(ProductPlans, FitAndServeAllRows) {
  for (const TensorType type : device_layouts()) {
    const FormatBytes format = panel_bytes(type);
    for (const int tiles : {1, 2, 4, 8}) {
      for (const auto& [rows, cols] :
           {std::pair{96, 256}, {2048, 2048}, {2048, 5632}, {4096, 4096}, {4096, 14336}, {32000, 2048}}) {
        const ProductSizes of = sizes(type, rows, cols, tiles, true);
        const std::vector<ProductPlan> plans = product_plans(of, device);
        EXPECT_FALSE(plans.empty()) << rows << 'x' << cols << ", " << tiles << " tiles";
        for (const ProductPlan& plan : plans) {
          EXPECT_EQ(plan.shape.x_tiles(), tiles);
          EXPECT_EQ(plan.groups % plan.shape.parts(), 0);
          if (plan.shape.is_streamed()) continue;
          EXPECT_EQ(plan.shape.columns, cols <= 2048 ? Columns::short_run : Columns::long_run);
          const int per_processor = (plan.groups + device.count - 1) / device.count;
          const ProductMemory memory =
              product_memory(plan.shape, format, of.panels, of.blocks, plan.groups, plan.ring);
          EXPECT_EQ(memory.bytes(), plan.shared_bytes);
          EXPECT_LE(per_processor * (plan.shared_bytes + 1024), device.shared_bytes);
          EXPECT_EQ(memory.barriers_at() % 8, 0);
          EXPECT_EQ(memory.slot_bytes() % 16, 0);
        }
      }
    }
  }
}

/// GPUs of one group of architectures: sm_80 and sm_86.
constexpr Processors a100{108, 164 * 1024, Copies::by_threads}, rtx3090{82, 100 * 1024, Copies::by_threads};

TEST(ProductPlans, StreamRowsWithoutRoomAndRowsOfSeveralSlabs) {
  for (const Processors& on : {device, a100, rtx3090}) {
    const bool in_bulk = on.copies == Copies::in_bulk;
    const Columns streamed = in_bulk ? Columns::streamed : Columns::streamed_by_threads;
    for (const TensorType type : device_layouts()) {
      for (const int cols : {2048, 4096, 28672}) {
        for (const int slabs : {1, 2, 8}) {
          ProductSizes of = sizes(type, 4096, cols, 8, false);
          of.slabs = slabs;
          const std::vector<ProductPlan> plans = product_plans(of, on);
          ASSERT_FALSE(plans.empty());
          const ProductPlan& plan = plans.front();
          if (slabs > 1 || cols > 8192 || !in_bulk) {
            EXPECT_EQ(plan.shape.columns, streamed);
          }
          if (!plan.shape.is_streamed()) continue;
          const StreamedMemory memory{plan.shape, panel_bytes(type)};
          EXPECT_EQ(plan.groups, (256 + plan.shape.lanes() - 1) / plan.shape.lanes() * slabs);
          EXPECT_EQ(memory.bytes(), plan.shared_bytes);
          EXPECT_LE(plan.shared_bytes + 1024, on.shared_bytes);
          for (const int at : {memory.lane_bytes(), memory.scales_at(), memory.factors_at(), memory.x_at(),
                               memory.x_scales_at(), memory.x_sums_at(), memory.slot_bytes()})
            EXPECT_EQ(at % 16, 0);
        }
      }
    }
  }
}

TEST(ProductPlans, ShareMatricesOfFewRowsAmongAllProcessorsBeforeHopper) {
  for (const int tiles : {1, 2, 4, 8}) {
    EXPECT_EQ(product_plans(sizes(TensorType::q8_0, 1024, 4096, tiles, true), a100).front().shape.parts(), 4);
    EXPECT_EQ(product_plans(sizes(TensorType::q8_0, 32000, 4096, tiles, true), a100).front().shape.parts(),
              1);
    EXPECT_EQ(product_plans(sizes(TensorType::q8_0, 1024, 4096, tiles, false), a100).front().shape.parts(),
              1);
  }
}

TEST(ProductPlans, AreNoneWhereNothingIsCopiedToSharedMemory) {
  EXPECT_TRUE(product_plans(sizes(TensorType::q8_0, 64, 64, 1, true), {40, 65536, Copies::none}).empty());
}

TEST(ProductPlans, KeepToOnePartWhereNobodyAddsSeveral) {
  for (const int tiles : {1, 2, 4, 8}) {
    for (const ProductPlan& plan : product_plans(sizes(TensorType::q8_0, 2048, 2048, tiles, false), device))
      EXPECT_EQ(plan.shape.parts(), 1);
  }
}

TEST(ProductPlans, HaveRingsNoLongerThanTheWork) {
  for (const ProductPlan& plan : product_plans(sizes(TensorType::q8_0, 2048, 2048, 1, true), device)) {
    if (plan.shape.is_streamed()) continue;
    const int panels = most_panels(plan.shape, 128, plan.groups), lanes = plan.shape.lanes();
    EXPECT_LE(plan.ring, (panels + lanes - 1) / lanes * plan.shape.stretches());
  }
}

TEST(ProductPlans, BeginWithWhatWonOnAnH100) {
  const auto first = [](int rows, int cols, int tiles) {
    return product_plans(sizes(TensorType::q8_0, rows, cols, tiles, true), device).front();
  };
  EXPECT_EQ(first(2560, 2048, 1).shape, (ProductShape{1, 1, 4, 8, Columns::short_run}));
  EXPECT_EQ(first(2048, 2048, 1).groups, 264);
  EXPECT_EQ(first(11264, 2048, 1).shape, (ProductShape{1, 1, 8, 16, Columns::short_run}));
  EXPECT_EQ(first(32000, 2048, 1).shape, (ProductShape{1, 1, 8, 32, Columns::short_run}));
  EXPECT_EQ(first(2048, 2048, 2).shape, (ProductShape{2, 1, 8, 8, Columns::short_run}));
  EXPECT_EQ(first(2048, 2048, 8).shape, (ProductShape{2, 4, 16, 8, Columns::short_run}));
  EXPECT_EQ(first(2048, 2048, 8).groups, 132);
}

TEST(ProductPlans, AreChosenOnceAndThenKept) {
  ProductPlans plans(device);
  const ProductSizes of = sizes(TensorType::q4_0, 2048, 2048, 1, true);
  const std::vector<ProductPlan> all = product_plans(of, device);
  EXPECT_EQ(plans.of(of), all.front());
  EXPECT_FALSE(plans.has_chosen(of));
  plans.choose(of, all.back());
  EXPECT_EQ(plans.of(of), all.back());
  EXPECT_FALSE(plans.has_chosen(sizes(TensorType::q4_0, 2048, 2048, 1, false)));
}

TEST(ProductShapes, AreAllDifferent) {
  const auto shapes = product_shapes(TensorType::q8_0);
  EXPECT_GT(shapes.size(), product_shapes(TensorType::q5_0).size());
  for (auto one = shapes.begin(); one != shapes.end(); ++one)
    EXPECT_EQ(std::count(one, shapes.end(), *one), 1);
}

TEST(ProductShapes, AreThereForEveryFormat) {
  for (const TensorType type : device_layouts()) {
    EXPECT_FALSE(product_shapes(type).empty()) << format_of(type).name;
    EXPECT_FALSE(product_shapes(type, Copies::by_threads).empty()) << format_of(type).name;
  }
}

}  // namespace
}  // namespace spectr::cuda

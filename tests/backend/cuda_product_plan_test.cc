#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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

/// A GPU with bulk copies and less shared memory than Hopper: sm_120.
constexpr Processors rtx5090{170, 100 * 1024, Copies::in_bulk, 99 * 1024};

/// Expects that products with such a matrix run on tensor cores, for 1 to 64 rows of x and every format.
void expect_plans(int rows, int cols, const std::string& what) {
  for (const Processors& on : {device, rtx5090}) {
    for (const TensorType type : device_layouts()) {
      for (const int tiles : {1, 2, 4, 8}) {
        for (const bool may_split : {false, true}) {
          EXPECT_FALSE(product_plans(sizes(type, rows, cols, tiles, may_split), on).empty())
              << what << ", " << rows << 'x' << cols << ' ' << format_of(type).name << ", " << tiles;
        }
      }
    }
  }
}

TEST(ProductPlans, AreThereForEveryProductOfPublishedModels) {
  struct Model {
    const char *architecture, *name;
    int width, heads, kv_heads, head_dim, ffn, vocabulary;  ///< ffn: of dense layers, or of an expert
  };
  for (const Model& m : {Model{"llama", "Llama 2 13B", 5120, 40, 40, 128, 13824, 32000},
                         {"llama", "Llama 3.1 8B", 4096, 32, 8, 128, 14336, 128256},
                         {"llama", "Llama 3.1 70B", 8192, 64, 8, 128, 28672, 128256},
                         {"mistral3", "Ministral 3 14B", 5120, 32, 8, 128, 16384, 131072},
                         {"qwen2", "Qwen2.5 7B", 3584, 28, 4, 128, 18944, 152064},
                         {"qwen2", "Qwen2.5 72B", 8192, 64, 8, 128, 29568, 152064},
                         {"qwen3", "Qwen3 32B", 5120, 64, 8, 128, 25600, 151936},
                         {"qwen3moe", "Qwen3 30B-A3B", 2048, 32, 4, 128, 768, 151936},
                         {"qwen35", "Qwen3.5 27B", 5120, 24, 4, 256, 17408, 248320},
                         {"gemma2", "Gemma 2 27B", 4608, 32, 16, 128, 36864, 256000},
                         {"gemma3", "Gemma 3 27B", 5376, 32, 16, 128, 21504, 262208},
                         {"gpt-oss", "gpt-oss 20B", 2880, 64, 8, 64, 2880, 201088},
                         {"phi3", "Phi-4", 5120, 40, 10, 128, 17920, 100352},
                         {"granite", "Granite 3 8B", 4096, 32, 8, 128, 12800, 49155},
                         {"olmo2", "OLMo 2 32B", 5120, 40, 8, 128, 27648, 100352},
                         {"glm4moe", "GLM-4.5-Air", 4096, 96, 8, 128, 10944, 151552},
                         {"deepseek2", "DeepSeek-V2-Lite", 2048, 16, 16, 192, 10944, 102400},
                         {"gptneox", "GPT-NeoX 20B", 6144, 64, 64, 96, 24576, 50432},
                         {"opt", "OPT 66B", 9216, 72, 72, 128, 36864, 50272}}) {
    const std::string what = std::string(m.architecture) + ", " + m.name;
    const int q = m.heads * m.head_dim, kv = m.kv_heads * m.head_dim;
    for (const int rows : {q, kv, q + 2 * kv, m.ffn, 2 * m.ffn, m.vocabulary})
      expect_plans(rows, m.width, what);
    expect_plans(m.width, q, what);
    expect_plans(m.width, m.ffn, what);
  }
}

TEST(ProductPlans, AreThereForAnyNumberOfRowsAndColumns) {
  for (const int rows : {16, 1024, 16384, 262144}) {
    for (int cols = 64; cols <= 65536; cols *= 2) expect_plans(rows, cols, "any");
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
    const int panels = max_panels(plan.shape, 128, plan.groups), lanes = plan.shape.lanes();
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

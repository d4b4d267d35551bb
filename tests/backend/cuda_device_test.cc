// The CUDA device on a mock of the driver that runs kernels on fibers: calls and whole passes have the bits
// of the twins, and missing features of a driver or a GPU are reported.
#include "spectr/backend/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>

#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/device/own_word.h"
#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/decode/node_distributions.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/devices/device_products.h"
#include "tests/support/devices/mock_cuda.h"
#include "tests/support/models/model_course.h"
#include "tests/support/random_tensor.h"
#include "tests/support/real_model.h"
#include "tests/support/value_of.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace test;
using cuda::CudaDevice;
using testing::HasSubstr;

std::shared_ptr<CudaDevice> open(const MockCuda& mock) {
  return value_of(CudaDevice::open(mock.driver(), 0, MockCuda::image));
}

/// Runs `work`, which returns bits, on both devices and expects equal results.
template <class Work>
void expect_same_bits(const Work& work, const std::string& what = "",
                      const MockCuda::Settings& settings = {}) {
  TwinDevice twins;
  const auto expected = work(twins);
  for (const bool lazy : {false, true}) {
    MockCuda::Settings lazily = settings;
    lazily.lazy = lazy;
    const MockCuda mock(lazily);
    const auto cuda = open(mock);
    EXPECT_EQ(work(*cuda), expected) << what;
  }
}

/// Compares the product of a random [rows, cols] matrix with n rows of x.
void expect_same_product(TensorType type, std::size_t rows, std::size_t cols, std::size_t n,
                         const MockCuda::Settings& settings = {}) {
  const ProductCase c{type, rows, cols, n};
  expect_same_bits([&](Device& device) { return product_bits(device, c); }, text_of(c), settings);
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForProductsOfEveryShape) {
  for (const TensorType type : {TensorType::q8_0, TensorType::q4_1, TensorType::q2_k, TensorType::q3_k}) {
    // 70 rows, and 17 of 5632 columns, are streamed.
    struct Shape {
      std::size_t rows, cols, n;
    };
    for (const Shape& shape :
         {Shape{40, 512, 1}, {40, 512, 9}, {40, 512, 20}, {40, 512, 70}, {40, 2304, 2}, {24, 5632, 17}})
      expect_same_product(type, shape.rows, shape.cols, shape.n);
  }
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForProductsOfEveryFormat) {
  for (const TensorType type : device_layouts()) {
    expect_same_product(type, 19, 512, 9);
    expect_same_product(type, 19, 512, 9, {.major = 8});
    expect_same_product(type, 5, 3 * format_of(type).elements, 65);
    expect_same_product(type, 1, 3 * format_of(type).elements, 1);
    expect_same_product(type, 5, format_of(type).elements, 65, {.shared_bytes = 8 << 10});
    expect_same_product(type, 19, 512, 2, {.shared_bytes = 8 << 10});
  }
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForNormsOfEveryKind) {
  for (const std::size_t cols : {6, 32, 48, 288, 2600}) {
    for (const auto kind : {NormSpec::Kind::rms, NormSpec::Kind::layer}) {
      for (const bool adds : {false, true}) {
        constexpr std::size_t n = 3, groups = 2;
        const std::vector<float> x = random_floats(n * groups * cols, 1),
                                 more = random_floats(n * groups * cols, 2);
        const std::vector<float> weight = random_floats(cols, 3), bias = random_floats(cols, 4);
        expect_same_bits([&](Device& device) {
          const Numbers in = send(device, x), added = send(device, more), w = send(device, weight),
                        b = send(device, bias), out = send(device, std::vector<float>(n * groups * cols));
          const Numbers picked = send(device, std::vector<int>{2, 0, 1});
          run(device, call::Norm{.kind = kind,
                                 .epsilon = 1e-5f,
                                 .weight = w.at(),
                                 .bias = kind == NormSpec::Kind::layer ? b.at() : Slice(),
                                 .in = in.rows(groups * cols),
                                 .added = adds ? added.rows(groups * cols) : call::Rows(),
                                 .out = out.rows(groups * cols),
                                 .picked = adds ? Slice() : picked.at(),
                                 .rows = n,
                                 .groups = groups,
                                 .cols = cols});
          auto all = bits(device, out);
          const auto stream = bits(device, in);
          all.insert(all.end(), stream.begin(), stream.end());
          return all;
        });
      }
    }
  }
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForActivations) {
  constexpr std::size_t n = 2, cols = 200;
  for (const auto kind :
       {Activation::silu, Activation::gelu_tanh, Activation::relu, Activation::clamped_silu}) {
    for (const bool has_gate : {false, true}) {
      std::vector<float> x = random_floats(n * cols, 1), y = random_floats(n * cols, 2);
      for (std::vector<float>* numbers : {&x, &y})
        std::ranges::transform(*numbers, numbers->begin(), [](float v) { return 9.0F * v; });
      expect_same_bits([&](Device& device) {
        const Numbers gate = send(device, x), up = send(device, y);
        run(device, call::Activate{kind, 3.0f, has_gate, gate.rows(cols), up.rows(cols),
                                   has_gate ? gate.rows(cols) : up.rows(cols), n, cols});
        run(device, call::Gate{gate.rows(cols), up.rows(cols), n, cols, 1});
        run(device, call::Cap{up.rows(cols), n, cols, 2.0f});
        auto all = bits(device, gate);
        const auto more = bits(device, up);
        all.insert(all.end(), more.begin(), more.end());
        return all;
      });
    }
  }
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForQuestions) {
  std::vector<float> row = random_floats(5000, 1);
  for (std::size_t i = 0; i < row.size(); i += 5) row[i] = std::round(row[i] * 8) / 8;
  for (const float odd : {0.5f, -INFINITY, INFINITY, NAN}) {
    row[1100] = row[2400] = row[4800] = odd;
    expect_same_bits([&](Device& device) {
      const Numbers logits = send(device, row), best = send(device, std::vector<float>(2 * 3 * 40 * 2)),
                    sums = send(device, std::vector<float>(12));
      run(device, call::Top{logits.rows(2500), 2, 2450, 40, best.at()});
      run(device, call::SumExp{logits.rows(2500), 2, 2450, 1.25f, sums.at()});
      auto all = bits(device, best);
      if (odd < 1) {  // the bits of a NaN are unspecified
        const auto more = bits(device, sums);
        all.insert(all.end(), more.begin(), more.end());
      }
      return all;
    });
  }
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForShortlists) {
  constexpr std::size_t n = 3, vocabulary = 1030, some = 70;
  for (const std::size_t cols : {5, 64, 2200}) {
    const std::size_t stride = (cols + 4) / 4 * 4;
    const std::vector<float> logits = random_floats(n * some, 1), x = random_floats(n * cols, 2),
                             weights = random_floats(9 * stride, 3);
    std::vector<int> columns(vocabulary, -1);
    for (std::size_t i = 0; i < some; ++i) columns[i * 14 + 3] = static_cast<int>(i);
    std::vector<OwnWord> words(32, {0, 0, -1});
    for (int i = 0; i < 20; ++i) words[static_cast<std::size_t>(i)] = {i % 3, i % 9, 1029 - 51 * i};
    for (const float cap : {0.0f, 2.0f}) {
      expect_same_bits([&](Device& device) {
        const Numbers from = send(device, logits), in = send(device, x), by = send(device, weights),
                      which = send(device, columns), own = send(device, words),
                      out = send(device, std::vector<float>(n * vocabulary));
        run(device, call::Spread{from.rows(some), out.rows(vocabulary), which.at(), n, vocabulary});
        run(device, call::WordLogits{.x = in.rows(cols),
                                     .out = out.rows(vocabulary),
                                     .rows = n,
                                     .words = own.at(),
                                     .count = words.size(),
                                     .weights = by.rows(stride),
                                     .cols = cols,
                                     .scale = 0.3f,
                                     .cap = cap});
        return bits(device, out);
      });
    }
  }
}

/// Returns the logits after a short sequence, computed in one pass.
Row behind_three_tokens(const fs::path& file, const Slimming& slimming, std::shared_ptr<Device> device) {
  const auto model =
      value_of(Transformer::load(Gguf::open(file).value(), std::make_shared<DeviceBackend>(std::move(device)),
                                 {.kv = {KvType::f16, KvType::f16}, .slimming = slimming}));
  return alone(*model, random_text(3, model->vocabulary(), 1));
}

TEST(CudaPass, OfEmbeddingsByLayerHasTheBitsOfTheTwins) {
  const fs::path file = source_folder() / "tests/data/arch2/gemma4/model.gguf";
  const MockCuda mock;
  EXPECT_EQ(behind_three_tokens(file, {}, open(mock)),
            behind_three_tokens(file, {}, std::make_shared<TwinDevice>()));
}

TEST(CudaPass, OfAShortListHasTheBitsOfTheTwins) {
  const Slimming how{.type = TensorType::q4_0, .shortlist = {1, 2, 3, 5, 8, 1300}};
  const MockCuda mock;
  EXPECT_EQ(behind_three_tokens(*find_data(bundled_draft), how, open(mock)),
            behind_three_tokens(*find_data(bundled_draft), how, std::make_shared<TwinDevice>()));
}

TEST(CudaPass, HasTheSameBitsOnGpusBeforeHopper) {
  for (const std::string_view name : {bundled_draft, std::string_view("tests/data/arch/llama-f32.gguf")}) {
    const fs::path file = *find_data(name);
    const auto expected = behind_three_tokens(file, {}, std::make_shared<TwinDevice>());
    for (const auto& [major, minor, shared] : {std::tuple{7, 5, 64}, {8, 0, 164}, {8, 9, 100}}) {
      const MockCuda mock({.major = major, .minor = minor, .shared_bytes = shared << 10});
      EXPECT_EQ(behind_three_tokens(file, {}, open(mock)), expected) << major << '.' << minor;
    }
  }
}

TEST(CudaDevice, SaysWhatAGpuOrADriverLacks) {
  {
    const MockCuda mock({.major = 7, .minor = 0});
    EXPECT_EQ(CudaDevice::open(mock.driver(), 0, MockCuda::image).error().message,
              "CUDA0 (Mock 0): compute capability 7.0, but 7.5 is needed");
  }
  {
    const MockCuda mock({.version = 11080});
    EXPECT_EQ(CudaDevice::open(mock.driver(), 0, MockCuda::image).error().message,
              "CUDA0 (Mock 0): the driver knows CUDA 11.8, but 12.1 is needed");
  }
  const MockCuda mock({.devices = 0});
  EXPECT_EQ(cuda::devices(mock.driver()).error().message,
            "the CUDA driver finds no devices: no CUDA-capable device is detected");
}

TEST(CudaDevice, NeedsTheDriverThatItsKernelsNeed) {
  EXPECT_EQ(cuda::driver_version_for("// comment\n.version 6.3\n.target sm_75"), 10000);
  EXPECT_EQ(cuda::driver_version_for(".version 7.0\n"), 11000);
  EXPECT_EQ(cuda::driver_version_for(".version 8.1\n"), 12010);
  EXPECT_EQ(cuda::driver_version_for(".version 8.5\n"), 12050);
  EXPECT_EQ(cuda::driver_version_for(".version 8.8\n"), 12090);
  EXPECT_EQ(cuda::driver_version_for(".version 9.0\n"), 13000);
  EXPECT_EQ(cuda::driver_version_for("no PTX"), 0);
  const MockCuda mock({.major = 8, .version = 11080});
  EXPECT_TRUE(CudaDevice::open(mock.driver(), 0, MockCuda::image)) << "kernels before Hopper need CUDA 10.0";
}

TEST(CudaPass, HasTheSameBitsWithDriversWithoutDependentLaunchesInGraphs) {
  const fs::path file = source_folder() / "tests/data/arch/llama-f32.gguf";
  const MockCuda mock({.version = 12020});
  EXPECT_EQ(behind_three_tokens(file, {}, open(mock)),
            behind_three_tokens(file, {}, std::make_shared<TwinDevice>()));
}

TEST(CudaDevice, PermitsSharedMemoryOnceForAllLaunchesOfAKernel) {
  expect_same_product(TensorType::q8_0, 40, 5632, 2);  // the mock refuses to set the limit of a kernel twice
  const MockCuda mock;
  const auto device = open(mock);
  for (const std::size_t cols : {5632, 28672, 4096}) {
    const ProductCase c{TensorType::q8_0, 40, cols, 1};
    const ProductOn on(*device, c,
                       pack_for_device(c.type, c.rows, cols, random_tensor(c.type, c.rows, cols, 1)),
                       random_floats(cols, 2));
    const call::AnyCall call = on.product();
    const auto recording = value_of(device->record({&call, 1}));
    EXPECT_TRUE(device->run(*recording));
  }
}

TEST(CudaDevice, NamesWhatFailedAndItsKind) {
  struct Case {
    const char* function;
    cuda::CUresult result;
    ErrorCode code;
    const char* message;
  };
  for (const Case& one :
       {Case{"cuModuleLoadData", 222, ErrorCode::unsupported,
             "CUDA0: loading the image product_q8_0 failed (the provided PTX was compiled with an "
             "unsupported toolchain.)"},
        Case{"cuGraphInstantiateWithFlags", 2, ErrorCode::out_of_memory,
             "CUDA0: instantiating a pass failed (out of memory)"},
        Case{"cuLaunchKernelEx", 701, ErrorCode::internal, "too many resources requested for launch"},
        Case{"cuLaunchKernelEx", 719, ErrorCode::device_lost,
             "CUDA0: the device was lost during a pass (unspecified launch failure)"}}) {
    MockCuda mock;
    const auto model = Transformer::load(Gguf::open(*find_data(bundled_draft)).value(),
                                         std::make_shared<DeviceBackend>(open(mock)))
                           .value();
    const auto session = model->start(0, 1).value();
    const std::vector<Token> text = random_text(3, model->vocabulary(), 1);
    mock.fail_next(one.function, one.result);
    const auto scored = session->score(text, TokenTree(text.back()));
    ASSERT_FALSE(scored);
    EXPECT_EQ(scored.error().code, one.code);
    EXPECT_THAT(scored.error().message, HasSubstr(one.message));
    EXPECT_TRUE(session->score(text, TokenTree(text.back()))) << "the next pass succeeds";
  }
}

TEST(CudaDevice, ThatFailsToAnswerAboutLogitsIsTheReasonOfTheError) {
  MockCuda mock;
  const auto model = Transformer::load(Gguf::open(*find_data(bundled_draft)).value(),
                                       std::make_shared<DeviceBackend>(open(mock)))
                         .value();
  const auto session = model->start(0, 1).value();
  const std::vector<Token> text = random_text(3, model->vocabulary(), 1);
  const TokenTree tree(text.back());
  const Warp warp = value_of(Warp::make({}));
  ASSERT_TRUE(session->score(text, tree));
  mock.fail_next("cuMemcpyDtoHAsync_v2", 719);
  NodeDistributions distributions(*session, warp, text, tree, model->vocabulary());
  const auto failed = distributions.at(TokenTree::root);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "CUDA0: the device was lost during a pass (unspecified launch failure)");
  EXPECT_EQ(failed.error().code, ErrorCode::device_lost);
}

TEST(CudaDevice, AreListedWithTheirMemoryAndWithoutContexts) {
  const MockCuda mock({.devices = 8, .bytes = 5000});
  const auto all = value_of(cuda::devices(mock.driver()));
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all[1].name, "CUDA1");
  EXPECT_EQ(all[1].description, "Mock 1");
  EXPECT_EQ(all[1].bytes, 5000u);
  EXPECT_EQ(mock.contexts_made(), 0);
}

TEST(CudaDevice, HasTooLittleMemoryBeforeAnythingIsLoaded) {
  const MockCuda mock({.bytes = 300'000});
  const auto model = Transformer::load(Gguf::open(*find_data(bundled_draft)).value(),
                                       std::make_shared<DeviceBackend>(open(mock)));
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message,
              HasSubstr("GB on the device, of which 0.0003 GB are free; --device none"));
}

TEST(CudaDevice, ThatIsLostEndsThePass) {
  MockCuda mock;
  const auto model = Transformer::load(Gguf::open(*find_data(bundled_draft)).value(),
                                       std::make_shared<DeviceBackend>(open(mock)))
                         .value();
  const auto session = model->start(0, 1).value();
  std::vector<Token> text = random_text(3, model->vocabulary(), 1);
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  text.push_back(5);
  mock.lose_at(9);
  const auto scored = session->score(text, TokenTree(text.back()));
  ASSERT_FALSE(scored);
  EXPECT_EQ(scored.error().message, "CUDA0: the device was lost during a pass (unspecified launch failure)");
}

TEST(CudaDriver, IsMissedByName) {
  EXPECT_EQ(cuda::load_driver("libspectr-has-no-such.so.1").error().message,
            "there is no CUDA driver (libspectr-has-no-such.so.1 was not found)");
  EXPECT_EQ(cuda::load_driver("libc.so.6").error().message,
            "the CUDA driver is too old: libc.so.6 has no cuInit");
}

}  // namespace
}  // namespace spectr

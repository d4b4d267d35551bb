// The CUDA device on a mock of the driver that runs kernels on fibers: calls and whole passes have the bits
// of the twins, and missing features of a driver or a GPU are reported.
#include "spectr/backend/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>

#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/decode/node_distributions.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/devices/call_cases.h"
#include "tests/support/devices/device_attention.h"
#include "tests/support/devices/device_products.h"
#include "tests/support/devices/head_products.h"
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

/// Returns the bundled draft on the device.
Result<std::unique_ptr<Transformer>> draft_on(const MockCuda& mock) {
  return Transformer::load(Gguf::open(*find_data(bundled_draft)).value(),
                           std::make_shared<DeviceBackend>(open(mock)));
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

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForAttentionOfEveryKind) {
  bool lazy = false;
  for (const AttentionCase& c : attention_cases()) {
    TwinDevice twins;
    lazy = !lazy;
    const MockCuda mock({.lazy = lazy});
    EXPECT_EQ(attention_bits(*open(mock), c), attention_bits(twins, c)) << text_of(c);
  }
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForProductsByHead) {
  for (const HeadProductCase& c : head_product_cases()) {
    TwinDevice twins;
    const MockCuda mock;
    EXPECT_EQ(head_product_bits(*open(mock), c), head_product_bits(twins, c)) << text_of(c);
  }
}

TEST(CudaCalls, CopyTheBeginningsOfHeads) {
  const MockCuda mock;
  EXPECT_EQ(copied_heads(*open(mock)), copied_heads_as_defined());
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

TEST(CudaCalls, GiveTheBitsOfTheirTwins) {
  for (const auto& works :
       {norms_of_every_kind(), activations_of_every_kind(), questions_of_every_kind(), shortlists()}) {
    for (const WorkOnDevice& work : works) expect_same_bits(work);
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
    const auto model = value_of(draft_on(mock));
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
  const auto model = value_of(draft_on(mock));
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

TEST(CudaDevice, KeepsPinnedMemoryForPassesAndAnswers) {
  MockCuda mock;
  const auto model = value_of(draft_on(mock));
  const auto session = model->start(0, 1).value();
  std::vector<Token> text = random_text(3, model->vocabulary(), 1);
  const auto score_and_ask = [&] {
    text.push_back(5);
    EXPECT_TRUE(session->score(text, TokenTree(text.back())));
    const Logits logits = session->logits(TokenTree::root);
    logits.top(40);
    logits.log_sum_exp();
    std::ignore = logits.values();
  };
  score_and_ask();
  EXPECT_EQ(mock.pinned_made(), 4) << "the data of a pass, and three kinds of answers";
  score_and_ask();  // while the session still has the logits of the first pass
  const int made = mock.pinned_made();
  EXPECT_EQ(made, 7) << "the answers of a second pass";
  for (int i = 0; i < 5; ++i) score_and_ask();
  EXPECT_EQ(mock.pinned_made(), made);
}

TEST(CudaDevice, WithoutPinnedMemoryUsesOrdinaryMemory) {
  MockCuda mock;
  mock.fail_next("cuMemAllocHost_v2", cuda::out_of_memory);
  const fs::path file = *find_data(bundled_draft);
  EXPECT_EQ(behind_three_tokens(file, {}, open(mock)),
            behind_three_tokens(file, {}, std::make_shared<TwinDevice>()));
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
  const auto model = draft_on(mock);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message,
              HasSubstr("GB on the device, of which 0.0003 GB are free; --device none"));
}

TEST(CudaDevice, ThatIsLostEndsThePass) {
  MockCuda mock;
  const auto model = value_of(draft_on(mock));
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

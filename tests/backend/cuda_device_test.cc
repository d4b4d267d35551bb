// The CUDA device on a mock of the driver that runs kernels on fibers: calls and whole passes have the bits
// of the twins, and what a driver or a GPU lacks is said.
#include "spectr/backend/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>

#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/device/twin_device.h"
#include "spectr/backend/device/weight_panels.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/device_numbers.h"
#include "tests/support/mock_cuda.h"
#include "tests/support/model_course.h"
#include "tests/support/random_tensor.h"
#include "tests/support/real_model.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace test;
using cuda::CudaDevice;
using testing::HasSubstr;

std::shared_ptr<CudaDevice> open(const MockCuda& mock) {
  return value_of(CudaDevice::open(mock.driver(), 0, "kernels"));
}

/// Runs `work`, which gives bits, on both devices.
template <class Work>
void expect_same_bits(const Work& work) {
  TwinDevice twins;
  const auto expected = work(twins);
  for (const bool lazy : {false, true}) {
    const MockCuda mock({.lazy = lazy});
    const auto cuda = open(mock);
    EXPECT_EQ(work(*cuda), expected);
  }
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForProductsOfEveryShape) {
  for (const TensorType type : device_layouts()) {
    // With 5632 columns and 40 rows shared memory is too small for the tuned kernel.
    struct Shape {
      std::size_t rows, cols, n;
    };
    for (const Shape& shape :
         {Shape{40, 512, 1}, {40, 512, 9}, {40, 512, 20}, {40, 512, 70}, {40, 2304, 2}, {24, 5632, 17}}) {
      const std::size_t rows = shape.rows, cols = shape.cols, n = shape.n;
      const std::vector<std::byte> file = random_tensor(type, rows, cols, 1);
      const WeightPanels panels = pack_for_device(type, rows, cols, file);
      const std::vector<float> x = random_floats(n * cols, 2);
      expect_same_bits([&](Device& device) {
        const Numbers codes = send(device, panels.codes), scales = send(device, panels.scales),
                      factors = send(device, panels.factors), in = send(device, x);
        const QuantizedLayout layout{n, cols};
        const Numbers quantized{device.allocate(layout.bytes())};
        const Numbers y = send(device, std::vector<float>(n * (rows + 8), 7.0f));
        run(device, call::Quantize{in.rows(cols), n, cols, {quantized.at(), layout}});
        run(device, call::Product{{type, rows, cols, codes.at(), scales.at(), factors.at()},
                                  {quantized.at(), layout},
                                  y.rows(rows + 8),
                                  n});
        return bits(device, y);
      });
    }
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
      for (float& v : x) v *= 9;
      for (float& v : y) v *= 9;
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
  std::vector<float> row = random_floats(2500, 1);
  for (std::size_t i = 0; i < row.size(); i += 5) row[i] = std::round(row[i] * 8) / 8;
  for (const float odd : {0.5f, -INFINITY, INFINITY, NAN}) {
    row[1100] = row[2400] = odd;
    expect_same_bits([&](Device& device) {
      const Numbers logits = send(device, row), best = send(device, std::vector<float>(3 * 40 * 2)),
                    sums = send(device, std::vector<float>(6));
      run(device, call::Top{logits.at(), 2450, 40, best.at()});
      run(device, call::SumExp{logits.at(), 2450, 1.25f, sums.at()});
      auto all = bits(device, best);
      if (odd < 1) {  // a NaN's bits are nobody's
        const auto more = bits(device, sums);
        all.insert(all.end(), more.begin(), more.end());
      }
      return all;
    });
  }
}

/// Some of each kind: fibers take their time.
std::vector<fs::path> models() {
  std::vector<fs::path> files = {*find_data(bundled_draft)};
  for (const char* name :
       {"arch/gemma3-f32.gguf", "arch/llama-f32.gguf", "arch2/opt/pre-norm.gguf", "arch2/phi3/model.gguf"})
    files.push_back(source_folder() / "tests/data" / name);
  return files;
}

class CudaPasses : public testing::TestWithParam<fs::path> {};

TEST_P(CudaPasses, HaveTheBitsOfTheTwins) {
  const MockCuda mock;
  const auto load = [](std::shared_ptr<Device> device) {
    return Transformer::load(Gguf::open(GetParam()).value(),
                             std::make_shared<DeviceBackend>(std::move(device)),
                             {.kv = {KvType::f16, KvType::f16}});
  };
  const auto on_cuda = load(open(mock));
  ASSERT_TRUE(on_cuda) << on_cuda.error().message;
  const auto on_twins = load(std::make_shared<TwinDevice>());
  ASSERT_TRUE(on_twins) << on_twins.error().message;
  if (GetParam() == *find_data(bundled_draft)) {
    EXPECT_EQ(course(**on_cuda, 9), course(**on_twins, 9));
  } else {
    EXPECT_EQ(course(**on_cuda, 5, 2, 3), course(**on_twins, 5, 2, 3));
  }
  EXPECT_GT(mock.launched(), 0);
}

INSTANTIATE_TEST_SUITE_P(Models, CudaPasses, testing::ValuesIn(models()),
                         [](const auto& file) { return test_name_of(file.param); });

TEST(CudaDevice, SaysWhatAGpuOrADriverLacks) {
  {
    const MockCuda mock({.major = 8, .minor = 6});
    EXPECT_EQ(CudaDevice::open(mock.driver(), 0, "kernels").error().message,
              "CUDA0 (Mock 0): compute capability 8.6, but 9.0 is needed");
  }
  {
    const MockCuda mock({.version = 11080});
    EXPECT_EQ(CudaDevice::open(mock.driver(), 0, "kernels").error().message,
              "CUDA0 (Mock 0): the driver knows CUDA 11.8, but 12.1 is needed");
  }
  const MockCuda mock({.devices = 0});
  EXPECT_EQ(cuda::devices(mock.driver()).error().message,
            "the CUDA driver finds no devices: no CUDA-capable device is detected");
}

TEST(CudaDevice, AreListedWithTheirMemory) {
  const MockCuda mock({.devices = 2, .bytes = 5000});
  const auto all = value_of(cuda::devices(mock.driver()));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].name, "CUDA1");
  EXPECT_EQ(all[1].description, "Mock 1");
  EXPECT_EQ(all[1].bytes, 5000u);
  EXPECT_EQ(all[1].free_bytes, 5000u);
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

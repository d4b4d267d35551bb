// Logits on Vulkan, of shortlists, too, and queries of them, with the bits of the twins that round each
// multiplication and each addition separately.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spectr/backend/device/device_logits.h"
#include "spectr/backend/device/own_word.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/random_tensor.h"
#include "tests/twins/twin_device.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

class VulkanLogits : public OnVulkan<testing::Test> {
 protected:
  template <class Work>
  void expect_same_bits(const Work& work, const std::string& what) {
    TwinDevice twins(std::size_t{1} << 30, twin::Rounding::separate);
    EXPECT_EQ(work(*device_), work(twins)) << what;
  }
};

TEST_F(VulkanLogits, OfAShortlistHaveTheBitsOfTheirTwins) {
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
      const auto work = [&](Device& on) {
        const Numbers from = send(on, logits), in = send(on, x), by = send(on, weights),
                      which = send(on, columns), own = send(on, words),
                      out = zeros(on, n * vocabulary * sizeof(float));
        run(on, call::Spread{from.rows(some), out.rows(vocabulary), which.at(), n, vocabulary});
        run(on, call::WordLogits{.x = in.rows(cols),
                                 .out = out.rows(vocabulary),
                                 .rows = n,
                                 .words = own.at(),
                                 .count = words.size(),
                                 .weights = by.rows(stride),
                                 .cols = cols,
                                 .scale = 0.3f,
                                 .cap = cap});
        return bits(on, out);
      };
      expect_same_bits(work, std::to_string(cols) + " columns");
    }
  }
}

TEST_F(VulkanLogits, AnswerQuestionsAsTheirTwinsDo) {
  std::vector<float> rows = random_floats(5000, 1);
  for (std::size_t i = 0; i < rows.size(); i += 5) rows[i] = std::round(rows[i] * 8) / 8;
  for (const float odd : {0.5f, -infinity, infinity, nan}) {
    rows[1100] = rows[2400] = rows[4800] = odd;
    const auto best = [&](Device& on) {
      const Numbers logits = send(on, rows), out = zeros(on, 2 * 3 * 40 * sizeof(call::Best));
      run(on, call::Top{{logits.at().behind(4), 2500}, 2, 2450, 40, out.at()});
      return bits(on, out);
    };
    expect_same_bits(best, std::to_string(odd));
    const auto sum = [&](Device& on) {
      const Numbers logits = send(on, rows), out = zeros(on, 12 * sizeof(float));
      run(on, call::SumExp{logits.rows(2500), 2, 2450, 1.25f, out.at()});
      return fetch<float>(on, out);
    };
    if (odd < 1) {
      expect_same_bits(sum, std::to_string(odd));
    } else {  // the segments with the NaN or infinity
      EXPECT_TRUE(std::isnan(sum(*device_)[3])) << odd;
      EXPECT_TRUE(std::isnan(sum(*device_)[11])) << odd;
    }
  }
}

TEST_F(VulkanLogits, AnswerAsARowHereDoes) {
  for (const std::size_t size : {1000, 1025, 5000}) {
    std::vector<float> row = random_floats(size, 3);
    for (std::size_t i = 0; i < size; i += 7) row[i] = std::round(row[i] * 4) / 4;  // makes ties
    row[17] = -std::numeric_limits<float>::infinity();
    DeviceLogits rows(2, size, *device_);
    ASSERT_TRUE(
        device_->upload(rows.begin(2).at.behind(size * sizeof(float)), std::as_bytes(std::span(row))));
    const std::size_t before = device_->submitted();
    const Logits there = rows.row(1), here = std::span<const float>(row);
    for (const std::size_t k : {1, 40, 256}) {
      const auto found = there.top(k), expected = here.top(k);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].token, expected[i].token);
        EXPECT_EQ(found[i].logit, expected[i].logit);
      }
    }
    for (const double temperature : {0.3, 1.0, 2.0})
      EXPECT_NEAR(there.log_sum_exp(temperature), here.log_sum_exp(temperature), 6e-6);
    EXPECT_EQ(device_->submitted(), before + 6);  // one per query
    EXPECT_EQ(there.at(0), row[0]);
    EXPECT_EQ(rows.fetched(), 0u);
  }
}

TEST_F(VulkanLogits, ComeWithWhatWasUploadedBeforeHoweverMuchTheyAre) {
  const std::vector<float> numbers = random_floats(1'500'000, 1);
  const Numbers from = send(*device_, numbers), to{device_->allocate(from.memory->bytes())};
  const call::AnyCall copy = call::Copy{to.rows(1000), from.rows(1000), 1500, 1000};
  std::vector<float> found(numbers.size());
  ASSERT_TRUE(device_->run_and_download({&copy, 1}, std::as_writable_bytes(std::span(found)), to.at()));
  EXPECT_EQ(found, numbers);
}

}  // namespace
}  // namespace spectr

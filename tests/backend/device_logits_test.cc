// Logits that stay on a device: queries are answered there, for all rows at once.
#include "spectr/backend/device/device_logits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/random_tensor.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;

TEST(DeviceLogits, AnswerAsARowHereDoesAndStayThere) {
  TwinDevice device;
  for (const std::size_t size : {1, 1000, 1024, 1025, 5000}) {
    std::vector<float> row = random_floats(size, 3);
    for (std::size_t i = 0; i < size; i += 7) row[i] = std::round(row[i] * 4) / 4;  // makes ties
    if (size > 20) row[17] = -std::numeric_limits<float>::infinity();
    DeviceLogits rows({2}, size, device);
    ASSERT_TRUE(device.upload(rows.begin(2).at.behind(size * sizeof(float)), std::as_bytes(std::span(row))));
    const Logits there = rows.row(1), here = std::span<const float>(row);
    for (const std::size_t n : {size, (size + 1) / 2}) {
      for (const std::size_t k : {1, 2, 40, 256, 3}) {
        const auto found = there.first(n).top(k), expected = here.first(n).top(k);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].token, expected[i].token);
          EXPECT_EQ(found[i].logit, expected[i].logit);
        }
      }
      for (const double temperature : {0.3, 1.0, 2.0})
        EXPECT_NEAR(there.first(n).log_sum_exp(temperature), here.first(n).log_sum_exp(temperature), 6e-6);
    }
    EXPECT_EQ(there.at(0), row[0]);
    EXPECT_EQ(rows.fetched(), 0u);
    EXPECT_EQ(there.top(257).size(), here.top(257).size());
    EXPECT_EQ(rows.fetched(), 1u);
  }
}

TEST(DeviceLogitsPool, ReallocatesSeldomIfWidthsGrowOneByOne) {
  TwinDevice device;
  DeviceLogitsPool pool(100, device);
  int moves = 0;
  for (std::size_t rows = 1; rows <= 64; ++rows) {
    bool moved = false;
    EXPECT_EQ(pool.take({rows}, moved), 0u);
    moves += moved ? 1 : 0;
  }
  EXPECT_EQ(moves, 7);  // 1, 2, 4, …, 64 rows
}

TEST(DeviceLogits, GiveTheFirstNumberThatNoDistributionTakes) {
  TwinDevice device;
  std::vector<float> row = random_floats(3000, 3);
  row[2900] = std::numeric_limits<float>::infinity();
  row[1500] = std::numeric_limits<float>::quiet_NaN();
  DeviceLogits rows({1}, row.size(), device);
  ASSERT_TRUE(device.upload(rows.begin(1).at, std::as_bytes(std::span(row))));
  for (const std::size_t k : {1, 5}) {
    const auto found = rows.row(0).top(k);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().token, 1500);
  }
  EXPECT_TRUE(std::isnan(rows.row(0).log_sum_exp()));
}

TEST(DeviceLogits, AreAskedOnceForAllRowsOfAPass) {
  TwinDevice device;
  constexpr std::size_t size = 2500, n = 5;
  DeviceLogits rows({n + 2}, size, device);
  for (std::uint32_t pass = 0; pass < 2; ++pass) {
    const std::vector<float> numbers = random_floats(n * size, pass);
    ASSERT_TRUE(device.upload(rows.begin(n).at, std::as_bytes(std::span(numbers))));
    const auto expect_right = [&](std::size_t i, std::size_t k) {
      const Logits here = std::span(numbers).subspan(i * size, size);
      const auto found = rows.row(i).top(k), expected = here.top(k);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t j = 0; j < found.size(); ++j) EXPECT_EQ(found[j].token, expected[j].token);
      EXPECT_NEAR(rows.row(i).log_sum_exp(0.7), here.log_sum_exp(0.7), 6e-6);
    };
    const int before = device.waits();
    for (std::size_t i = 0; i < n; ++i) expect_right(n - 1 - i, 40);
    for (std::size_t i = 0; i < n; ++i) expect_right(i, 1);  // a prefix of the longer lists
    EXPECT_EQ(device.waits(), before + 2);
    expect_right(2, 41);
    EXPECT_EQ(device.waits(), before + 3);
    rows.row(3).first(1025).log_sum_exp();
    rows.row(1).first(1025).log_sum_exp();
    EXPECT_EQ(device.waits(), before + 4);
  }
}

}  // namespace
}  // namespace spectr

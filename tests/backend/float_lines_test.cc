#include "spectr/backend/cpu/kernels/float_lines.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace spectr {
namespace {

/// Returns the numbers 0, 1, 2, … in the given arrangement.
std::vector<float> arranged(std::size_t cols, const FloatLines& lines) {
  std::vector<float> x(lines.rows * cols), out(x.size());
  std::iota(x.begin(), x.end(), 0.0f);
  arrange({x.data(), lines.rows, cols}, lines, out.data());
  return out;
}

TEST(FloatLines, LeaveARowWhoseSumsAreKeptTogetherAsItIs) {
  std::vector<float> x(35);
  std::iota(x.begin(), x.end(), 0.0f);
  EXPECT_EQ(arranged(35, {.rows = 1, .together = 16}), x);
  EXPECT_TRUE((FloatLines{.rows = 1, .together = 16}).as_they_are());
  EXPECT_FALSE((FloatLines{.rows = 2, .together = 16}).as_they_are());
  EXPECT_FALSE((FloatLines{.rows = 1, .together = 8}).as_they_are());
}

TEST(FloatLines, HaveEveryNumberAtItsPlace) {
  for (const std::size_t together : {4, 8, 16}) {
    for (const std::size_t rows : {1, 2, 3}) {
      for (const std::size_t cols : {1, 16, 31, 32, 50}) {
        const std::vector<float> out = arranged(cols, {.rows = rows, .together = together});
        const std::size_t steps = cols / 16, bulk = 16 * steps;
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t j = 0; j < cols; ++j) {
            const std::size_t share = j % 16 / together;
            const std::size_t place = j < bulk
                                          ? ((share * steps + j / 16) * rows + r) * together + j % together
                                          : rows * bulk + r * (cols - bulk) + (j - bulk);
            EXPECT_EQ(out[place], static_cast<float>(r * cols + j)) << together << " " << rows << " " << cols;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace spectr

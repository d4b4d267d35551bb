// Tests of the allocator of aligned weights.
#include "spectr/backend/cpu/kernels/aligned_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "spectr/backend/cpu/kernels/matmul.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

bool on_a_line(const AlignedBytes& bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.get()) % 64 == 0;
}

TEST(SharedPages, GiveEveryOneItsOwnBytesOnACacheLine) {
  SharedPages pages;
  // In total more than one mapping provides; one allocation needs pages of its own.
  std::vector<std::pair<AlignedBytes, std::size_t>> all;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t size = i == 20 ? std::size_t{5} << 20 : 1 + (i * 797'003) % (std::size_t{2} << 20);
    all.emplace_back(pages.allocate(size), size);
    ASSERT_TRUE(on_a_line(all.back().first)) << i;
    std::memset(all.back().first.get(), static_cast<int>(i), size);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [bytes, size] = all[i];
    EXPECT_EQ(std::count(bytes.get(), bytes.get() + size, static_cast<std::uint8_t>(i)),
              static_cast<std::ptrdiff_t>(size))
        << i;
  }
}

TEST(SharedPages, PutSmallOnesSideBySide) {
  SharedPages pages;
  const AlignedBytes first = pages.allocate(100'000), second = pages.allocate(1);
  EXPECT_EQ(second.get() - first.get(), 100'032);  // the next cache line
}

TEST(SharedPages, StayAsLongAsOneOfThemIsThere) {
  std::optional<SharedPages> pages(std::in_place);
  AlignedBytes first = pages->allocate(1000), last = pages->allocate(1000);
  std::memset(last.get(), 7, 1000);
  pages.reset();
  first.reset();
  EXPECT_EQ(std::count(last.get(), last.get() + 1000, 7), 1000);
}

TEST(SharedPages, LeaveAMatrixAsItIs) {
  ThreadPool pool(1);
  SharedPages pages;
  constexpr std::size_t rows = 33, cols = 256;
  const auto bytes = test::random_tensor(TensorType::q4_0, rows, cols, 1);
  const Matrix alone = Matrix::pack(TensorType::q4_0, rows, cols, bytes, pool);
  const Matrix first = Matrix::pack(TensorType::q4_0, rows, cols, bytes, pool, &pages),
               second = Matrix::pack(TensorType::q4_0, rows, cols, bytes, pool, &pages);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<float> x(cols), y(cols), z(cols);
    alone.row(row, x);
    first.row(row, y);
    second.row(row, z);
    EXPECT_EQ(x, y);
    EXPECT_EQ(x, z);
  }
}

}  // namespace
}  // namespace spectr

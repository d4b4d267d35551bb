#include "spectr/base/recycled.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/allocations.h"

namespace spectr {
namespace {

struct Base : RecycledObject {
  virtual ~Base() = default;
};
struct Large final : Base {
  char bytes[500] = {};
};

class Recycled : public testing::Test {
 protected:
  void SetUp() override {
    if (!recycled::keeps()) GTEST_SKIP() << "this build keeps no memory";
  }
};

TEST_F(Recycled, MemoryComesBackForEverySizeOfItsPowerOfTwo) {
  void* const piece = recycled::take(1000);
  recycled::give(piece, 1000);
  for (const std::size_t bytes : {513u, 1024u}) {
    void* const again = recycled::take(bytes);
    EXPECT_EQ(again, piece);
    recycled::give(again, bytes);
  }
  void* const larger = recycled::take(1025);
  EXPECT_NE(larger, piece);
  recycled::give(larger, 1025);
}

TEST_F(Recycled, WhatIsMadeAndDroppedAgainAsksForNothing) {
  const auto make = [] {
    RecycledVector<double> numbers(3000, 1.0);
    RecycledVector<int> growing;
    for (int i = 0; i < 5000; ++i) growing.push_back(i);
    const std::unique_ptr<Base> object = std::make_unique<Large>();
  };
  make();
  const std::size_t before = test::allocations();
  for (int i = 0; i < 100; ++i) make();
  EXPECT_EQ(test::allocations(), before);
}

TEST_F(Recycled, TrimmingGivesBackWhatAThreadKeeps) {
  std::thread([] {
    recycled::give(recycled::take(3000), 3000);
    void* const used = recycled::take(500);
    const std::size_t before = test::allocations();
    recycled::give(recycled::take(3000), 3000);
    EXPECT_EQ(test::allocations(), before) << "a kept piece";
    recycled::trim();
    recycled::give(recycled::take(3000), 3000);
    EXPECT_EQ(test::allocations(), before + 1) << "a new one";
    recycled::give(used, 500);
    recycled::give(recycled::take(500), 500);
    EXPECT_EQ(test::allocations(), before + 1) << "what was in use is kept again";
  }).join();
}

TEST_F(Recycled, PiecesInUseAreDifferentAndAligned) {
  std::vector<RecycledVector<double>> all;
  for (std::size_t n = 1; n < 200; ++n) {
    all.emplace_back(n, static_cast<double>(n));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all.back().data()) % alignof(std::max_align_t), 0u);
  }
  for (const auto& numbers : all) {
    for (const double number : numbers) ASSERT_EQ(number, static_cast<double>(numbers.size()));
  }
}

TEST_F(Recycled, AnotherThreadMayGiveBackAndEnd) {
  RecycledVector<double> here(1000, 2.0);
  std::thread([numbers = std::move(here)]() mutable {
    RecycledVector<double> there = std::move(numbers);
    EXPECT_EQ(there.back(), 2.0);
  }).join();
  RecycledVector<double> from_there;
  std::thread([&] { from_there.assign(1000, 3.0); }).join();
  EXPECT_EQ(from_there.back(), 3.0);
}

TEST_F(Recycled, AThreadKeepsNothingThatOthersTook) {
  std::vector<RecycledVector<double>> all(50, RecycledVector<double>(777));
  std::thread([&] {
    all.clear();
    const std::size_t before = test::allocations();
    const RecycledVector<double> own(777);
    EXPECT_EQ(test::allocations(), before + 1);
  }).join();
}

TEST(RecyclingAllocator, RefusesSizesThatNoMachineHas) {
  EXPECT_THROW(RecyclingAllocator<double>().allocate(SIZE_MAX / 8), std::bad_array_new_length);
  EXPECT_THROW(RecyclingAllocator<char>().allocate(SIZE_MAX), std::bad_array_new_length);
}

}  // namespace
}  // namespace spectr

// The cache: what is written is what is attended to, as F32 or as F16.
#include "spectr/backend/cpu/kv_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

constexpr std::size_t width = 24, slots = 20, scratch_size = attention_scratch(64, width);

/// Two layers: of one head and of three.
KvLayout layout_of(KvType type) {
  return {std::vector{KvLayout::Layer{1, 8}, KvLayout::Layer{3, width}}, type};
}

std::vector<float> attend_to(const KvStore& cache, std::size_t slot) {
  const std::vector<float> q(width, 1.0f);
  const int places[] = {static_cast<int>(slot)};
  std::vector<float> out(width), scratch(scratch_size);
  const Query query = {q.data(), 0, places, out.data()};
  cache.attend(1, 2, {&query, 1}, 1.0f, scratch, ReadFrom::memory);
  return out;
}

TEST(KvStore, GivesTheValueOfTheOnlySlotThatIsAttendedTo) {
  const std::vector<float> key = test::random_floats(width, 1), value = test::random_floats(width, 2);
  const KvLayout f32_layout = layout_of(KvType::f32), f16_layout = layout_of(KvType::f16);
  KvStore f32(f32_layout, slots), f16(f16_layout, slots);
  for (KvStore* store : {&f32, &f16}) store->write(1, 2, 17, key, value);
  EXPECT_EQ(attend_to(f32, 17), value);
  std::vector<float> rounded;
  for (const float x : value) rounded.push_back(f16_to_float(round_to_f16(x).bits));
  EXPECT_EQ(attend_to(f16, 17), rounded);
  EXPECT_NE(rounded, value);
}

TEST(KvStore, MovesKeyAndValue) {
  for (const KvType type : {KvType::f32, KvType::f16}) {
    const KvLayout layout = layout_of(type);
    KvStore cache(layout, slots);
    for (std::size_t slot = 0; slot < 20; ++slot) {
      const auto seed = static_cast<std::uint32_t>(slot);
      cache.write(1, 2, slot, test::random_floats(width, seed), test::random_floats(width, 100 + seed));
    }
    const std::vector<float> q = test::random_floats(width, 50);
    const auto both = [&](int a, int b) {
      const int places[] = {a, b};
      std::vector<float> out(width), scratch(scratch_size);
      const Query query = {q.data(), 0, places, out.data()};
      cache.attend(1, 2, {&query, 1}, 1.0f, scratch, ReadFrom::memory);
      return out;
    };
    const std::vector<float> before = both(3, 19);
    cache.move(19, 4);
    EXPECT_EQ(both(3, 4), before) << "the key decides the weights, the value the sum";
  }
}

TEST(KvStore, KeepsF16InHalfTheBytes) {
  EXPECT_EQ(layout_of(KvType::f32).bytes(64), 2 * layout_of(KvType::f16).bytes(64));
  EXPECT_EQ(layout_of(KvType::f16).bytes(1), 64 * 2 * 2 * (8 + 3 * width)) << "a block of 64 slots";
}

}  // namespace
}  // namespace spectr

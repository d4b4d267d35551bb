// The cache: what is written is what is attended to, as F32 or as F16.
#include "spectr/backend/cpu/kv_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

constexpr std::size_t width = 24, slots = 20, scratch_size = attention_scratch(64, width);

/// Two layers: of one head and of three.
KvLayout layout_of(KvType keys, KvType values) {
  return {std::vector{KvLayout::Layer{1, 8}, KvLayout::Layer{3, width}}, {keys, values}};
}

std::vector<float> attend_to(const KvStore& cache, std::size_t slot) {
  const std::vector<float> q(width, 1.0f);
  const int places[] = {static_cast<int>(slot)};
  std::vector<float> out(width), scratch(scratch_size);
  const Query query = {q.data(), 0, places, out.data()};
  cache.attend(1, 2, {&query, 1}, 1.0f, scratch, ReadFrom::memory);
  return out;
}

constexpr KvType all_types[] = {KvType::f32, KvType::f16};

std::vector<float> rounded(std::vector<float> numbers, KvType type) {
  if (type == KvType::f16) {
    for (float& x : numbers) x = f16_to_float(round_to_f16(x).bits);
  }
  return numbers;
}

TEST(KvStore, GivesTheValueOfTheOnlySlotThatIsAttendedTo) {
  const std::vector<float> key = test::random_floats(width, 1), value = test::random_floats(width, 2);
  ASSERT_NE(rounded(value, KvType::f16), value);
  for (const KvType keys : all_types) {
    for (const KvType values : all_types) {
      const KvLayout layout = layout_of(keys, values);
      KvStore store(layout, slots);
      store.write(1, 2, 17, key, value);
      EXPECT_EQ(attend_to(store, 17), rounded(value, values)) << name_of(keys) << ", " << name_of(values);
    }
  }
}

TEST(KvStore, MovesKeyAndValue) {
  for (const KvType keys : all_types) {
    for (const KvType values : all_types) {
      const KvLayout layout = layout_of(keys, values);
      KvStore store(layout, slots);
      for (std::size_t slot = 0; slot < slots; ++slot) {
        const auto seed = static_cast<std::uint32_t>(slot);
        store.write(1, 2, slot, test::random_floats(width, seed), test::random_floats(width, 100 + seed));
      }
      const std::vector<float> q = test::random_floats(width, 50);
      const auto both = [&](int a, int b) {
        const int places[] = {a, b};
        std::vector<float> out(width), scratch(scratch_size);
        const Query query = {q.data(), 0, places, out.data()};
        store.attend(1, 2, {&query, 1}, 1.0f, scratch, ReadFrom::memory);
        return out;
      };
      const std::vector<float> before = both(3, 19);
      store.move(19, 4);
      EXPECT_EQ(both(3, 4), before) << "the key decides the weights, the value the sum";
    }
  }
}

TEST(KvStore, KeepsF16InHalfTheBytes) {
  constexpr KvType f32 = KvType::f32, f16 = KvType::f16;
  EXPECT_EQ(layout_of(f16, f16).bytes(1), 64 * 2 * 2 * (8 + 3 * width)) << "a block of 64 slots";
  EXPECT_EQ(layout_of(f32, f32).bytes(64), 2 * layout_of(f16, f16).bytes(64));
  EXPECT_EQ(layout_of(f32, f16).bytes(64), layout_of(f16, f32).bytes(64));
  EXPECT_EQ(2 * layout_of(f32, f16).bytes(64), layout_of(f32, f32).bytes(64) + layout_of(f16, f16).bytes(64));
}

}  // namespace
}  // namespace spectr

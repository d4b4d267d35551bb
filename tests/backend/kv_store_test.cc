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

/// A sequence of which nothing is dropped.
CacheSize all_of(std::size_t count) {
  return {count, count};
}

std::vector<float> attend_to(const KvStore& cache, std::size_t slot) {
  const std::vector<float> q(width, 1.0f);
  const int places[] = {static_cast<int>(slot)};
  std::vector<float> out(width), scratch(scratch_size);
  const Query query = {q.data(), 0, places, out.data()};
  cache.attend(1, 2, {&query, 1}, {1.0f}, scratch, ReadFrom::memory);
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
      KvStore store(layout, all_of(slots));
      store.write(1, 2, 17, key, value);
      EXPECT_EQ(attend_to(store, 17), rounded(value, values)) << name_of(keys) << ", " << name_of(values);
    }
  }
}

TEST(KvStore, MovesKeyAndValue) {
  for (const KvType keys : all_types) {
    for (const KvType values : all_types) {
      const KvLayout layout = layout_of(keys, values);
      KvStore store(layout, all_of(slots));
      for (std::size_t slot = 0; slot < slots; ++slot) {
        const auto seed = static_cast<std::uint32_t>(slot);
        store.write(1, 2, slot, test::random_floats(width, seed), test::random_floats(width, 100 + seed));
      }
      const std::vector<float> q = test::random_floats(width, 50);
      const auto both = [&](int a, int b) {
        const int places[] = {a, b};
        std::vector<float> out(width), scratch(scratch_size);
        const Query query = {q.data(), 0, places, out.data()};
        store.attend(1, 2, {&query, 1}, {1.0f}, scratch, ReadFrom::memory);
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
  EXPECT_EQ(layout_of(f16, f16).bytes(all_of(1)), 64 * 2 * 2 * (8 + 3 * width)) << "a block of 64 slots";
  EXPECT_EQ(layout_of(f32, f32).bytes(all_of(64)), 2 * layout_of(f16, f16).bytes(all_of(64)));
  EXPECT_EQ(layout_of(f32, f16).bytes(all_of(64)), layout_of(f16, f32).bytes(all_of(64)));
  EXPECT_EQ(2 * layout_of(f32, f16).bytes(all_of(64)),
            layout_of(f32, f32).bytes(all_of(64)) + layout_of(f16, f16).bytes(all_of(64)));
}

// A layer without a window, and two that keep the last 100 slots and 60 more: three blocks of 64.
TEST(KvStore, LayersWithAWindowKeepARingOfSlots) {
  const KvLayout layout(std::vector{KvLayout::Layer{1, 8}, {1, 8, 100}, {2, 8, 100}},
                        {KvType::f32, KvType::f32});
  const CacheSize size{1000, 60};
  const std::size_t block = 64 * 2 * 8 * sizeof(float);
  EXPECT_EQ(layout.bytes(size), 16 * block + 3 * (1 + 2) * block);
  EXPECT_EQ(layout.bytes({1000, 1000}), 16 * (1 + 1 + 2) * block) << "all is kept";
  EXPECT_EQ(layout.bytes({100, 60}), 2 * (1 + 1 + 2) * block)
      << "a short sequence has no more blocks than others";
  KvStore store(layout, size);
  const std::vector<float> key(8, 0.0f);
  for (std::size_t slot = 0; slot < 1000; ++slot) {
    const std::vector<float> value(8, static_cast<float>(slot));
    store.write(0, 0, slot, key, value);
    store.write(2, 1, slot, key, value);
  }
  store.move(999, 990);  // in all layers
  const auto value_at = [&](std::size_t layer, std::size_t head, int slot) {
    const std::vector<float> q(8, 1.0f);
    std::vector<float> out(8), scratch(attention_scratch(1024, 8));
    const Query query = {q.data(), 0, {&slot, 1}, out.data()};
    store.attend(layer, head, {&query, 1}, {1.0f}, scratch, ReadFrom::memory);
    return out[0];
  };
  EXPECT_EQ(value_at(0, 0, 3), 3);
  EXPECT_EQ(value_at(0, 0, 990), 999);
  EXPECT_EQ(value_at(2, 1, 990), 999);
  for (const int slot : {840, 900, 989, 998}) EXPECT_EQ(value_at(2, 1, slot), static_cast<float>(slot));
}

}  // namespace
}  // namespace spectr

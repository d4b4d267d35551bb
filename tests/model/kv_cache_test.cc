// The cache: what is written is what is attended to, as floats or as halves.
#include "spectr/model/kv_cache.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

constexpr std::size_t width = 24;

std::vector<float> attend_to(const KvCache& cache, std::size_t slot) {
  const std::vector<float> q(width, 1.0f);
  const int slots[] = {static_cast<int>(slot)};
  std::vector<float> out(width), scratch(cache.scratch());
  const Query query = {q.data(), 0, slots, out.data()};
  cache.attend(1, 2, {&query, 1}, 1.0f, scratch, ReadFrom::memory);
  return out;
}

TEST(KvCache, GivesTheValueOfTheOnlySlotThatIsAttendedTo) {
  const std::vector<float> key = test::random_floats(width, 1), value = test::random_floats(width, 2);
  KvCache floats(2, 3, 20, width, CacheNumbers::floats), halves(2, 3, 20, width, CacheNumbers::halves);
  for (KvCache* cache : {&floats, &halves}) cache->write(1, 2, 17, key, value);
  EXPECT_EQ(attend_to(floats, 17), value);
  std::vector<float> rounded;
  for (const float x : value) rounded.push_back(half_to_float(nearest_half(x).bits));
  EXPECT_EQ(attend_to(halves, 17), rounded);
  EXPECT_NE(rounded, value);
}

TEST(KvCache, MovesKeyAndValue) {
  for (const CacheNumbers numbers : {CacheNumbers::floats, CacheNumbers::halves}) {
    KvCache cache(2, 3, 20, width, numbers);
    for (std::size_t slot = 0; slot < 20; ++slot) {
      const auto seed = static_cast<std::uint32_t>(slot);
      cache.write(1, 2, slot, test::random_floats(width, seed), test::random_floats(width, 100 + seed));
    }
    const std::vector<float> q = test::random_floats(width, 50);
    const auto both = [&](int a, int b) {
      const int slots[] = {a, b};
      std::vector<float> out(width), scratch(cache.scratch());
      const Query query = {q.data(), 0, slots, out.data()};
      cache.attend(1, 2, {&query, 1}, 1.0f, scratch, ReadFrom::memory);
      return out;
    };
    const std::vector<float> before = both(3, 19);
    cache.move(19, 4);
    EXPECT_EQ(both(3, 4), before) << "the key decides the weights, the value the sum";
  }
}

TEST(KvCache, KeepsHalvesInHalfTheBytes) {
  EXPECT_EQ(KvCache(1, 1, 16, width, CacheNumbers::floats).row_bytes(), 4 * width);
  EXPECT_EQ(KvCache(1, 1, 16, width, CacheNumbers::halves).row_bytes(), 2 * width);
}

}  // namespace
}  // namespace spectr

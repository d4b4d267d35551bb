#include "spectr/backend/cpu/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "spectr/base/check.h"
#include "tests/backend/expect_close.h"
#include "tests/support/block_table.h"
#include "tests/support/every_target.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scalar_ops.h"

namespace spectr {
namespace {

using test::random_floats;

constexpr std::size_t slots = 3 * slot_block;

/// `kept` converts a float to the cache's type; `number` converts it back.
float kept(float x, float) {
  return x;
}
F16 kept(float x, F16) {
  return round_to_f16(x);
}
float number(float x) {
  return x;
}
float number(F16 x) {
  return f16_to_float(x.bits);
}

template <class T>
std::vector<T> random_numbers(std::size_t count, std::uint32_t seed) {
  std::vector<T> numbers;
  for (const float x : random_floats(count, seed)) numbers.push_back(kept(x, T()));
  return numbers;
}

template <class T>
std::vector<float> floats(const std::vector<T>& numbers) {
  std::vector<float> floats;
  for (const T x : numbers) floats.push_back(number(x));
  return floats;
}

/// Cached numbers of one head; `stride` is the stride between its blocks, in numbers.
template <class T>
struct KeptNumbers {
  KeptNumbers(std::vector<T> all, std::size_t stride, std::size_t head_width)
      : numbers(std::move(all)),
        table(test::block_table(std::as_writable_bytes(std::span(numbers)), stride * sizeof(T))),
        width(head_width) {}
  KeptNumbers(const KeptNumbers&) = delete;
  KeptNumbers& operator=(const KeptNumbers&) = delete;

  CachedHead<T> head() { return {table.data(), 0, width}; }
  CachedHead<const T> constant() const { return {table.data(), 0, width}; }

  std::vector<T> numbers;
  std::vector<std::byte*> table;
  std::size_t width;
};

/// Queries and a cache of `slots` slots for one head of a given width. Between its
/// blocks lies memory of other heads.
template <class T>
struct Head {
  explicit Head(std::size_t head_width) : width(head_width) {}

  std::size_t width;
  std::vector<float> q = random_floats(max_queries * width, 1);
  std::size_t stride = 2 * slot_block * width + 40;  // stride of the blocks
  KeptNumbers<T> cache{random_numbers<T>(slots / slot_block * stride, 2), stride, width};
  CachedHead<T> cached = cache.head();
  std::vector<float> scratch = std::vector<float>(attention_scratch(slots, width));
  std::vector<float> out = std::vector<float>(max_queries * width);
  ReadFrom from = ReadFrom::memory;
  float cap = 0.0f;

  Query query(std::size_t i, std::size_t prefix, std::span<const int> extra, std::size_t begin = 0) {
    return {&q[i * width], prefix, extra, &out[i * width], begin};
  }
  void attend_all(std::span<const Query> queries) {
    attend(queries, cache.constant(), {scale(), cap}, scratch, from);
  }
  std::vector<float> attend_to(std::size_t prefix, std::span<const int> extra, std::size_t begin = 0) {
    const Query alone = query(0, prefix, extra, begin);
    attend_all({&alone, 1});
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(width)};
  }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(width)); }
};

template <class T>
struct Attend : testing::Test {};
using CacheNumbers = testing::Types<float, F16>;
TYPED_TEST_SUITE(Attend, CacheNumbers);

TYPED_TEST(Attend, AgreesWithItsTwinOverContiguousAndListedSlots) {
  const std::vector<int> listed = {140, 141, 145, 191};
  at_every_target([&] {
    for (const std::size_t width : {1, 7, 16, 33, 48, 64, 80, 128}) {
      Head<TypeParam> head{width};
      const KeptNumbers<float> numbers(floats(head.cache.numbers), head.stride, width);
      KeptNumbers<float> with_sizes(numbers.numbers, head.stride, width);  // absolute values
      for (std::size_t s = 0; s < slots; ++s) {
        float* const value = with_sizes.head().value(s);
        for (std::size_t j = 0; j < width; ++j) value[j] = std::abs(value[j]);
      }
      for (const std::size_t prefix : {0, 1, 3, 4, 5, 16, 31, 63, 66, 130}) {
        for (const std::size_t extra : {0, 1, 4}) {
          if (prefix + extra == 0) continue;
          const auto list = std::span(listed).first(extra);
          std::vector<float> expected(width), sizes(width);
          const auto twin = [&](const KeptNumbers<float>& summed, std::vector<float>& out) {
            scalar::attend(std::span(head.q).first(width), summed.constant(), prefix, list, {head.scale()},
                           head.scratch, out);
          };
          twin(numbers, expected);
          twin(with_sizes, sizes);
          expect_close(head.attend_to(prefix, list), expected, 5e-6, sizes);
        }
      }
    }
  });
}

TYPED_TEST(Attend, GivesAQueryTheSameBitsWhateverTheOthers) {
  const std::vector<int> listed = {140, 141, 145, 191};
  at_every_target([&] {
    for (const std::size_t width : {1, 7, 16, 33, 48, 64, 80, 128}) {
      for (const std::size_t prefix : {1, 31, 32, 33, 66, 130}) {
        Head<TypeParam> head{width};
        // Prefixes as in a prefill, listed slots as in a tree.
        const auto nth = [&](std::size_t i) {
          return head.query(i, prefix + i, std::span(listed).subspan(i % 4, i % 4 == 3 ? 0 : 1));
        };
        std::vector<float> alone;
        for (std::size_t i = 0; i < max_queries; ++i) {
          const Query query = nth(i);
          head.attend_all({&query, 1});
          alone.insert(alone.end(), query.out, query.out + width);
        }
        for (std::size_t count = 2; count <= max_queries; ++count) {
          std::ranges::fill(head.out, -1.0f);
          head.from = count % 2 == 0 ? ReadFrom::caches : ReadFrom::memory;
          std::vector<Query> queries;
          for (std::size_t i = 0; i < count; ++i) queries.push_back(nth(i));
          head.attend_all(queries);
          EXPECT_TRUE(std::equal(alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(count * width),
                                 head.out.begin()))
              << count << " queries, " << width << " dimensions, " << prefix << " slots";
        }
      }
    }
  });
}

TYPED_TEST(Attend, GivesTheSameBitsWhetherASlotIsListedOrNot) {
  at_every_target([] {
    for (const std::size_t width : {7, 48, 64}) {
      Head<TypeParam> head{width};
      for (const std::size_t count : {1, 17, 66}) {
        const std::vector<float> whole = head.attend_to(count, {});
        for (std::size_t prefix = count > 5 ? count - 5 : 0; prefix < count; ++prefix) {
          std::vector<int> extra;
          for (std::size_t s = prefix; s < count; ++s) extra.push_back(static_cast<int>(s));
          EXPECT_EQ(head.attend_to(prefix, extra), whole) << width << " dimensions, " << prefix << " slots";
        }
      }
    }
  });
}

TYPED_TEST(Attend, AgreesWithItsTwinInAWindowAndWithACap) {
  const std::vector<int> listed = {140, 141, 145, 191};
  at_every_target([&] {
    for (const std::size_t width : {7, 48, 64}) {
      for (const float cap : {0.0f, 0.5f, 30.0f}) {
        Head<TypeParam> head{width};
        head.cap = cap;
        const KeptNumbers<float> numbers(floats(head.cache.numbers), head.stride, width);
        for (const std::size_t prefix : {1, 66, 130}) {
          for (const std::size_t extra : {0, 1, 4}) {
            const auto list = std::span(listed).first(extra);
            for (const std::size_t window : {1, 2, 5, 64, 65, 129}) {
              if (window > prefix + extra) continue;
              const std::size_t begin = prefix + extra - window;
              std::vector<float> expected(width);
              scalar::attend(std::span(head.q).first(width), numbers.constant(), prefix, list,
                             {head.scale(), cap}, head.scratch, expected, begin);
              const std::vector<float> found = head.attend_to(prefix, list, begin);
              for (std::size_t j = 0; j < width; ++j)
                EXPECT_NEAR(found[j], expected[j], 2e-6f) << prefix << ", " << extra << ", " << window;
            }
          }
        }
      }
    }
  });
}

// Neighbouring rows of a sequence and nodes of a tree. Their windows begin in different blocks, or, after the
// sequence, within the tree itself.
TYPED_TEST(Attend, GivesAWindowTheSameBitsWhateverTheOthersAndHoweverItsSlotsAreListed) {
  at_every_target([] {
    static constexpr std::size_t width = 48;
    for (const std::size_t window : {1, 3, 20, 64, 66}) {
      for (const std::size_t first : {67, 126, 128, 131}) {  // positions of the first query
        Head<TypeParam> head{width};
        std::vector<std::vector<int>> lists(max_queries);
        std::vector<Query> queries;
        std::vector<float> alone;
        for (std::size_t i = 0; i < max_queries; ++i) {
          const std::size_t positions = first + i, extra = i % 4;
          for (std::size_t s = positions - extra; s < positions; ++s) lists[i].push_back(static_cast<int>(s));
          const std::size_t begin = positions - window;
          queries.push_back(head.query(i, positions - extra, lists[i], begin));
          const Query whole = head.query(i, positions, {}, begin);
          head.attend_all({&whole, 1});
          alone.insert(alone.end(), whole.out, whole.out + width);
        }
        std::ranges::fill(head.out, -1.0f);
        head.attend_all(queries);
        EXPECT_EQ(head.out, alone) << "a window of " << window << " from " << first << " positions on";
      }
    }
  });
}

TYPED_TEST(Attend, GivesAWindowTheSameBitsWhereverInARingItsSlotsLie) {
  at_every_target([] {
    static constexpr std::size_t width = 33, length = 9 * slot_block, ring = slots / slot_block;
    Head<TypeParam> head{width};
    KeptNumbers<TypeParam> all(random_numbers<TypeParam>(length / slot_block * head.stride, 5), head.stride,
                               width);
    for (std::size_t end = slots; end <= length; end += 37) {
      // The ring buffer holds the last slots of the sequence.
      for (std::size_t slot = end - slots; slot < end; ++slot) {
        const CachedHead<TypeParam> from = all.head();
        CachedHead<TypeParam> to = head.cached;
        to.ring = ring;
        for (std::size_t j = 0; j < width; ++j) to.key(slot, j) = from.key(slot, j);
        std::copy_n(from.value(slot), width, to.value(slot));
      }
      const auto attend_in = [&](CachedHead<const TypeParam> cached) {
        std::vector<float> out(2 * width);
        const std::vector<int> extra = {static_cast<int>(end) - 3, static_cast<int>(end) - 1};
        const Query queries[] = {{head.q.data(), end, {}, out.data(), end - 100},
                                 {&head.q[width], end - 5, extra, &out[width], end - 5 + 2 - 100}};
        attend(queries, cached, {head.scale()}, head.scratch, ReadFrom::memory);
        return out;
      };
      CachedHead<const TypeParam> in_ring = head.cache.constant();
      in_ring.ring = ring;
      EXPECT_EQ(attend_in(in_ring), attend_in(all.constant())) << end;
    }
  });
}

/// If a model computes NaN, its logits must show it.
TYPED_TEST(Attend, IsNotFiniteWhereAKeyAValueOrTheQueryIsNot) {
  static constexpr float infinity = std::numeric_limits<float>::infinity();
  static constexpr std::size_t width = 33;
  at_every_target([] {
    for (const float wrong : {NAN, infinity}) {
      for (const std::size_t prefix : {1, 5, 16, 17, 40}) {
        const std::size_t slot = prefix / 2;
        Head<TypeParam> query{width}, key{width}, value{width};
        query.q[3] = wrong;
        key.q[3] = 1.0f;
        key.cached.key(slot, 3) = kept(wrong, TypeParam());
        value.cached.value(slot)[3] = kept(wrong, TypeParam());
        EXPECT_FALSE(std::isfinite(query.attend_to(prefix, {})[3])) << wrong << " of " << prefix;
        EXPECT_FALSE(std::isfinite(key.attend_to(prefix, {})[3])) << wrong << " of " << prefix;
        EXPECT_FALSE(std::isfinite(value.attend_to(prefix, {})[3])) << wrong << " of " << prefix;
      }
    }
  });
}

TYPED_TEST(Attend, AgreesWithItsTwinHoweverSmallAllScoresAre) {
  static constexpr std::size_t width = 16, prefix = 5;
  at_every_target([] {
    Head<TypeParam> head{width};
    std::ranges::fill(head.q, -1e34f);
    for (std::size_t s = 0; s < slots; ++s) {
      for (std::size_t j = 0; j < width; ++j) head.cached.key(s, j) = kept(1.0f, TypeParam());
      std::fill_n(head.cached.value(s), width, kept(2.0f, TypeParam()));
    }
    for (const float out : head.attend_to(prefix, {})) EXPECT_FLOAT_EQ(out, 2.0f);
  });
}

TYPED_TEST(Attend, LooksAtNoOtherSlot) {
  at_every_target([] {
    Head<TypeParam> head{48};
    const TypeParam nan = kept(std::numeric_limits<float>::quiet_NaN(), TypeParam());
    const std::vector<int> extra = {40, 42};
    const std::vector<float> expected = head.attend_to(20, extra);
    for (std::size_t s = 20; s < slots; ++s) {
      if (s == 40 || s == 42) continue;
      for (std::size_t j = 0; j < 48; ++j) {
        head.cached.key(s, j) = nan;
        head.cached.value(s)[j] = nan;
      }
    }
    EXPECT_EQ(head.attend_to(20, extra), expected);
  });
}

TYPED_TEST(Attend, RefusesSlotsThatAreNoneOrOutOfOrder) {
  Head<TypeParam> head{16};
  const auto refused = [&](std::size_t prefix, const std::vector<int>& extra) {
    EXPECT_THROW(head.attend_to(prefix, extra), BrokenContract)
        << prefix << " slots, then " << testing::PrintToString(extra);
  };
  refused(0, {});
  refused(4, {3});
  refused(4, {6, 5});
  refused(4, {5, 5});
  refused(0, {-2});
  refused(4, {-2});
  refused(4, {-2, 5});
  refused(4, {5, -2});
  EXPECT_THROW(head.attend_to(4, {}, 4), BrokenContract) << "an empty window";
  EXPECT_NO_THROW(head.attend_to(4, std::vector{4, 6}));
}

TYPED_TEST(Attend, RefusesTooManyQueriesAndTooLittleScratch) {
  Head<TypeParam> head{16};
  const Query query = head.query(0, 20, {});
  const std::vector<int> later = {20, 30};
  const Query longer = head.query(1, 20, later);
  EXPECT_THROW(head.attend_all({}), BrokenContract);
  EXPECT_THROW(head.attend_all(std::vector(max_queries + 1, query)), BrokenContract);
  head.scratch.resize(attention_scratch(20, 16));
  EXPECT_NO_THROW(head.attend_all({&query, 1}));
  EXPECT_THROW(head.attend_all(std::vector{query, longer}), BrokenContract);
  head.scratch.resize(attention_scratch(20, 16) - 1);
  EXPECT_THROW(head.attend_all({&query, 1}), BrokenContract);
}

}  // namespace
}  // namespace spectr

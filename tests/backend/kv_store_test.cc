// The KV cache: attention reads what was written, as F32, F16 or Q8_0.
#include "spectr/backend/cpu/kv_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "spectr/base/block_pool.h"
#include "tests/support/every_target.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

constexpr std::size_t width = 24, slots = 20, scratch_size = attention_scratch(64, width);

/// A layout of two layers, with one head and with three.
KvLayout layout_of(KvType keys, KvType values) {
  return {std::vector{KvLayout::Layer{1, 8}, KvLayout::Layer{3, width}}, {keys, values}};
}

/// Returns the size of a cache that keeps all of `count` slots.
CacheSize all_of(std::size_t count) {
  return {count, count};
}

/// A KvStore that owns all of its slots.
struct Store : KvStore {
  Store(const KvLayout& layout, const CacheSize& size)
      : Store(layout, size, std::make_unique<BlockPool>(layout.block_bytes())) {}

 private:
  Store(const KvLayout& layout, const CacheSize& size, std::unique_ptr<BlockPool> blocks)
      : KvStore(layout, size, *blocks), pool(std::move(blocks)) {
    own(0, size.slots);
  }
  std::unique_ptr<BlockPool> pool;  // must outlive the store
};

std::vector<float> attend_to(const KvStore& cache, std::size_t slot) {
  const std::vector<float> q(width, 1.0f);
  const int places[] = {static_cast<int>(slot)};
  std::vector<float> out(width), scratch(scratch_size);
  const Query query = {q.data(), 0, places, out.data()};
  cache.attend(1, 2, {&query, 1}, {1.0f}, scratch, ReadFrom::memory);
  return out;
}

constexpr KvType all_types[] = {KvType::f32, KvType::f16, KvType::q8_0};

/// Returns the numbers of a key or a value after rounding to `type`.
std::vector<float> rounded(std::vector<float> numbers, KvType type) {
  if (type == KvType::f16) {
    for (float& x : numbers) x = f16_to_float(round_to_f16(x).bits);
  }
  for (std::size_t begin = 0; type == KvType::q8_0 && begin < numbers.size(); begin += q8_dims) {
    const std::span some = std::span(numbers).subspan(begin, std::min(q8_dims, numbers.size() - begin));
    std::vector<std::int8_t> quants(some.size());
    const float scale = round_to_q8(some, quants);
    for (std::size_t j = 0; j < some.size(); ++j) some[j] = static_cast<float>(quants[j]) * scale;
  }
  return numbers;
}

TEST(KvStore, GivesTheValueOfTheOnlySlotThatIsAttendedTo) {
  const std::vector<float> key = test::random_floats(width, 1), value = test::random_floats(width, 2);
  ASSERT_NE(rounded(value, KvType::f16), value);
  ASSERT_NE(rounded(value, KvType::q8_0), value);
  for (const KvType keys : all_types) {
    for (const KvType values : all_types) {
      const KvLayout layout = layout_of(keys, values);
      Store store(layout, all_of(slots));
      store.write(1, 2, 17, key, value);
      EXPECT_EQ(attend_to(store, 17), rounded(value, values)) << name_of(keys) << ", " << name_of(values);
    }
  }
}

TEST(KvStore, MovesKeyAndValue) {
  for (const KvType keys : all_types) {
    for (const KvType values : all_types) {
      const KvLayout layout = layout_of(keys, values);
      Store store(layout, all_of(slots));
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

/// A cache into which keys and values are written after they were rounded to other types.
struct Written {
  static constexpr std::size_t rows = 150;
  Written(std::size_t head_dim, const KvTypes& types, const KvTypes& before)
      : dim(head_dim), kept_before(before), layout(std::vector{KvLayout::Layer{2, head_dim}}, types) {
    for (std::size_t slot = 0; slot < rows; ++slot) write(slot, slot);
  }
  void write(std::size_t slot, std::size_t token) {
    const auto seed = static_cast<std::uint32_t>(2 * token);
    store.write(0, 1, slot, rounded(test::random_floats(dim, seed), kept_before.keys),
                rounded(test::random_floats(dim, seed + 1), kept_before.values));
  }
  void attend(std::span<const Query> queries) {
    store.attend(0, 1, queries, {0.125f}, scratch, ReadFrom::memory);
  }

  std::size_t dim;
  KvTypes kept_before;
  KvLayout layout;
  Store store{layout, all_of(rows)};
  std::vector<float> scratch = std::vector<float>(attention_scratch(rows + slot_block, dim));
};

/// Attends with the queries of a sequence and of a tree's nodes, some of them with windows.
std::vector<float> attended(Written& cache, bool alone) {
  static constexpr std::array nodes = {140, 141, 145, 149};
  const std::vector<float> q = test::random_floats(max_queries * cache.dim, 9);
  std::vector<float> out(q.size());
  std::vector<Query> queries;
  for (std::size_t i = 0; i < max_queries; ++i) {
    queries.push_back({&q[i * cache.dim], 130 + i, std::span(nodes).first(i % 5), &out[i * cache.dim],
                       i % 3 == 2 ? 100 + i : 0});
  }
  if (!alone) cache.attend(queries);
  for (std::size_t i = 0; alone && i < max_queries; ++i) cache.attend({&queries[i], 1});
  return out;
}

constexpr std::size_t widths[] = {1, 7, 32, 33, 48, 80, 128};

TEST(KvStore, GivesWhatF32NumbersEqualToItsOwnGive) {
  constexpr KvTypes floats{KvType::f32, KvType::f32};
  at_every_target([&] {
    for (const std::size_t dim : widths) {
      for (const KvType keys : all_types) {
        for (const KvType values : all_types) {
          Written as_kept(dim, {keys, values}, floats), as_floats(dim, floats, {keys, values});
          const std::vector<float> found = attended(as_kept, false), expected = attended(as_floats, false);
          const bool has_scales = keys == KvType::q8_0 || values == KvType::q8_0;
          for (std::size_t i = 0; i < found.size(); ++i) {
            ASSERT_NEAR(found[i], expected[i], has_scales ? 1e-5 : 0.0)
                << name_of(keys) << ", " << name_of(values) << ", " << dim << " dimensions";
          }
        }
      }
    }
  });
}

TEST(KvStore, GivesAQueryTheSameBitsAloneAndInCompany) {
  at_every_target([&] {
    for (const std::size_t dim : widths) {
      for (const KvType type : all_types) {
        Written cache(dim, {type, type}, {type, type});
        EXPECT_EQ(attended(cache, true), attended(cache, false)) << name_of(type) << ", " << dim;
      }
    }
  });
}

// A tree branch with scattered nodes has the same sums as a sequence.
TEST(KvStore, GivesAQueryTheSameBitsWhereverItsSlotsLie) {
  at_every_target([&] {
    for (const std::size_t dim : widths) {
      for (const KvType type : all_types) {
        Written cache(dim, {type, type}, {type, type});
        const std::vector<float> q = test::random_floats(dim, 9);
        std::vector<float> text(dim), branch(dim);
        const Query in_text{q.data(), 75, {}, text.data()};
        cache.attend({&in_text, 1});
        std::vector<int> nodes;
        for (std::size_t i = 0; i < 45; ++i) {
          nodes.push_back(static_cast<int>(31 + 2 * i));
          cache.write(31 + 2 * i, 30 + i);
        }
        const Query in_tree{q.data(), 30, nodes, branch.data()};
        cache.attend({&in_tree, 1});
        EXPECT_EQ(text, branch) << name_of(type) << ", " << dim << " dimensions";
      }
    }
  });
}

// Latent keys, whose first numbers are the values.
struct Latent {
  static constexpr std::size_t rows = 150;
  Latent(std::size_t head_dim, std::size_t value_dim, KvType type)
      : dim(head_dim),
        values(value_dim),
        layout(std::vector{KvLayout::Layer{1, head_dim, 0, value_dim}}, {type, KvType::f32}) {
    for (std::size_t slot = 0; slot < rows; ++slot) write(slot, slot);
  }
  void write(std::size_t slot, std::size_t token) {
    store.write(0, 0, slot, test::random_floats(dim, static_cast<std::uint32_t>(token)), {});
  }

  std::size_t dim, values;
  KvLayout layout;
  Store store{layout, all_of(rows)};
  std::vector<float> scratch = std::vector<float>(attention_scratch(rows + slot_block, dim));
};

TEST(KvStore, AttendsToLatentKeysAsToKeysWithTheirFirstNumbersBesideThem) {
  at_every_target([] {
    for (const auto& [dim, value_dim] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {24, 16}, {33, 20}, {64, 32}, {80, 64}, {100, 97}}) {
      for (const KvType type : all_types) {
        Latent latent(dim, value_dim, type);
        const KvLayout beside(std::vector{KvLayout::Layer{1, dim}}, {KvType::f32, KvType::f32});
        Store store(beside, all_of(Latent::rows));
        for (std::size_t slot = 0; slot < Latent::rows; ++slot) {
          const auto key = rounded(test::random_floats(dim, static_cast<std::uint32_t>(slot)), type);
          store.write(0, 0, slot, key, key);
        }
        const std::vector<float> q = test::random_floats(dim, 900);
        std::vector<float> found(value_dim), expected(dim);
        const std::vector<int> nodes = {141, 143, 149};
        const Query to_latent{q.data(), 139, nodes, found.data(), 60};
        const Query to_both{q.data(), 139, nodes, expected.data(), 60};
        latent.store.attend(0, 0, {&to_latent, 1}, {0.1f}, latent.scratch, ReadFrom::memory);
        store.attend(0, 0, {&to_both, 1}, {0.1f}, latent.scratch, ReadFrom::memory);
        for (std::size_t j = 0; j < value_dim; ++j)
          ASSERT_NEAR(found[j], expected[j], 1e-5) << name_of(type) << ", " << dim << " numbers";
      }
    }
  });
}

TEST(KvStore, GivesAQueryOfLatentKeysTheSameBitsAloneInCompanyAndWhereverItsSlotsLie) {
  at_every_target([] {
    for (const KvType type : all_types) {
      Latent latent(52, 40, type);
      const std::vector<float> q = test::random_floats(max_queries * latent.dim, 900);
      std::vector<float> together(max_queries * latent.values), alone = together, in_tree = together;
      std::vector<Query> queries;
      for (std::size_t i = 0; i < max_queries; ++i)
        queries.push_back({&q[i * latent.dim], 90 + i, {}, &together[i * latent.values]});
      latent.store.attend(0, 0, queries, {0.1f}, latent.scratch, ReadFrom::memory);
      for (std::size_t i = 0; i < max_queries; ++i) {
        queries[i].out = &alone[i * latent.values];
        latent.store.attend(0, 0, {&queries[i], 1}, {0.1f}, latent.scratch, ReadFrom::memory);
      }
      EXPECT_EQ(together, alone) << name_of(type);
      std::vector<int> nodes;
      for (std::size_t token = 96; token > 80; --token) latent.store.move(token, 2 * token - 50);
      for (int token = 81; token < 97; ++token) nodes.push_back(2 * token - 50);
      for (std::size_t i = 0; i < max_queries; ++i) {
        const Query query{&q[i * latent.dim], 81, std::span(nodes).first(9 + i), &in_tree[i * latent.values]};
        latent.store.attend(0, 0, {&query, 1}, {0.1f}, latent.scratch, ReadFrom::caches);
      }
      EXPECT_EQ(together, in_tree) << name_of(type);
    }
  });
}

TEST(KvStore, KeepsLatentKeysOnce) {
  const KvLayout latent(std::vector{KvLayout::Layer{1, 576, 0, 512}}, {KvType::f16, KvType::f32});
  EXPECT_EQ(latent.bytes(all_of(64)), 64 * 576 * sizeof(F16));
}

TEST(KvStore, KeepsQ8InNineBitsAndF16InHalfTheBytes) {
  constexpr KvType f32 = KvType::f32, f16 = KvType::f16, q8 = KvType::q8_0;
  const KvLayout wide(std::vector{KvLayout::Layer{3, 64}}, {q8, q8});
  EXPECT_EQ(wide.bytes(all_of(64)), 64 * 2 * 3 * (64 + 2 * sizeof(float)));
  EXPECT_EQ(layout_of(f16, f16).bytes(all_of(1)), 64 * 2 * 2 * (8 + 3 * width)) << "a block of 64 slots";
  EXPECT_EQ(layout_of(f32, f32).bytes(all_of(64)), 2 * layout_of(f16, f16).bytes(all_of(64)));
  EXPECT_EQ(layout_of(f32, f16).bytes(all_of(64)), layout_of(f16, f32).bytes(all_of(64)));
  EXPECT_EQ(2 * layout_of(f32, f16).bytes(all_of(64)),
            layout_of(f32, f32).bytes(all_of(64)) + layout_of(f16, f16).bytes(all_of(64)));
}

// The output determines the weights of two slots, and these determine the difference of their scores.
TEST(KvStore, KeepsScoresAndValuesAsQ8WithinTheirBound) {
  constexpr std::size_t dim = 64;
  const KvLayout layout(std::vector{KvLayout::Layer{1, dim}}, {KvType::q8_0, KvType::q8_0});
  const auto step_at = [](const std::vector<float>& x, std::size_t j) {
    double largest = 0.0;
    for (const float number : std::span(x).subspan(j / q8_dims * q8_dims, q8_dims))
      largest = std::max(largest, std::abs(double{number}));
    return (0.5 + 0x1p-15) * largest / 127;
  };
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const std::vector<float> q = test::random_floats(dim, 5 * seed);
    std::vector<float> keys[2], values[2], out(dim), scratch(attention_scratch(slot_block, dim));
    double score[2] = {}, score_bound = 0.0;
    Store store(layout, all_of(2));
    for (std::uint32_t s = 0; s < 2; ++s) {
      keys[s] = test::random_floats(dim, 5 * seed + 1 + s);
      values[s] = test::random_floats(dim, 5 * seed + 3 + s);
      for (float& number : values[s]) number += s == 0 ? 100.0f : -100.0f;
      store.write(0, 0, s, keys[s], values[s]);
      for (std::size_t j = 0; j < dim; ++j) {
        score[s] += double{q[j]} * double{keys[s][j]} / 8;
        score_bound += std::abs(double{q[j]}) * step_at(keys[s], j) / 8;
      }
    }
    const Query query{q.data(), 2, {}, out.data()};
    store.attend(0, 0, {&query, 1}, {0.125f}, scratch, ReadFrom::caches);
    for (std::size_t j = 0; j < dim; ++j) {
      const double first = values[0][j], second = values[1][j];
      const auto at = [&](double difference) {
        return second + (first - second) / (1 + std::exp(-difference));
      };
      const double value_bound = std::max(step_at(values[0], j), step_at(values[1], j)) + 1e-4;
      EXPECT_LE(out[j], at(score[0] - score[1] + score_bound) + value_bound);
      EXPECT_GE(out[j], at(score[0] - score[1] - score_bound) - value_bound);
    }
  }
}

TEST(KvStore, GivesNothingFiniteForAKeyOrAValueThatIsNot) {
  const std::vector<float> number = test::random_floats(width, 1);
  for (const KvType type : all_types) {
    const KvLayout layout = layout_of(type, type);
    for (const float wrong : {NAN, std::numeric_limits<float>::infinity()}) {
      std::vector<float> spoiled = number;
      spoiled[5] = wrong;
      Store store(layout, all_of(slots));
      store.write(1, 2, 3, number, spoiled);
      EXPECT_FALSE(std::isfinite(attend_to(store, 3)[5])) << name_of(type);
      store.write(1, 2, 3, spoiled, number);
      EXPECT_FALSE(std::isfinite(attend_to(store, 3)[5])) << name_of(type);
    }
  }
}

// One layer without a window, and two that keep the last 100 slots and 60 more: three blocks of 64.
TEST(KvStore, LayersWithAWindowKeepARingOfSlots) {
  const KvLayout layout(std::vector{KvLayout::Layer{1, 8}, {1, 8, 100}, {2, 8, 100}},
                        {KvType::f32, KvType::f32});
  const CacheSize size{1000, 60};
  const std::size_t block = 64 * 2 * 8 * sizeof(float);
  EXPECT_EQ(layout.bytes(size), 16 * block + 3 * (1 + 2) * block);
  EXPECT_EQ(layout.bytes({1000, 1000}), 16 * (1 + 1 + 2) * block) << "all is kept";
  EXPECT_EQ(layout.bytes({100, 60}), 2 * (1 + 1 + 2) * block)
      << "a short sequence has no more blocks than others";
  Store store(layout, size);
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

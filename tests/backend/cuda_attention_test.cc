#include "tests/support/devices/fibers.h"
// fibers.h must come first: the kernels included below run on fibers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "spectr/backend/cuda/kernels/any_attention.cuh"
#include "spectr/backend/device/attention_plan.h"
#include "spectr/gguf/f16.h"
#include "tests/support/random_tensor.h"
#include "tests/twins/twins.h"

namespace spectr {
namespace {

constexpr int kv_heads = 2, group = 4, heads = kv_heads * group;

/// A cache of one layer with random numbers in its slots, for two sequences.
struct Cache {
  int dim, blocks;
  std::vector<std::uint8_t> pool;
  std::vector<int> tables;  // block tables of both sequences: blocks / 2 each, in random order

  Cache(int head_dim, int count)
      : dim(head_dim), blocks(count), pool(static_cast<std::size_t>(count) * bytes()) {
    std::mt19937 random(3);
    for (std::size_t i = 0; i < pool.size(); i += 2) {
      const std::uint16_t bits = round_to_f16(static_cast<float>(random() % 2001) / 1000.0f - 1.0f).bits;
      std::memcpy(&pool[i], &bits, 2);
    }
    tables.resize(static_cast<std::size_t>(blocks));
    std::iota(tables.begin(), tables.end(), 0);
    std::ranges::shuffle(tables, random);
  }
  std::size_t bytes() const { return static_cast<std::size_t>(kv_heads * 256 * dim); }

  std::span<const int> table(std::size_t text) const {
    return std::span(tables).subspan(text * tables.size() / 2, tables.size() / 2);
  }
  std::uint16_t number(std::span<const int> table, int slot, int head, bool is_key, int d) const {
    const int block = table[static_cast<std::size_t>(slot / 64)], s = slot % 64;
    const int at = is_key ? (d / 4 * 64 + s) * 4 + d % 4 : 64 * dim + s * dim + d;
    std::uint16_t bits;
    std::memcpy(&bits,
                &pool[static_cast<std::size_t>(block) * bytes() +
                      static_cast<std::size_t>(head * 256 * dim + 2 * at)],
                2);
    return bits;
  }
};

/// Rows of a pass: the last ones of a sequence, or the nodes of a tree.
struct Rows {
  PassBatch batch;
  std::vector<std::span<const int>> tables;

  void add(CacheId text, std::span<const int> table, int slot, int prefix,
           const std::vector<std::int32_t>& ancestors) {
    batch.add_row(0, static_cast<std::size_t>(slot), text, static_cast<std::size_t>(slot),
                  static_cast<std::size_t>(prefix), ancestors);
    tables.push_back(table);
  }
};

/// Selects the kernels for heads of this size or the generic ones.
enum class By { own, any };

template <int dim, int warps, int at_once>
twin::ArrangedRows attend(const Cache& cache, const Rows& rows, const std::vector<float>& q,
                          std::size_t together, bool lazy, By by = By::own) {
  AttentionPlan plan;
  plan_attention(rows.batch, rows.tables, {}, together, 0, plan);
  plan.items.push_back({});  // nothing to do
  const int count = static_cast<int>(plan.items.size()), n = static_cast<int>(rows.batch.rows());
  std::vector<float> parts(static_cast<std::size_t>(plan.parts * heads * (dim + 4)), NAN);
  const cuda::Attention p{.q = q.data(),
                          .pool = cache.pool.data(),
                          .items = plan.items.data(),
                          .listed = plan.listed.data(),
                          .parts = parts.data(),
                          .block_bytes = static_cast<long>(cache.bytes()),
                          .layer = 0,
                          .heads = heads,
                          .kv_heads = kv_heads,
                          .cap = 0};
  const int queries = static_cast<int>(together) * group;
  if (by == By::own) {
    using Attend = cuda::AttendKernel<dim, warps, at_once>;
    cuda::fibers::launch({count, kv_heads, Attend::threads, Attend::shared(queries), lazy},
                         [&] { Attend::run(p); });
  } else {
    using Attend = cuda::AnyAttendKernel;
    const int groups = (queries + Attend::queries - 1) / Attend::queries;
    const cuda::AnyAttention any{.of = p, .head = {dim, dim, 1, 1, false}, .query_groups = groups};
    cuda::fibers::launch({count, kv_heads * groups, Attend::threads, 0, lazy}, [&] { Attend::run(any); });
  }
  const std::size_t tiles = (rows.batch.rows() + 7) / 8, blocks = heads * dim / 64;
  twin::ArrangedRows out{std::vector<std::uint32_t>(blocks * tiles * 128),
                         std::vector<float>(blocks * tiles * 16), std::vector<float>(blocks * tiles * 16)};
  const cuda::Merge merge{.parts = parts.data(),
                          .rows = plan.rows.data(),
                          .sinks = nullptr,
                          .y = nullptr,
                          .stride = 0,
                          .out = {reinterpret_cast<cuda::u8*>(out.codes.data()), out.scales.data(),
                                  out.sums.data(), static_cast<int>(tiles)},
                          .heads = heads,
                          .kv_heads = kv_heads};
  using Merge = cuda::MergeKernel<dim>;
  const cuda::AnyMerge any{.of = merge, .dim = dim};
  cuda::fibers::launch({n, (heads * dim + 127) / 128, Merge::threads, 0, lazy},
                       [&] { by == By::own ? Merge::run(merge) : cuda::AnyMergeKernel::run(any); });
  return out;
}

twin::ArrangedRows expected(const Cache& cache, const Rows& rows, const std::vector<float>& q) {
  const auto dim = static_cast<std::size_t>(cache.dim);
  std::vector<float> attended;
  for (std::size_t r = 0; r < rows.batch.rows(); ++r) {
    std::vector<int> slots(static_cast<std::size_t>(rows.batch.prefixes[r]));
    std::iota(slots.begin(), slots.end(), 0);
    for (const int slot : rows.batch.ancestors(r)) slots.push_back(slot);
    for (int h = 0; h < heads; ++h) {
      twin::AttendedSlots of{.dim = dim, .keys = {}, .values = {}};
      for (const int slot : slots) {
        for (int d = 0; d < cache.dim; ++d) {
          of.keys.push_back(cache.number(rows.tables[r], slot, h / group, true, d));
          of.values.push_back(cache.number(rows.tables[r], slot, h / group, false, d));
        }
      }
      const std::span<const float> query(q.data() + (r * heads + static_cast<std::size_t>(h)) * dim, dim);
      const std::vector<float> out = twin::attend(query, of);
      attended.insert(attended.end(), out.begin(), out.end());
    }
  }
  return arrange(twin::quantize(attended, rows.batch.rows()), (rows.batch.rows() + 7) / 8);
}

template <int dim>
void expect_bits_of_twin(const Cache& cache, const Rows& rows) {
  const std::vector<float> q = test::random_floats(rows.batch.rows() * heads * dim, 5);
  const twin::ArrangedRows as_twin = expected(cache, rows, q);
  for (const std::size_t together : {1, 2, 8}) {
    for (const bool lazy : {false, true}) {
      const twin::ArrangedRows found = lazy ? attend<dim, 4, 2>(cache, rows, q, together, lazy)
                                            : attend<dim, 8, 1>(cache, rows, q, together, lazy);
      EXPECT_EQ(found.codes, as_twin.codes) << together << " together";
      EXPECT_EQ(found.scales, as_twin.scales);
      EXPECT_EQ(found.sums, as_twin.sums);
    }
    if (together == 1) continue;
    const twin::ArrangedRows by_any = attend<dim, 4, 2>(cache, rows, q, together, false, By::any);
    EXPECT_EQ(by_any.codes, as_twin.codes) << together << " together, by kernels for any heads";
    EXPECT_EQ(by_any.scales, as_twin.scales);
    EXPECT_EQ(by_any.sums, as_twin.sums);
  }
}

/// Returns the last rows of a sequence, which follow a prefix of `begin` tokens.
Rows end_of_text(const Cache& cache, int begin) {
  Rows rows;
  for (int r = 0; r < 9; ++r) rows.add(0, cache.table(0), begin + r, begin + r + 1, {});
  return rows;
}

/// Returns a token after a prefix of `begin` tokens, a tree of four nodes, and two rows of another sequence.
Rows tree_and_text(const Cache& cache, int begin) {
  Rows rows;
  rows.add(0, cache.table(0), begin, begin + 1, {});
  rows.add(0, cache.table(0), begin + 1, begin + 1, {begin + 1});
  rows.add(0, cache.table(0), begin + 2, begin + 1, {begin + 2});
  rows.add(0, cache.table(0), begin + 3, begin + 1, {begin + 1, begin + 3});
  rows.add(0, cache.table(0), begin + 4, begin + 1, {begin + 1, begin + 3, begin + 4});
  rows.add(1, cache.table(1), 64, 65, {});
  rows.add(1, cache.table(1), 70, 65, {66, 70});
  return rows;
}

TEST(CudaAttention, GivesTheBitsOfItsTwinForText) {
  const Cache cache(64, 12);
  for (const int begin : {0, 60, 200}) expect_bits_of_twin<64>(cache, end_of_text(cache, begin));
}

TEST(CudaAttention, GivesTheBitsOfItsTwinForTrees) {
  const Cache cache(64, 12), of_large_heads(128, 12);
  for (const int begin : {0, 60, 126}) expect_bits_of_twin<64>(cache, tree_and_text(cache, begin));
  expect_bits_of_twin<128>(of_large_heads, tree_and_text(of_large_heads, 60));
}

}  // namespace
}  // namespace spectr

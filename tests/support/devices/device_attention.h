#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "spectr/backend/device/cache_blocks.h"
#include "spectr/nn/model_spec.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/random_tensor.h"

// Attention by a device's kernel calls, for tests of all head sizes and all types of keys and values.
namespace spectr::test {

struct AttentionCase {
  std::size_t dim;
  KvTypes types;
  std::size_t rank = 0;  ///< of latent attention: the first `rank` numbers of a key are its value
  std::size_t heads = 4, kv_heads = 2;
  float cap = 0;
  bool has_sinks = false;

  std::size_t value_dim() const { return rank > 0 ? rank : dim; }
};

inline std::string text_of(const AttentionCase& c) {
  return std::to_string(c.dim) + " dimensions, " + std::string(name_of(c.types.keys)) + " and " +
         std::string(name_of(c.types.values)) + (c.rank > 0 ? ", latent" : "");
}

/// A cache of two blocks with random keys and values in all slots, and the cache of a preceding layer.
class AttentionOn {
 public:
  static constexpr std::size_t slots = 128, rows = 2;

  AttentionOn(Device& device, const AttentionCase& c)
      : device_(device), case_(c), spec_(spec_of(c)), blocks_(spec_, c.types, device) {
    cache_ = blocks_.open({.slots = slots, .kept = slots, .context = slots});
    blocks_.grow(cache_, static_cast<std::int32_t>(slots - 1));
    const call::Cache cached = blocks_.of(1);
    const std::vector<std::byte> nothing(2 * cached.block_bytes);
    value_of(device.upload(cached.pool, nothing));
    const std::size_t width = c.kv_heads * c.dim;
    const Numbers k = send(device, random_floats(slots * width, 1)),
                  v = send(device, random_floats(slots * width, 2)), rotated = zeros(device, 16);
    const Numbers written = send(device, places());
    const Numbers angles = send(device, random_floats(2 * slots * pairs(), 3));
    run(device, call::Rope{.q = k.rows(0),
                           .k = k.rows(width),
                           .v = c.rank > 0 ? call::Rows() : v.rows(width),
                           .rotated = rotated.rows(0),
                           .rows = slots,
                           .heads = 0,
                           .cache = cached,
                           .angles = angles.at(),
                           .written = written.at(),
                           .scales = {},
                           .first = 1,
                           .dims = 2 * pairs(),
                           .interleaved = true,
                           .scale = 1});
  }

  /// Copies a slot's numbers to another slot.
  void move(std::int32_t from, std::int32_t to) {
    blocks_.add({.cache = cache_, .from = from, .to = to});
    const CacheId none = blocks_.open({.slots = 1, .kept = 1, .context = 1});
    blocks_.copy({.from = cache_, .to = none, .slots = 0});  // executes the moves
    blocks_.close(none);
  }

  /// Returns every bit of the cache.
  std::vector<std::uint32_t> cached() {
    std::vector<std::uint32_t> all(2 * blocks_.of(1).block_bytes / 4);
    value_of(device_.download(std::as_writable_bytes(std::span(all)), blocks_.of(1).pool));
    return all;
  }

  /// Returns the output of two rows, which share two whole chunks and have additional slots each.
  std::vector<float> attend(const std::vector<std::int32_t>& first = {5, 64, 127},
                            std::size_t more_of_second = 40) {
    std::vector<PoolSlot> listed;
    for (const std::int32_t slot : first) listed.push_back(place(slot));
    for (std::size_t i = 0; i < more_of_second; ++i)
      listed.push_back(place(static_cast<std::int32_t>(i * 37 % slots)));
    const int count = static_cast<int>(first.size());
    const std::vector<AttentionItem> items = {
        {.row = 0, .rows = 1, .part = 0, .block = -1, .list = 0, .present = count, .settled = 0},
        {.row = 1,
         .rows = 1,
         .part = 1,
         .block = -1,
         .list = count,
         .present = static_cast<int>(more_of_second),
         .settled = 0},
        {.row = 0, .rows = 2, .part = 2, .block = table()[1], .list = 0, .present = 64, .settled = 1},
        {.row = 0, .rows = 2, .part = 4, .block = table()[0], .list = 0, .present = 64, .settled = 0},
        {}};
    const std::vector<AttentionRow> plan = {
        {.chunks = 3, .shared = 2, .part = 2, .rows = 2, .place = 0, .own = 0},
        {.chunks = 3, .shared = 2, .part = 2, .rows = 2, .place = 1, .own = 1}};
    const std::size_t width = case_.heads * case_.dim, values = case_.heads * case_.value_dim();
    const Numbers q = send(device_, queries()), of = send(device_, items), by_row = send(device_, plan),
                  list = send(device_, listed), sinks = send(device_, random_floats(case_.heads, 5)),
                  parts =
                      zeros(device_, 6 * case_.heads * call::part_numbers(case_.value_dim()) * sizeof(float)),
                  out = zeros(device_, rows * values * sizeof(float));
    const call::AnyCall calls[] = {
        call::Attend{q.rows(width), blocks_.of(1), of.at(), list.at(), parts.at(), items.size(), 2,
                     case_.heads, case_.cap},
        call::Merge{parts.at(), by_row.at(), case_.has_sinks ? sinks.at() : Slice(), out.rows(values), rows,
                    case_.heads, case_.kv_heads, case_.value_dim()}};
    value_of(device_.run(calls));
    return fetch<float>(device_, out);
  }

  std::vector<float> queries() const {
    std::vector<float> q = random_floats(rows * case_.heads * case_.dim, 4);
    for (float& one : q) one *= 2.0f / std::sqrt(static_cast<float>(case_.dim));
    return q;
  }
  /// Number of rotated pairs of a key's dimensions.
  std::size_t pairs() const { return case_.dim / 4; }

 private:
  /// The spec has two layers, so that another layer's numbers precede those under test.
  static ModelSpec spec_of(const AttentionCase& c) {
    ModelSpec spec{};
    AttentionSpec attention{};
    attention.heads = c.heads;
    attention.kv_heads = c.kv_heads;
    attention.head_dim = c.dim;
    if (c.rank > 0) attention.latent.emplace().rank = c.rank;
    for (int i = 0; i < 2; ++i) spec.layers.emplace_back().mixer = attention;
    return spec;
  }
  std::span<const int> table() const { return blocks_.table(cache_); }
  PoolSlot place(std::int32_t slot) const {
    return table()[static_cast<std::size_t>(slot / chunk_slots)] * chunk_slots + slot % chunk_slots;
  }
  std::vector<PoolSlot> places() const {
    std::vector<PoolSlot> all;
    for (std::int32_t slot = 0; slot < static_cast<std::int32_t>(slots); ++slot) all.push_back(place(slot));
    return all;
  }

  Device& device_;
  AttentionCase case_;
  ModelSpec spec_;
  CacheBlocks blocks_;
  CacheId cache_;
};

/// Returns all sizes with some types, and all combinations of types with some size.
inline std::vector<AttentionCase> attention_cases() {
  constexpr KvType f32 = KvType::f32, f16 = KvType::f16, q8 = KvType::q8_0;
  std::vector<AttentionCase> all;
  for (const std::size_t dim : {8, 20, 64, 192, 320, 512})
    all.push_back({.dim = dim, .types = {q8, f16}, .cap = 5, .has_sinks = true});
  // CUDA has kernels of their own for all of these sizes but the first.
  for (const std::size_t dim : {8, 16, 32, 48, 64, 80, 96, 128, 256})
    all.push_back({.dim = dim, .types = {f16, f16}});
  for (const KvType keys : {f32, f16, q8}) {
    for (const KvType values : {f32, f16, q8}) {
      const std::size_t dim = values == q8 ? 70 : 12;
      all.push_back({.dim = dim, .types = {keys, values}, .has_sinks = true});
    }
    all.push_back({.dim = 42, .types = {keys, q8}, .rank = 34, .heads = 3, .kv_heads = 1, .cap = 3});
  }
  // This has more queries per key head than a thread group handles.
  all.push_back({.dim = 576, .types = {q8, q8}, .rank = 512, .heads = 20, .kv_heads = 1});
  return all;
}

/// Returns the cache and the output of attention, before and after moves.
inline std::vector<std::uint32_t> attention_bits(Device& device, const AttentionCase& c) {
  AttentionOn on(device, c);
  std::vector<std::uint32_t> all = on.cached();
  const auto append = [&all](const std::vector<float>& numbers) {
    for (const float one : numbers) all.push_back(std::bit_cast<std::uint32_t>(one));
  };
  append(on.attend());
  on.move(70, 5);
  on.move(5, 127);
  const std::vector<std::uint32_t> moved = on.cached();
  all.insert(all.end(), moved.begin(), moved.end());
  append(on.attend());
  return all;
}

}  // namespace spectr::test

#include "spectr/transport/math/ratio_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

struct Entry {
  std::uint64_t ratio;  // the bits of a double ≥ 0, which compare like the number
  std::uint32_t index;
};

/// A stable least-significant-digit radix sort. A digit that all entries share costs only its counting.
void radix_sort(RecycledVector<Entry>& entries) {
  constexpr unsigned digit_bits = 8, digits = 64 / digit_bits;
  constexpr std::size_t buckets = std::size_t{1} << digit_bits;
  std::array<std::array<std::uint32_t, buckets>, digits> counts{};
  const auto digit = [](const Entry& e, unsigned d) { return (e.ratio >> (d * digit_bits)) % buckets; };
  for (const Entry& e : entries) {
    for (unsigned d = 0; d < digits; ++d) ++counts[d][digit(e, d)];
  }
  RecycledVector<Entry> sorted(entries.size());
  for (unsigned d = 0; d < digits; ++d) {
    auto& count = counts[d];
    if (count[digit(entries.front(), d)] == entries.size()) continue;
    std::uint32_t start = 0;
    for (std::uint32_t& c : count) start += std::exchange(c, start);
    for (const Entry& e : entries) sorted[count[digit(e, d)]++] = e;
    std::swap(entries, sorted);
  }
}

}  // namespace

RecycledVector<std::uint32_t> ratio_order(std::span<const double> p, std::span<const double> q) {
  SPECTR_CHECK(p.size() == q.size() && p.size() < UINT32_MAX);
  RecycledVector<Entry> entries;
  entries.reserve(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    // Adding 0 turns −0 into 0, whose bits are the smallest.
    if (p[i] > 0.0)
      entries.push_back({std::bit_cast<std::uint64_t>(q[i] / p[i] + 0.0), static_cast<std::uint32_t>(i)});
  }
  constexpr std::size_t worth_counting = 512;
  if (entries.size() < worth_counting) {
    std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.ratio, e.index); });
  } else {
    radix_sort(entries);
  }
  RecycledVector<std::uint32_t> order(entries.size());
  std::ranges::transform(entries, order.begin(), &Entry::index);
  return order;
}

}  // namespace spectr

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spectr {

/// FNV-1a over words of 64 bits: tells contents apart, but not against somebody who wants it not to.
class Fnv1a {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3u; }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// Hashes what comes from outside, for the standard library's tables: its own hash has no key, so that a file
/// can be written whose every text falls into one bucket.
///
/// Theorem (Carter and Wegman 1979). Of different texts of at most n bytes, chosen by whoever does not know
/// the key, two share one of B buckets with probability at most 1/B + (n/7 + 2) / (2⁶¹ − 1), nearly.
/// *Why:* texts are polynomials over the field of 2⁶¹ − 1 elements, different ones as they begin with their
/// length; two of them agree at as many points as their degree at most. What differs at the point of the key
/// is taken by h ↦ a h + b to pairs of different elements, each as often as any other, and a bijection
/// changes nothing of it. So are numbers, halves h and l, by h x + l a + b.
///
/// The key is drawn when the program makes the first of these. Nothing but the place in a table may depend on
/// it.
class KeyedHash {
 public:
  KeyedHash();

  // Not noexcept: so libstdc++ keeps the values beside the elements instead of computing them again.
  std::size_t operator()(std::string_view text) const;
  std::size_t operator()(std::uint64_t number) const noexcept {
    const std::uint64_t high = number >> 32, low = number & 0xffffffffu;
    return scattered(reduced(Wide{high} * key_.point + Wide{low} * key_.a + key_.b));
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

  struct Key {  // elements of the field, a not 0
    std::uint64_t point, a, b;
  };
  static Key draw_key();

  /// Requires: less than 2¹²³.
  static std::uint64_t reduced(Wide number) {
    const std::uint64_t folded =
        (static_cast<std::uint64_t>(number) & prime) + static_cast<std::uint64_t>(number >> 61);
    return folded >= prime ? folded - prime : folded;
  }

  /// A bijection: values that lie in steps, as those of numbers in steps do, are scattered.
  static std::uint64_t scattered(std::uint64_t value) {
    value = (value ^ value >> 32) * 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
  }

  Key key_;
};

}  // namespace spectr

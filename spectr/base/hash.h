#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spectr {

/// FNV-1a over 64-bit words. Detects different contents, but not if an adversary chooses them.
class Fnv1a {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3u; }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// A keyed hash for standard library tables whose keys come from outside. The library's own hash has no key,
/// so an attacker could write a file whose texts all fall into one bucket.
///
/// Theorem (Carter and Wegman 1979). Two different texts of at most n bytes, chosen without knowledge of the
/// key, share one of B buckets with probability at most 1/B + (n/7 + 2) / (2⁶¹ − 1), approximately. *Why:*
/// texts are polynomials over the field of 2⁶¹ − 1 elements. Different texts give different ones, since each
/// starts with its length. Two polynomials agree at no more points than their degree. Values that differ at
/// the key's point are mapped by h ↦ a h + b to a uniformly distributed pair of different elements, and the
/// final bijection preserves this. Numbers with halves h and l are hashed by h x + l a + b.
///
/// The key is drawn when the program constructs its first KeyedHash. Only positions in tables may depend on
/// the key.
class KeyedHash {
 public:
  KeyedHash();

  // Not noexcept, so that libstdc++ caches the hash with each element instead of recomputing it.
  std::size_t operator()(std::string_view text) const;
  std::size_t operator()(std::uint64_t number) const noexcept {
    const std::uint64_t high = number >> 32, low = number & 0xffffffffu;
    return scattered(reduced(Wide{high} * key_.point + Wide{low} * key_.a + key_.b));
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

  struct Key {  // elements of the field; a is not 0
    std::uint64_t point, a, b;
  };
  static Key draw_key();

  /// Returns number mod prime. Requires: number < 2¹²³.
  static std::uint64_t reduced(Wide number) {
    const std::uint64_t folded =
        (static_cast<std::uint64_t>(number) & prime) + static_cast<std::uint64_t>(number >> 61);
    return folded >= prime ? folded - prime : folded;
  }

  /// A bijection that scatters values with a constant stride, such as the hashes of evenly spaced numbers.
  static std::uint64_t scattered(std::uint64_t value) {
    value = (value ^ value >> 32) * 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
  }

  Key key_;
};

}  // namespace spectr

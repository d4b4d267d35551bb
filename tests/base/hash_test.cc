#include "spectr/base/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace spectr {
namespace {

/// Returns strings of 16 bytes with equal hashes in libstdc++ (MurmurHash64A): the second half
/// undoes what the first half does.
std::vector<std::string> confused_by_the_standard(std::size_t count) {
  constexpr std::uint64_t multiplier = (std::uint64_t{0xc6a4a793} << 32) + 0x5bd1e995;
  std::uint64_t inverse = 1;
  for (int step = 0; step < 6; ++step) inverse *= 2 - multiplier * inverse;  // Newton, modulo 2⁶⁴
  const auto shifted = [](std::uint64_t v) { return v ^ v >> 47; };
  std::vector<std::string> texts;
  for (std::uint64_t first = 0; first < count; ++first) {
    const std::uint64_t mixed = shifted(first * multiplier) * multiplier;
    const std::uint64_t before = ((0xc70f6907u ^ 16 * multiplier) ^ mixed) * multiplier;
    const std::uint64_t second = shifted((before ^ 42) * inverse) * inverse;
    std::string& text = texts.emplace_back(16, '\0');
    std::memcpy(text.data(), &first, 8);
    std::memcpy(text.data() + 8, &second, 8);
  }
  return texts;
}

/// Returns the number of buckets that the keys occupy in a table of 1024 buckets (the lowest bits).
template <class T>
std::size_t buckets(const std::vector<T>& keys) {
  std::set<std::size_t> taken;
  for (const T& key : keys) taken.insert(KeyedHash()(key) % 1024);
  return taken.size();
}

// Under uniform hashing, 1024 keys leave 377 ± 10 of 1024 buckets empty; leaving
// 524 empty is practically impossible.
constexpr std::size_t min_buckets = 500;

TEST(KeyedHash, SpreadsTextsThatTheStandardLibrarysHashConfuses) {
  const std::vector<std::string> texts = confused_by_the_standard(1024);
#ifdef __GLIBCXX__
  std::set<std::size_t> values;
  for (const std::string& text : texts) values.insert(std::hash<std::string>()(text));
  EXPECT_EQ(values.size(), 1U) << "otherwise this test shows nothing";
#endif
  EXPECT_GT(buckets(texts), min_buckets);
}

TEST(KeyedHash, SpreadsNumbersThatAreEqualModuloAnySizeOfATable) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 1024; ++i) numbers.push_back(i << 40 | 7);
  EXPECT_GT(buckets(numbers), min_buckets);
}

TEST(KeyedHash, TellsTextsOfZerosApartByTheirLength) {
  std::set<std::size_t> values;
  for (std::size_t length = 0; length < 100; ++length) values.insert(KeyedHash()(std::string(length, '\0')));
  EXPECT_EQ(values.size(), 100U);
}

TEST(KeyedHash, IsAFunctionOfTheText) {
  const std::string text = "a text of more than seven bytes", same = text;
  EXPECT_EQ(KeyedHash()(text), KeyedHash()(same));
}

}  // namespace
}  // namespace spectr

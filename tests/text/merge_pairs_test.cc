#include "spectr/text/merge_pairs.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

namespace spectr {
namespace {

using Table = std::map<std::pair<int, int>, Merge>;

std::optional<Merge> look_up(const Table& table, const Symbol& left, const Symbol& right) {
  const auto found = table.find({left.id, right.id});
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Symbol> symbols_of(const std::vector<int>& ids) {
  std::vector<Symbol> symbols;
  for (const int id : ids) symbols.push_back({symbols.size(), 1, id});
  return symbols;
}

std::vector<int> ids_of(const std::vector<Symbol>& symbols) {
  std::vector<int> ids;
  for (const Symbol& symbol : symbols) ids.push_back(symbol.id);
  return ids;
}

/// Merges by the definition: finds the best pair among all neighbours, merges it, and repeats.
std::vector<Symbol> merge_slowly(std::vector<Symbol> symbols, const Table& table) {
  while (true) {
    std::optional<std::size_t> best;
    Merge merge{};
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = look_up(table, symbols[i], symbols[i + 1]);
      if (found && (!best || found->rank < merge.rank)) {
        best = i;
        merge = *found;
      }
    }
    if (!best) return symbols;
    symbols[*best].length += symbols[*best + 1].length;
    symbols[*best].id = merge.id;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(*best) + 1);
  }
}

TEST(MergePairs, TheLowestRankGoesFirstAndOfEqualsTheLeftmost) {
  const Table table = {{{0, 0}, {5, 1}}, {{1, 1}, {6, 2}}, {{0, 3}, {1, 4}}};
  const auto merged = [&](const std::vector<int>& ids) {
    auto symbols = symbols_of(ids);
    merge_pairs(symbols, [&](const Symbol& l, const Symbol& r) { return look_up(table, l, r); });
    return ids_of(symbols);
  };
  EXPECT_EQ(merged({0, 0, 0}), (std::vector<int>{1, 0}));
  EXPECT_EQ(merged({0, 0, 3}), (std::vector<int>{0, 4}));
  EXPECT_EQ(merged({0, 0, 0, 0, 0}), (std::vector<int>{2, 0}));
  EXPECT_EQ(merged({}), (std::vector<int>{}));
  EXPECT_EQ(merged({7}), (std::vector<int>{7}));
}

TEST(MergePairs, AgreesWithTheDefinitionOnRandomTables) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 500; ++round) {
    Table table;
    for (int i = 0; i < 30; ++i) {
      table[{below(10), below(10)}] = {static_cast<double>(below(8)), below(10)};
    }
    std::vector<int> ids(static_cast<std::size_t>(below(40)));
    for (int& id : ids) id = below(4);
    auto symbols = symbols_of(ids);
    const auto expected = merge_slowly(symbols, table);
    merge_pairs(symbols, [&](const Symbol& l, const Symbol& r) { return look_up(table, l, r); });
    ASSERT_EQ(ids_of(symbols), ids_of(expected)) << "round " << round;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      ASSERT_EQ(symbols[i].begin, expected[i].begin);
      ASSERT_EQ(symbols[i].length, expected[i].length);
    }
  }
}

TEST(MergePairs, AsksForFewerThanThreePairsPerSymbol) {
  constexpr std::size_t n = 200'000;
  std::vector<Symbol> symbols = symbols_of(std::vector<int>(n, 0));
  std::size_t asked = 0;
  merge_pairs(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
    ++asked;
    if (left.id != right.id) return std::nullopt;
    return Merge{static_cast<double>(left.id), left.id + 1};  // 1 → 2 → 4 → 8 … symbols
  });
  EXPECT_LT(asked, 3 * n);
  EXPECT_LT(symbols.size(), 20U);
}

}  // namespace
}  // namespace spectr

// Rows of logits answer queries identically, wherever they are stored.
#include "spectr/base/logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/remote_logits.h"

namespace spectr {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> random_row(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> row(size);
  for (float& logit : row) logit = static_cast<float>(random() % 200) * 0.05F - 5.0F;  // with ties
  for (std::size_t i = 0; i < size / 10; ++i) row[random() % size] = -infinity;
  return row;
}

std::vector<Candidate> sorted(const std::vector<float>& row) {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] > -infinity) all.push_back({row[i], static_cast<Token>(i)});
  }
  std::ranges::sort(all, before);
  return all;
}

template <class A, class B>
void expect_equal(const A& a, const B& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].logit, b[i].logit) << i;
    EXPECT_EQ(a[i].token, b[i].token) << i;
  }
}

TEST(Logits, TopGivesTheLikeliestInOrder) {
  for (const std::size_t size : {1u, 2u, 17u, 100u, 4096u, 5001u}) {
    const std::vector<float> row = random_row(size, static_cast<std::uint32_t>(size));
    const std::vector<double> doubles(row.begin(), row.end());
    const test::RemoteLogits remote({row});
    const std::vector<Candidate> all = sorted(row);
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}, std::size_t{40}, size, 2 * size}) {
      const std::vector<Candidate> expected(
          all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(k, all.size())));
      expect_equal(Logits(std::span<const float>(row)).top(k), expected);
      expect_equal(Logits(std::span<const double>(doubles)).top(k), expected);
      expect_equal(Logits(remote, 0, size).top(k), expected);
    }
  }
}

TEST(Logits, TopTellsOfTheFirstEntryThatIsNoNumber) {
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), infinity}) {
    std::vector<float> row = random_row(100, 1);
    row[30] = row[70] = wrong;
    for (const std::size_t k : {1u, 40u}) {
      const auto top = Logits(std::span<const float>(row)).top(k);
      ASSERT_EQ(top.size(), 1u);
      EXPECT_EQ(top[0].token, 30);
      EXPECT_FALSE(top[0].logit < static_cast<double>(infinity));
    }
  }
  const std::vector<float> impossible(5, -infinity);
  EXPECT_TRUE(Logits(std::span<const float>(impossible)).top(1).empty());
  EXPECT_TRUE(Logits(std::span<const float>(impossible)).top(3).empty());
}

TEST(Logits, OfTheFirstTokensAreARowOfTheirOwn) {
  const std::vector<float> row = random_row(100, 2), part(row.begin(), row.begin() + 60);
  const test::RemoteLogits remote({{}, row});
  for (const Logits& logits : {Logits(std::span<const float>(row)), Logits(remote, 1, row.size())}) {
    const Logits first = logits.first(60);
    EXPECT_EQ(first.size(), 60u);
    expect_equal(first.top(5), Logits(std::span<const float>(part)).top(5));
    EXPECT_EQ(first.log_sum_exp(), Logits(std::span<const float>(part)).log_sum_exp());
    EXPECT_EQ(first.at(59), static_cast<double>(row[59]));
    EXPECT_EQ(std::get<std::span<const float>>(first.values()).size(), 60u);
  }
}

TEST(Logits, SumsExponentialsAtAnyTemperature) {
  const std::vector<float> row = random_row(3000, 3);
  const std::vector<double> doubles(row.begin(), row.end());
  for (const double temperature : {0.1, 0.7, 1.0, 2.0}) {
    double sum = 0.0;
    for (const float logit : row) sum += std::exp(static_cast<double>(logit) / temperature);
    EXPECT_NEAR(Logits(std::span<const float>(row)).log_sum_exp(temperature), std::log(sum), 3e-6)
        << temperature;
    EXPECT_NEAR(Logits(std::span<const double>(doubles)).log_sum_exp(temperature), std::log(sum), 1e-11);
  }
}

}  // namespace
}  // namespace spectr

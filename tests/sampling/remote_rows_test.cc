// Rows on another device answer queries there: kilobytes are transferred, not rows.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "spectr/sampling/likelihood.h"
#include "spectr/sampling/warp.h"
#include "tests/support/remote_logits.h"

namespace spectr {
namespace {

// With top-k on, distributions and likelihoods fetch only the candidates of a remote row, not the whole
// row.
TEST(Warp, AsksForWholeRowsOnlyWhereADistributionNeedsThem) {
  std::mt19937 random(5);
  std::vector<float> row(5000);
  for (float& logit : row) logit = static_cast<float>(random() % 1000) * 0.01F;
  const test::RemoteLogits remote({row});
  const Logits there(remote, 0, row.size()), here{std::span<const float>(row)};
  const auto expect_same = [&](const WarpOptions& options, int fetches) {
    const Warp warp = Warp::make(options).value();
    const int before = remote.fetched();
    const Distribution a = warp.distribution(there, {}, row.size()).value(),
                       b = warp.distribution(here, {}, row.size()).value();
    for (std::size_t i = 0; i < row.size(); ++i)
      ASSERT_EQ(a[static_cast<Token>(i)], b[static_cast<Token>(i)]);
    EXPECT_EQ(remote.fetched() - before > 0, fetches > 0);
  };
  expect_same({}, 0);
  expect_same({.temperature = 0.0}, 0);
  expect_same({.temperature = 1.0, .top_k = 5, .top_p = 1.0, .min_p = 0.0}, 0);
  expect_same({.top_k = 0}, 1);
  expect_same(WarpOptions::none(), 1);
  const int before = remote.fetched();
  EXPECT_EQ(negative_log_likelihood(there, 17), negative_log_likelihood(here, 17));
  EXPECT_EQ(likeliest(there, 10).front().token, likeliest(here, 10).front().token);
  EXPECT_EQ(remote.fetched(), before);
}

}  // namespace
}  // namespace spectr

// A linear fit of the costs of passes: MTAD's decomposition of time and energy.
#include "apps/bench/passes/pass_fit.h"

#include <gtest/gtest.h>

namespace spectr::bench {
namespace {

TEST(PassFit, FindsTheLineThatThereIs) {
  const double n[] = {1.0, 2.0, 4.0, 8.0}, y[] = {5.5, 6.0, 7.0, 9.0};
  const auto fit = fit_passes(n, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->fixed, 5.0, 1e-12);
  EXPECT_NEAR(fit->per_row, 0.5, 1e-12);
  EXPECT_NEAR(fit->share_fixed(10.0).value(), 0.5, 1e-12);
  EXPECT_NEAR(fit->residual, 0.0, 1e-12);
}

// A delayed pass distorts the line, so no share is reported.
TEST(PassFit, TellsNoSharesWhereTheLineExplainsLessThanItLeaves) {
  const double n[] = {1.0, 2.0, 4.0, 8.0}, held_up[] = {9.0, 1.0, 1.4, 2.2}, falling[] = {8.0, 7.0, 5.0, 1.0};
  const auto fit = fit_passes(n, held_up);
  EXPECT_GT(fit->residual, 0.0);
  EXPECT_FALSE(fit->share_fixed(1.0).has_value());
  EXPECT_FALSE(fit_passes(n, falling)->share_fixed(1.0).has_value());
  const double below[] = {1.0, 2.1, 4.0, 8.2};  // the fixed part is negative by less than the residual
  EXPECT_EQ(fit_passes(n, below)->share_fixed(1.0), 0.0);
  const double far_below[] = {1.0, 11.0, 31.0, 71.0};
  EXPECT_FALSE(fit_passes(n, far_below)->share_fixed(1.0).has_value());
  Json rows = Json::array();
  for (std::size_t i = 0; i < 4; ++i) {
    rows.push_back({{"length", 1.0},
                    {"batch", n[i]},
                    {"independent", true},
                    {"ms", held_up[i]},
                    {"joules_per_run", nullptr}});
  }
  const Json decomposition = decomposition_of(rows);
  EXPECT_TRUE(decomposition["ms"]["share_fixed"].is_null());
  EXPECT_NE(decomposition_text(decomposition).find("too far from a line"), std::string::npos);
}

TEST(PassFit, OfPassesThatAreAlikeIsNone) {
  const double n[] = {4.0, 4.0}, y[] = {1.0, 2.0};
  EXPECT_FALSE(fit_passes(n, y).has_value());
  EXPECT_FALSE(fit_passes({}, {}).has_value());
}

// MTAD, table 2: a batch costs little more than one input, so the cost is almost entirely reading weights.
TEST(PassFit, OfThePapersBatchesIsNearlyAllFixed) {
  const double batch[] = {1.0, 2.0, 4.0, 8.0, 16.0}, joules[] = {14.1, 16.5, 17.7, 19.7, 24.7};
  const auto fit = fit_passes(batch, joules);
  EXPECT_NEAR(fit->fixed, 14.54, 0.01);
  EXPECT_NEAR(fit->per_row, 0.645, 0.001);
  EXPECT_NEAR(fit->share_fixed(1.0).value(), 0.958, 0.001);
}

TEST(PassFit, CountsTheRowsOfTreesAndOfTexts) {
  const auto row = [](double batch, bool independent, double ms) {
    return Json{{"length", 2.0},       {"batch", batch}, {"independent", independent},
                {"mean_ms", 3.0 * ms}, {"ms", ms},       {"joules_per_run", nullptr}};
  };
  const Json tree = decomposition_of({row(1.0, false, 3.0), row(2.0, false, 5.0)});  // 3 and 5 rows
  EXPECT_NEAR(tree["ms"]["fixed"].get<double>(), 0.0, 1e-12);
  EXPECT_NEAR(tree["ms"]["per_row"].get<double>(), 1.0, 1e-12);
  EXPECT_TRUE(tree["joules"].is_null());
  const Json texts = decomposition_of({row(1.0, true, 3.0), row(2.0, true, 5.0)});  // 2 and 4 rows
  EXPECT_NEAR(texts["ms"]["fixed"].get<double>(), 1.0, 1e-12);
  EXPECT_NEAR(texts["ms"]["share_fixed"].get<double>(), 1.0 / 3.0, 1e-12);
  EXPECT_NE(decomposition_text(texts).find("1 + 1 n ms, residual 0 ms; fixed of the first pass: 33 %"),
            std::string::npos);
  EXPECT_TRUE(decomposition_of(Json::array())["ms"].is_null());
}

}  // namespace
}  // namespace spectr::bench

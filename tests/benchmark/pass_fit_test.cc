// What passes cost as a line: MTAD's decomposition of time and energy.
#include "apps/bench/pass_fit.h"

#include <gtest/gtest.h>

namespace spectr::bench {
namespace {

TEST(PassFit, FindsTheLineThatThereIs) {
  const double n[] = {1.0, 2.0, 4.0, 8.0}, y[] = {5.5, 6.0, 7.0, 9.0};
  const auto fit = fit_passes(n, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->fixed, 5.0, 1e-12);
  EXPECT_NEAR(fit->per_row, 0.5, 1e-12);
  EXPECT_NEAR(fit->share_fixed(10.0), 0.5, 1e-12);
}

TEST(PassFit, OfPassesThatAreAlikeIsNone) {
  const double n[] = {4.0, 4.0}, y[] = {1.0, 2.0};
  EXPECT_FALSE(fit_passes(n, y).has_value());
  EXPECT_FALSE(fit_passes({}, {}).has_value());
}

// MTAD, table 2: a batch of inputs costs little more than one, so nearly all is the reading of weights.
TEST(PassFit, OfThePapersBatchesIsNearlyAllFixed) {
  const double batch[] = {1.0, 2.0, 4.0, 8.0, 16.0}, joules[] = {14.1, 16.5, 17.7, 19.7, 24.7};
  const auto fit = fit_passes(batch, joules);
  EXPECT_NEAR(fit->fixed, 14.54, 0.01);
  EXPECT_NEAR(fit->per_row, 0.645, 0.001);
  EXPECT_NEAR(fit->share_fixed(1.0), 0.958, 0.001);
}

TEST(PassFit, CountsTheRowsOfTreesAndOfTexts) {
  const auto row = [](double batch, bool independent, double ms) {
    return Json{{"length", 2.0},
                {"batch", batch},
                {"independent", independent},
                {"mean_ms", ms},
                {"joules_per_run", nullptr}};
  };
  const Json tree = decomposition_of({row(1.0, false, 3.0), row(2.0, false, 5.0)});  // 3 and 5 rows
  EXPECT_NEAR(tree["ms"]["fixed"].get<double>(), 0.0, 1e-12);
  EXPECT_NEAR(tree["ms"]["per_row"].get<double>(), 1.0, 1e-12);
  EXPECT_TRUE(tree["joules"].is_null());
  const Json texts = decomposition_of({row(1.0, true, 3.0), row(2.0, true, 5.0)});  // 2 and 4 rows
  EXPECT_NEAR(texts["ms"]["fixed"].get<double>(), 1.0, 1e-12);
  EXPECT_NEAR(texts["ms"]["share_fixed"].get<double>(), 1.0 / 3.0, 1e-12);
  EXPECT_NE(decomposition_text(texts).find("1 + 1 n ms; fixed of the first pass: 33 %"), std::string::npos);
  EXPECT_TRUE(decomposition_of(Json::array())["ms"].is_null());
}

}  // namespace
}  // namespace spectr::bench

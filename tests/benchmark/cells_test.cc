// Which cells a run has.
#include "apps/bench/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/bench/presets.h"

namespace spectr::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// "method plan K L", one per cell.
std::vector<std::string> names(const std::vector<Axes>& axes, std::size_t draft_models = 1) {
  const auto cells = expand(axes, {}, draft_models);
  EXPECT_TRUE(cells) << cells.error().message;
  std::vector<std::string> all;
  for (const Cell& cell : *cells) {
    all.push_back(fmt::format("{} {} {} {}", cell.method->name, cell.options.plan.value_or("-"),
                              cell.shape.drafts, cell.shape.length));
  }
  return all;
}

TEST(Cells, AreEveryCombinationThatDiffers) {
  EXPECT_THAT(names({{.methods = {"plain", "speculative", "spectr"}, .drafts = {1, 2}, .lengths = {4, 8}}}),
              ElementsAre("plain - 0 0", "speculative - 1 4", "speculative - 1 8", "spectr k-seq 1 4",
                          "spectr k-seq 2 4", "spectr k-seq 1 8", "spectr k-seq 2 8"));
  EXPECT_THAT(names({{.methods = {"spectr"}, .plans = {"k-seq", "str++"}, .drafts = {2}}}),
              ElementsAre("spectr k-seq 2 4", "spectr str++ 2 4"));
}

TEST(Cells, OfMethodsWithoutAPlanStandBesideThoseThatReadIt) {
  EXPECT_THAT(names({{.methods = {"speculative", "spectr"}, .plans = {"str++"}}}),
              ElementsAre("speculative - 1 4", "spectr str++ 4 4"));
}

TEST(Cells, WithoutADraftModelAreNotRepeatedForEvery) {
  EXPECT_EQ(names({{.methods = {"plain"}}}, 3).size(), 1u);
  EXPECT_EQ(names({{.methods = {"speculative"}}}, 3).size(), 3u);
}

TEST(Cells, WithoutAPrefixTreeLeaveItOut) {
  const Axes axes{.methods = {"plain", "traversal", "spectr"}};
  const auto cells = expand({&axes, 1}, {.tree = {2, 1}}, 1);
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_TRUE((*cells)[0].options.tree.empty());
  EXPECT_THAT((*cells)[1].options.tree, ElementsAre(2, 1));
  EXPECT_TRUE((*cells)[2].options.tree.empty());
}

TEST(Cells, ThatAreImpossibleAreRefused) {
  const auto failure = [](const Axes& axes) { return expand({&axes, 1}, {}, 1).error().message; };
  EXPECT_THAT(failure({.methods = {"magic"}}), HasSubstr("no method 'magic'"));
  EXPECT_THAT(failure({.methods = {"spectr"}, .plans = {"magic"}}), HasSubstr("magic"));
  EXPECT_THAT(failure({.methods = {"speculative"}, .plans = {"magic"}}), HasSubstr("magic"));
  EXPECT_THAT(failure({.methods = {"speculative", "block"}, .plans = {"k-seq"}}),
              HasSubstr("plan k-seq is not read: none of the methods speculative, block has a plan"));
  EXPECT_THAT(failure({.methods = {"spectr"}, .drafts = {0}}), HasSubstr("K (draft sequences)"));
}

TEST(Presets, AreThosePromised) {
  for (const char* name :
       {"spectr-table1", "spectr-table4", "mtad-table2", "mtad-table3", "mtad-table4", "mtad-table5",
        "mtad-table6", "mtad-table7", "mtad-table9", "mtad-table10", "mtad-figure1", "mtad-figure3"}) {
    EXPECT_TRUE(find_preset(name)) << name;
  }
  EXPECT_THAT(find_preset("table").error().message, HasSubstr("spectr-table4"));
}

TEST(Presets, HaveCellsOrWidthsAndAPossibleWarp) {
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(Warp::make(preset.warp)) << preset.name;
    EXPECT_NE(preset.axes.empty(), preset.widths.empty()) << preset.name;
    const auto cells = expand(preset.axes, preset.settings, 1);
    EXPECT_TRUE(cells) << preset.name << ": " << cells.error().message;
  }
}

TEST(Presets, HaveThePapersSettings) {
  const Preset& table4 = *find_preset("spectr-table4").value();
  EXPECT_EQ(table4.warp.temperature, 1.0);
  EXPECT_EQ(table4.warp.top_k, 0u);
  EXPECT_EQ(expand(table4.axes, table4.settings, 1)->size(), 8u);
  const Preset& mtad = *find_preset("mtad-table3").value();
  EXPECT_EQ(mtad.warp.top_k, 20u);
  EXPECT_EQ(mtad.warp.top_p, 0.9);
  EXPECT_THAT(names(mtad.axes), ElementsAre("plain - 0 0", "speculative - 1 4", "spectr k-seq 4 4",
                                            "specinfer recursive 4 4", "bild - 1 10", "mtad - 8 4"));
}

}  // namespace
}  // namespace spectr::bench

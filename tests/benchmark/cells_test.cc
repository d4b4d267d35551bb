// Tests of the cells of a benchmark run.
#include "apps/bench/methods/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace spectr::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns "method plan K L" for each cell.
std::vector<std::string> names(const std::vector<Axes>& axes, std::size_t draft_models = 1) {
  const auto cells = expand(axes, {}, WarpOptions::none(), draft_models);
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
  const auto cells = expand({&axes, 1}, {.tree = {2, 1}}, WarpOptions::none(), 1);
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_TRUE((*cells)[0].options.tree.empty());
  EXPECT_THAT((*cells)[1].options.tree, ElementsAre(2, 1));
  EXPECT_TRUE((*cells)[2].options.tree.empty());
}

TEST(Cells, DifferInWhateverTheirMethodReads) {
  const Axes axes{.methods = {"mtad", "mtjd", "bild"},
                  .beams = {2, 4},
                  .beam_modes = {BeamMode::draw, BeamMode::top},
                  .taus = {0.1, 1.0},
                  .bild_fallbacks = {0.3, 0.9},
                  .bild_rollbacks = {1.0, 2.0, 3.0}};
  const auto cells = expand({&axes, 1}, {}, WarpOptions::none(), 1);
  ASSERT_TRUE(cells) << cells.error().message;
  const auto of = [&](std::string_view name) {
    return std::ranges::count_if(*cells, [&](const Cell& cell) { return cell.method->name == name; });
  };
  EXPECT_EQ(of("mtad"), 8);  // beams, modes, thresholds
  EXPECT_EQ(of("mtjd"), 4);  // beams, modes
  EXPECT_EQ(of("bild"), 6);  // both thresholds
}

TEST(Cells, AreMultipliedByFilters) {
  WarpOptions narrow = WarpOptions::none();
  narrow.top_k = 10;
  const Axes axes{.methods = {"plain", "speculative"}, .warps = {WarpOptions::none(), narrow}};
  const auto cells = expand({&axes, 1}, {}, WarpOptions::none(), 1);
  ASSERT_TRUE(cells) << cells.error().message;
  ASSERT_EQ(cells->size(), 4u);
  EXPECT_EQ((*cells)[0].warp.options().top_k, 0u);
  EXPECT_EQ((*cells)[1].warp.options().top_k, 10u);
  WarpOptions impossible = WarpOptions::none();
  impossible.top_p = 2.0;
  const Axes wrong{.methods = {"plain"}, .warps = {impossible}};
  EXPECT_THAT(expand({&wrong, 1}, {}, WarpOptions::none(), 1).error().message, HasSubstr("top-p"));
}

TEST(Cells, TellNullForWhatTheirMethodHasNot) {
  const Axes axes{.methods = {"plain", "spectr", "mtad", "bild"}, .taus = {0.3}};
  const auto cells = expand({&axes, 1}, {}, WarpOptions::none(), 1);
  ASSERT_TRUE(cells) << cells.error().message;
  const auto text = [&](std::size_t i) { return text_of(to_json((*cells)[i])); };
  const std::string warp = R"("warp":{"temperature":1.0,"top_k":0,"top_p":1.0}})";
  EXPECT_EQ(text(0),
            R"({"method":"plain","plan":null,"drafts":null,"length":null,"beams":null,"beam_mode":null,)"
            R"("tau":null,"bild_fallback":null,"bild_rollback":null,)" +
                warp);
  EXPECT_EQ(text(1),
            R"({"method":"spectr","plan":"k-seq","drafts":4,"length":4,"beams":null,"beam_mode":null,)"
            R"("tau":null,"bild_fallback":null,"bild_rollback":null,)" +
                warp);
  EXPECT_EQ(text(2), R"({"method":"mtad","plan":null,"drafts":1,"length":4,"beams":8,"beam_mode":"draw",)"
                     R"("tau":0.3,"bild_fallback":null,"bild_rollback":null,)" +
                         warp);
  EXPECT_EQ(text(3), R"({"method":"bild","plan":null,"drafts":1,"length":4,"beams":null,"beam_mode":null,)"
                     R"("tau":null,"bild_fallback":0.9,"bild_rollback":2.0,)" +
                         warp);
}

TEST(Cells, ThatAreImpossibleAreRefused) {
  const auto failure = [](const Axes& axes) {
    return expand({&axes, 1}, {}, WarpOptions::none(), 1).error().message;
  };
  EXPECT_THAT(failure({.methods = {"magic"}}), HasSubstr("no method 'magic'"));
  EXPECT_THAT(failure({.methods = {"spectr"}, .plans = {"magic"}}), HasSubstr("magic"));
  EXPECT_THAT(failure({.methods = {"speculative"}, .plans = {"magic"}}), HasSubstr("magic"));
  EXPECT_THAT(failure({.methods = {"speculative", "block"}, .plans = {"k-seq"}}),
              HasSubstr("plan k-seq is not read: none of the methods speculative, block has a plan"));
  EXPECT_THAT(failure({.methods = {"spectr"}, .drafts = {0}}), HasSubstr("K (draft sequences)"));
}

}  // namespace
}  // namespace spectr::bench

// Tuned settings: their selection, storage in a file, and use in later runs.
#include "apps/bench/methods/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "apps/bench/methods/cells.h"
#include "apps/bench/methods/column_file.h"
#include "tests/benchmark/file.h"
#include "tests/benchmark/run.h"

namespace spectr::bench {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

spectr::Json row(const char* method, const char* draft, spectr::Json perplexity, spectr::Json speedup) {
  return {{"method", method},
          {"models", {{"draft", draft}}},
          {"perplexity", {{"mean", std::move(perplexity)}}},
          {"speedup", std::move(speedup)}};
}

TEST(Tuning, TakesTheBestOfEachMethodAndDraftModel) {
  const spectr::Json rows = {row("mtad", "a", 3.0, 1.5), row("bild", "a", 2.0, nullptr),
                             row("mtad", "a", 2.5, 1.2), row("mtad", "b", 9.0, 0.5),
                             row("bild", "a", 2.0, 1.0), row("bild", "a", nullptr, 2.0)};
  EXPECT_THAT(best_rows(rows, objectives[0]), ElementsAre(2, 1, 3));
  EXPECT_THAT(best_rows(rows, objectives[1]), ElementsAre(0, 3, 5));
  EXPECT_TRUE(best_rows(spectr::Json::array(), objectives[0]).empty());
}

std::string text_of_cells(std::span<const Cell> cells) {
  std::vector<const Cell*> pointers;
  for (const Cell& cell : cells) pointers.push_back(&cell);
  return column_json(pointers).dump();
}

TEST(ColumnFile, GivesTheCellsBack) {
  MethodOptions settings;
  settings.beam_warp = BeamWarp::joint;
  settings.joint = JointLaw::raw;
  settings.gammas = {2, 3};
  settings.rounds = 2;
  settings.look = true;
  WarpOptions warp = WarpOptions::none();
  warp.top_k = 20;
  warp.top_p = 0.9;
  const Axes axes{.methods = {"plain", "spectr", "mtad", "mtjd", "bild", "conditional"},
                  .plans = {"str+", "optimal"},
                  .drafts = {2},
                  .lengths = {3},
                  .beams = {4},
                  .beam_modes = {BeamMode::top},
                  .taus = {0.3},
                  .bild_fallbacks = {0.7}};
  const auto cells = expand({&axes, 1}, settings, warp, 1);
  ASSERT_TRUE(cells) << cells.error().message;
  const std::string text = text_of_cells(*cells);
  EXPECT_THAT(text, HasSubstr("\"look\":true"));
  const NamedFile file("column.json", text);
  const auto columns = read_columns(file.path());
  ASSERT_TRUE(columns) << columns.error().message;
  std::vector<Cell> again;
  for (const Column& column : *columns) {
    const auto one = cells_of(column, column.settings, 1);
    ASSERT_TRUE(one) << one.error().message;
    ASSERT_EQ(one->size(), 1u);
    again.push_back(one->front().cell);
    EXPECT_THAT(unread_settings(*again.back().method, again.back().options), ElementsAre());
  }
  EXPECT_EQ(text_of_cells(again), text);
}

TEST(ColumnFile, ThatSaysSomethingElseIsRefusedByCellAndName) {
  const auto refusal = [](const std::string& text) {
    const NamedFile file("column.json", text);
    const auto columns = read_columns(file.path());
    EXPECT_FALSE(columns.has_value());
    return columns ? "" : columns.error().message;
  };
  EXPECT_THAT(refusal("{}"), HasSubstr("column.json has no list of cells"));
  EXPECT_THAT(refusal("{"), HasSubstr("column.json is not JSON"));
  EXPECT_THAT(refusal(R"({"cells": [{"tau": 0.1}]})"), HasSubstr("cell 1: names no method"));
  EXPECT_THAT(refusal(R"({"cells": [{"method": "plain"}, {"method": "mtad", "tau": "low"}]})"),
              HasSubstr("cell 2: tau must be a number, got \"low\""));
  EXPECT_THAT(refusal(R"({"cells": [{"method": "mtad", "beams": -1}]})"),
              HasSubstr("beams must be a whole number, got -1"));
  EXPECT_THAT(refusal(R"({"cells": [{"method": "mtad", "joint": "both"}]})"),
              HasSubstr("joint must be warped or raw, got \"both\""));
  EXPECT_THAT(refusal(R"({"cells": [{"method": "mtad", "magic": 1}]})"),
              HasSubstr("there is no setting 'magic'"));
  EXPECT_THAT(refusal(R"({"cells": [{"method": "mtad", "warp": {"top_q": 1}}]})"),
              HasSubstr("warp has no setting 'top_q'"));
  EXPECT_THAT(read_columns("/nowhere/column.json").error().message, HasSubstr("/nowhere/column.json"));
}

/// Returns the arguments of `spectr bench NAME` on the tiny pair.
Arguments bench_command(const char* name, const std::string& prompts) {
  return {"bench", name, "-m", target(), "-md", draft(), "-t", "1", "-n", "12", "--prompts", prompts};
}

TEST(Tuning, KeepsWhatItChoseForTheRunAfterIt) {
  const NamedFile prompts("p.txt", "Once upon a time\nOne day\nTom had a cat\n"), kept("column.json", "");
  const Arguments tune = bench_command("tune", prompts.path()) +
                         Arguments{"--write", kept.path(), "--method", "mtad,bild", "--temp", "1",
                                   "--beams", "2,4",       "--tau",    "0,0.1,0.9", "-L",     "2,3"};
  const test::Json out = test::json(tune);
  EXPECT_EQ(out["objective"], "perplexity");
  ASSERT_EQ(out["chosen"].size(), 2u);
  for (const test::Json& chosen : out["chosen"]) {
    for (const test::Json& row : out["rows"]) {
      if (row["method"] != chosen["method"]) continue;
      EXPECT_GE(row["perplexity"]["mean"].get<double>(), chosen["perplexity"]["mean"].get<double>());
    }
  }
  const test::Json again =
      test::json(bench_command("methods", prompts.path()) + Arguments{"--column-file", kept.path()});
  ASSERT_EQ(again["rows"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const char* name : {"method", "length", "beams", "tau", "warp", "perplexity", "block_efficiency"})
      EXPECT_EQ(again["rows"][i][name], out["chosen"][i][name]) << name;
  }
  EXPECT_THAT(output(tune + Arguments{"--objective", "speed"}), HasSubstr("chosen by the largest speed-up"));
}

TEST(Tuning, RefusesWhatItCannotChooseBy) {
  const NamedFile prompts("p.txt", "Once upon a time\n"), kept("column.json", "{}");
  const auto refusal = [&](const char* name, const Arguments& more) {
    const Outcome ran = test::spectr(bench_command(name, prompts.path()) + more);
    EXPECT_NE(ran.status, 0);
    return ran.err;
  };
  EXPECT_THAT(refusal("tune", {"--write", kept.path(), "--objective", "joy"}),
              HasSubstr("there is no objective 'joy'; the objectives are perplexity, speed"));
  EXPECT_THAT(refusal("tune", {"--write", "/nowhere/column.json"}),
              HasSubstr("/nowhere/column.json cannot be written"));
  EXPECT_THAT(refusal("tune", {"--write", kept.path(), "--preset", "mtad-table4"}),
              HasSubstr("bench tune chooses among settings that are given"));
  EXPECT_THAT(refusal("tune", {}), HasSubstr("--write"));
  EXPECT_THAT(refusal("methods", {"--column-file", kept.path()}), HasSubstr("has no list of cells"));
  EXPECT_THAT(refusal("methods", {"--column-file", kept.path(), "--tau", "0.3"}),
              HasSubstr("--tau is fixed by --column-file"));
}

}  // namespace
}  // namespace spectr::bench

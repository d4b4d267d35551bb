// Presets of `spectr bench methods` as scripts use them: the papers' values, columns, requirements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/benchmark/file.h"
#include "tests/benchmark/run.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(BenchPresets, StandBesideThePapersValues) {
  const Arguments preset = {"bench", "methods", "-m",      target(), "-md",       draft(), "-t",      "1",
                            "-n",    "4",       "--count", "1",      "--repeats", "2",     "--preset"};
  const Json table4 = json(preset + Arguments{"mtad-table4", "--column", "L,SP"});
  ASSERT_EQ(table4["rows"].size(), 5u);
  const Json& mtad = table4["rows"][4];
  EXPECT_EQ(mtad["preset"], "mtad-table4");
  EXPECT_EQ(mtad["column"], "L,SP");
  EXPECT_EQ(mtad["tau"], 0.9);
  EXPECT_EQ(mtad["repeats"], 2);
  EXPECT_EQ(mtad["paper"]["perplexity"]["mean"], 1.87);
  EXPECT_EQ(mtad["warp"]["top_k"], 20);
  EXPECT_NEAR(mtad["paper"]["relative"].get<double>(), 26.4 / 24.0, 1e-12);
  EXPECT_GT(mtad["relative"].get<double>(), 0.0);
  const std::string text = output(preset + Arguments{"mtad-table4"});
  EXPECT_THAT(text, HasSubstr("63.0 ± 0.20"));  // as the paper prints it for L,CP
  EXPECT_THAT(text, HasSubstr("printed values of MTAD, table 4, not measured here"));
  EXPECT_EQ(json(preset + Arguments{"spectr-table4"})["rows"][0]["column"], "6M");
}

TEST(BenchPresets, HaveAColumnPerDraftModelWhereTheTableHas) {
  const Json rows = json({"bench",   "methods", "-m",        target(), "-md",      draft(),        "-md",
                          target(),  "-md",     draft(),     "-t",     "1",        "-n",           "2",
                          "--count", "1",       "--repeats", "1",      "--preset", "spectr-table4"})["rows"];
  ASSERT_EQ(rows.size(), 25u);  // plain decoding once, and eight rows for each of three drafts
  EXPECT_EQ(rows[0]["method"], "plain");
  EXPECT_EQ(rows[1]["column"], "2M");
  EXPECT_EQ(rows[9]["column"], "6M");
  EXPECT_EQ(rows[9]["models"]["draft"], target());
  EXPECT_EQ(rows[24]["paper"]["block_efficiency"]["mean"], 4.15);
}

TEST(BenchPresets, RunSpecTrsTable4OnTheBundledDraftsWhereNoModelIsGiven) {
  const Arguments small = {"bench", "methods", "--preset", "spectr-table4", "-t", "1", "-n",
                           "1",     "--count", "1",        "--repeats",     "1"};
  const Json rows = json(small)["rows"];
  ASSERT_EQ(rows.size(), 25u);
  const auto draft_of = [&](std::size_t row) { return rows[row]["models"]["draft"].get<std::string>(); };
  EXPECT_THAT(draft_of(1), testing::EndsWith("models/spectr-stories-draft-0.3m-f16.gguf"));
  EXPECT_THAT(draft_of(9), testing::EndsWith("models/spectr-stories-draft-0.6m-f16.gguf"));
  EXPECT_THAT(draft_of(24), testing::EndsWith("models/spectr-stories-draft-1.2m-f16.gguf"));
  // If a column is selected, the default pair of models is used.
  const Json one = json(small + Arguments{"--column", "20M"})["rows"];
  ASSERT_EQ(one.size(), 9u);
  EXPECT_EQ(one[8]["column"], "20M");
  EXPECT_THAT(one[8]["models"]["draft"].get<std::string>(),
              testing::EndsWith("models/spectr-stories-draft-0.6m-q8_0.gguf"));
}

TEST(BenchPresets, ColumnsMayFollowTheNamesOfDataSets) {
  const NamedFile more("more.txt", "One day\n");
  const Json rows = json({"bench", "methods", "-m", target(), "-md", draft(), "-t", "1", "-n", "2",
                          "--repeats", "1", "--preset", "mtad-table5", "--column", "O", "--prompts",
                          "CA=" + more.path(), "CD=" + more.path()})["rows"];
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows[0]["column"], "O,CA");
  EXPECT_EQ(rows[9]["column"], "O,CD");
  EXPECT_EQ(rows[9]["paper"]["block_efficiency"]["mean"], 4.30);
}

TEST(BenchPresets, AreListedWithoutRunningAnything) {
  const Json list = json({"bench", "methods", "--list-presets"});
  ASSERT_GT(list.size(), 15u);
  EXPECT_THAT(keys(list[0]), IsSupersetOf({"preset", "source", "cells"}));
  EXPECT_THAT(output({"bench", "methods", "--list-presets"}), HasSubstr("\nmtad-figure3: MTAD, figure 3."));
}

TEST(BenchPresets, SayWhatToGiveWhereSomethingIsMissing) {
  const NamedFile plain("p.txt", "One day\n");
  const NamedFile sql("q.jsonl", R"({"question": "Who?", "query": "SELECT 1", "db_id": "zoo"})");
  const struct {
    Arguments arguments;
    const char* message;
  } cases[] = {
      {{"--preset", "mtad-table8"},
       "--preset mtad-table8 measures prompts: give --prompts NAME=FILE … of CP"},
      {{"--preset", "mtad-table6"}, "judges answers, and the bundled stories have none to compare with"},
      {{"--preset", "mtad-table6", "--prompts", plain.path()}, "--score rouge-l: p ("},
      {{"--preset", "mtad-table6", "--column", "L,SP", "--prompts", sql.path()}, "give --databases DIR"},
      {{"--preset", "mtad-table6", "--column", "L,MT", "--prompts", plain.path()},
       "give --score command:CMD"},
      {{"--preset", "mtad-table6", "--column", "O,CD", "--prompts", plain.path()},
       "--column O,CD: there is no such column of --preset mtad-table6 for the data set p; the columns are "
       "L,CD "
       "L,SP L,MT"},
      {{"--preset", "spectr-table1", "--column", "L"},
       "--preset spectr-table1 has no columns to choose from"},
      {{"--preset", "mtad-table1", "--repeats", "2", "--prompts", sql.path()}, "are fixed by --preset"},
      {{"--column", "L"}, "--column goes with --preset"},
      {{"--score", "magic"}, "there is no score 'magic'"},
      {{"--score", "exact", "--prompts", plain.path()}, "has no references to compare answers with"},
      {{"--score", "sql", "--prompts", plain.path()}, "name no databases (db_id)"},
      {{"--prompts", plain.path(), plain.path()}, "two data sets are called p; give NAME=FILE"},
      {{"--prompts", "=x"}, "'=x' is not of the form NAME=FILE"},
      {{"--relative-to", "magic"}, "there is no method 'magic'"},
      {{"--seconds", "0"}, "--seconds must be above 0, got 0"},
      {{"--seeds", "1,2", "--repeats", "3"}, "--repeats excludes --seeds"},
  };
  for (const auto& c : cases) {
    const Outcome ran =
        test::spectr(Arguments{"bench", "methods", "-m", target(), "-md", draft(), "-n", "4"} + c.arguments);
    EXPECT_EQ(ran.status, 2) << c.message;
    EXPECT_THAT(ran.err, HasSubstr(c.message));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

}  // namespace
}  // namespace spectr

// `spectr bench` without its methods, as scripts use it: keys, formats, resumption, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/benchmark/file.h"
#include "tests/benchmark/run.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

TEST(BenchPasses, CountParametersAndBytesAsInspectDoes) {
  const Json row = json({"bench", "tg", "-m", target(), "-t", "1", "-r", "1", "-n", "1"})[0];
  const std::string sums =
      row["model_n_params"].dump() + " parameters in " + row["model_size"].dump() + " bytes";
  EXPECT_THAT(output({"inspect", target()}), HasSubstr("\n" + sums));
}

TEST(BenchResume, FinishedRowsOfEveryBenchmarkAreTakenAsTheyAre) {
  const NamedFile results("results.jsonl", "");
  const Arguments widths = {"bench", "widths", "-m", target(), "-t", "1", "-r", "1", "--widths", "1,2"};
  const Arguments passes = {"bench", "pp", "tg", "-m", target(), "-t", "1", "-r", "2", "-n", "4"};
  const Arguments select = {"bench", "select", "--plan", "k-seq", "-K", "2"};
  const struct {
    Arguments command, first, more;
    const char* rows;  // key of the rows; null if the output is a list of rows
  } cases[] = {{widths, {"--depths", "0"}, {"--depths", "0,9"}, "widths"},
               {passes, {"-p", "8"}, {"-p", "8,16"}, nullptr},
               {select, {"-V", "10"}, {"-V", "10,40"}, "rows"}};
  for (const auto& [command, first, more, rows] : cases) {
    const auto measure = [&](const Arguments& arguments) {
      const Json out = json(arguments + Arguments{"--resume", results.path()});
      return rows == nullptr ? out : out[rows];
    };
    const Json before = measure(command + first), after = measure(command + more);
    ASSERT_GT(after.size(), before.size()) << command[1];
    for (const Json& row : before) EXPECT_EQ(std::ranges::count(after, row), 1) << command[1] << ": " << row;
    const std::string kept = contents_of(results.path());
    EXPECT_EQ(measure(command + more), after) << command[1];
    EXPECT_EQ(contents_of(results.path()), kept) << command[1];
  }
}

TEST(BenchWidths, JsonHasTheFieldsOfTheContract) {
  const Json out =
      json({"bench", "widths", "-m", target(), "-t", "1", "-r", "1", "--widths", "1,2,4", "--depths", "0,9"});
  EXPECT_THAT(keys(out), IsSupersetOf({"model", "threads", "read_gbps", "widths"}));
  EXPECT_EQ(out["threads"], 1);
  EXPECT_GT(out["read_gbps"].get<double>(), 0.0);
  ASSERT_EQ(out["widths"].size(), 6u);
  for (const Json& row : out["widths"]) {
    EXPECT_THAT(keys(row),
                testing::UnorderedElementsAre("width", "depth", "ms", "relative", "weight_mb", "joules"));
    EXPECT_GT(row["ms"].get<double>(), 0.0);
    EXPECT_EQ(row["weight_mb"], out["widths"][0]["weight_mb"]) << "of a dense model each pass reads all";
  }
  EXPECT_EQ(out["widths"][0]["relative"], 1.0);
  EXPECT_EQ(out["widths"][3]["depth"], 9);
  EXPECT_EQ(out["widths"][3]["relative"], 1.0);
}

TEST(BenchWidths, OfBatchesHaveTheFieldsOfTheContract) {
  for (const bool independent : {false, true}) {
    Arguments command = {"bench", "widths",    "-m",  target(),    "-md", draft(),  "-t",
                         "1",     "--lengths", "1,3", "--batches", "1,2", "--runs", "3"};
    if (independent) command = command + Arguments{"--independent"};
    const Json out = json(command);
    ASSERT_EQ(out["widths"].size(), 4u);
    ASSERT_EQ(out["draft_widths"].size(), 4u);
    for (const Json& row : out["widths"]) {
      EXPECT_THAT(keys(row), IsSupersetOf({"length", "batch", "independent", "mean_ms", "sd_ms", "ms",
                                           "relative", "joules_per_run", "joules_per_input"}));
      EXPECT_EQ(row["independent"], independent);
      EXPECT_EQ(row["runs"], 3);
      EXPECT_LE(row["ms"].get<double>(), row["mean_ms"].get<double>());
    }
    EXPECT_EQ(out["widths"][0]["relative"], 1.0);
    EXPECT_EQ(out["widths"][3]["length"], 3);
    EXPECT_EQ(out["widths"][3]["batch"], 2);
    // The draft's times are relative to the target's first pass.
    EXPECT_NEAR(out["draft_widths"][2]["relative"].get<double>(),
                out["draft_widths"][2]["mean_ms"].get<double>() / out["widths"][0]["mean_ms"].get<double>(),
                1e-9);
  }
}

TEST(BenchWidths, OfPresetsStandBesideThePapersValues) {
  const Arguments command = {"bench", "widths", "-m",     target(), "-md",     draft(),
                             "-t",    "1",      "--runs", "2",      "--preset"};
  const Json table3 = json(command + Arguments{"spectr-table3"});
  ASSERT_EQ(table3["draft_widths"].size(), 8u);
  EXPECT_EQ(table3["draft_widths"][7]["paper"]["relative"]["mean"], 0.18);
  EXPECT_TRUE(table3["widths"][0]["paper"].is_null());
  const Json table2 = json(command + Arguments{"mtad-table2"});
  ASSERT_EQ(table2["widths"].size(), 5u);
  EXPECT_EQ(table2["widths"][4]["independent"], true);
  EXPECT_EQ(table2["widths"][4]["paper"]["joules_per_input"], 1.54);
  EXPECT_THAT(output(command + Arguments{"spectr-table2"}), HasSubstr("1.42 ± 0.4"));
}

TEST(BenchWidths, RefusesWhatTheContextHasNoRoomFor) {
  const Outcome ran =
      test::spectr({"bench", "widths", "-m", target(), "-t", "1", "-r", "1", "--depths", "100000"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("the context of 100002 tokens exceeds"));
}

TEST(BenchPasses, SayWhyTheyCannotRun) {
  const auto run = [](const Arguments& rest) {
    return test::spectr(Arguments{"bench", "pp", "-m", target(), "-t", "1", "-r", "1"} + rest).err;
  };
  EXPECT_THAT(run({"-p", "0", "-n", "5"}), HasSubstr("no test is left: -p is 0\n"));
  EXPECT_THAT(run({"-p", "100000"}),
              HasSubstr(target() + ": pp100000 needs a context of 100000 tokens, the model has 512"));
}

TEST(BenchPasses, HaveTheShapeOfLlamaBench) {
  const Arguments tests = {"bench", "pp", "tg", "-m", target(), "-p", "8",  "-n",
                           "4",     "-r", "2",  "-t", "1",      "-d", "0,5"};
  const Json rows = json(tests);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_THAT(keys(rows[0]), IsSupersetOf({"build_commit", "cpu_info", "model_filename", "model_type",
                                           "n_threads", "n_prompt", "n_gen", "n_depth", "avg_ns", "stddev_ns",
                                           "avg_ts", "stddev_ts", "samples_ns", "samples_ts"}));
  EXPECT_EQ(rows[0]["samples_ns"].size(), 2u);
  EXPECT_EQ(rows[0]["n_prompt"], 8);
  EXPECT_EQ(rows[1]["n_gen"], 4);
  EXPECT_EQ(rows[3]["n_depth"], 5);
  const std::string table = output(tests);
  EXPECT_THAT(table, StartsWith("| model | size | params | backend | threads | test | t/s |\n"));
  EXPECT_THAT(table, HasSubstr("| pp8 |"));
  EXPECT_THAT(table, HasSubstr("| tg4 @ d5 |"));
}

TEST(BenchPasses, TakeTheThreadsFromTheVariable) {
  const Outcome ran = test::spectr({"bench", "tg", "-m", target(), "-n", "2", "-r", "1", "--json"},
                                   {.variables = {{"LLAMA_ARG_THREADS", "1,2"}}});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["n_threads"], 2);
}

TEST(BenchPasses, RunAloneToo) {
  const Json rows = json({"bench", "tg", "-m", target(), "-n", "3", "-r", "1", "-t", "1"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["n_gen"], 3);
}

TEST(BenchSelect, TimesBlocksOfMethods) {
  const Json blocks =
      json({"bench", "select", "--method", "block,conditional", "-V", "50", "-K", "2,3", "-L", "2"});
  ASSERT_EQ(blocks["rows"].size(), 12U);  // block for one K only; 2 kinds of distributions, 2 filters
  for (const Json& row : blocks["rows"]) {
    EXPECT_THAT(keys(row), testing::UnorderedElementsAre("method", "plan", "vocab", "laws", "filters", "k",
                                                         "length", "block_us", "verify_us", "tokens"));
    EXPECT_EQ(row["length"], 2);
    EXPECT_GE(row["tokens"].get<double>(), 1.0);
    EXPECT_LE(row["tokens"].get<double>(), 3.0);
  }
  EXPECT_EQ(spectr({"bench", "select", "--method", "ngram"}).status, 2);
}

TEST(BenchSelect, TimesEveryPlanForVocabulariesAndDrafts) {
  const Json out = json({"bench", "select", "--plan", "epsilon-opt,k-seq", "-V", "10,40", "-K", "2,4"});
  // Two kinds of distributions, with and without filters; over-acceptance takes only one draft.
  ASSERT_EQ(out["rows"].size(), 4u * 6u);
  for (const Json& row : out["rows"]) {
    EXPECT_THAT(keys(row), testing::UnorderedElementsAre("plan", "vocab", "laws", "filters", "k", "build_us",
                                                         "select_us", "error"));
    EXPECT_GT(row["build_us"].get<double>(), 0.0);
    EXPECT_GT(row["select_us"].get<double>(), 0.0);
  }
}

TEST(BenchDivergence, IsOfTheContextsOfAFileOrTheBundledOnes) {
  const NamedFile texts("texts.txt", "Once upon a time\nOne day, Tom had a cat\n");
  const Arguments both = {"bench", "divergence", "-m", target(), "--reference", draft(), "-t", "1"};
  const Json of_file = json(both + Arguments{"-f", texts.path()}),
             bundled = json(both + Arguments{"-n", "5"});
  EXPECT_THAT(keys(of_file), ElementsAre("model", "reference", "rows"));
  EXPECT_THAT(keys(of_file["rows"].back()),
              ElementsAre("contexts", "kl", "same_top", "tokens_from", "tokens_to", "tv"));
  EXPECT_EQ(of_file["rows"].back()["contexts"], 2);
  EXPECT_GT(of_file["rows"].back()["kl"], 0.0);
  EXPECT_EQ(bundled["rows"].back()["contexts"], 5);
  EXPECT_THAT(output(both + Arguments{"-n", "1"}), HasSubstr("same top token"));
}

TEST(BenchDivergence, NeedsTwoModelsOfOneVocabulary) {
  const auto bundled = (source_folder() / "models/spectr-stories-draft-0.6m-q8_0.gguf").string();
  const Outcome ran = test::spectr({"bench", "divergence", "-m", target(), "--reference", bundled});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("cannot be compared"));
  EXPECT_EQ(test::spectr({"bench", "divergence", "-m", target()}).status, 2);
}

}  // namespace
}  // namespace spectr

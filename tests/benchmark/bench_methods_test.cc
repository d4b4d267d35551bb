// `spectr bench methods` as scripts use it: keys, presets, data sets, resumption, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "tests/benchmark/file.h"
#include "tests/benchmark/run.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const std::string prompts =
    "{\"prompt\": \"Once upon a time\", \"reference\": \"There was a dog\"}\n"
    "{\"turns\": [\"One day\", \"Then\"]}\n"
    "{\"prompt\": \"Tom had a cat\"}\n";

/// Runs `spectr bench methods` on the tiny pair with twelve tokens per prompt.
class BenchMethods : public testing::Test {
 protected:
  std::string prompts_file() const { return prompts_.path(); }
  Arguments methods(const Arguments& more = {}) const {
    Arguments all = {"bench", "methods", "-m", target(), "-md", draft(), "-t", "1"};
    for (const auto& [flag, value] : std::vector<std::pair<const char*, std::string>>{
             {"-n", "12"}, {"--temp", "1"}, {"--prompts", prompts_.path()}}) {
      if (std::ranges::find(more, flag) == more.end()) all = all + Arguments{flag, value};
    }
    return all + more;
  }

 private:
  NamedFile prompts_{"p.jsonl", prompts};
};

TEST_F(BenchMethods, TableTellsTheBiasWhereThereIsOne) {
  const std::string biased = output(methods({"--method", "spectr,biased-opt,mtad", "--epsilon", "0.5"}));
  EXPECT_THAT(biased, testing::ContainsRegex(" bias"));
  EXPECT_THAT(biased, HasSubstr("0.0000"));
  EXPECT_THAT(biased, HasSubstr("unknown"));
  EXPECT_THAT(output(methods({"--method", "spectr"})), testing::Not(HasSubstr("bias")));
}

TEST_F(BenchMethods, JsonHasTheFieldsOfTheContract) {
  const Json out = json(methods({"--method", "plain,speculative,spectr,mtad", "-K", "1,2", "-L", "2"}));
  EXPECT_THAT(keys(out), UnorderedElementsAre("model", "draft", "threads", "seeds", "predict", "datasets",
                                              "reference", "rows", "across"));
  EXPECT_EQ(out["model"], target());
  EXPECT_EQ(out["draft"], draft());
  ASSERT_EQ(out["rows"].size(), 6u);
  for (const Json& row : out["rows"]) {
    EXPECT_THAT(keys(row), IsSupersetOf({"preset",
                                         "column",
                                         "method",
                                         "plan",
                                         "drafts",
                                         "length",
                                         "beams",
                                         "beam_mode",
                                         "tau",
                                         "bild_fallback",
                                         "bild_rollback",
                                         "warp",
                                         "dataset",
                                         "models",
                                         "repeats",
                                         "prompts",
                                         "block_efficiency",
                                         "tokens_per_second",
                                         "joules_per_token",
                                         "perplexity",
                                         "score",
                                         "speedup",
                                         "relative",
                                         "acceptance_rate",
                                         "acceptance_per_position",
                                         "seconds",
                                         "paper"}));
    EXPECT_THAT(keys(row["seconds"]), UnorderedElementsAre("prompt", "draft", "target", "select", "total"));
    EXPECT_EQ(row["prompts"], 3);
    EXPECT_EQ(row["repeats"], 1);
    EXPECT_EQ(row["dataset"], "p");
    EXPECT_GE(row["block_efficiency"]["mean"].get<double>(), 1.0);
    EXPECT_GE(row["block_efficiency"]["se"].get<double>(), 0.0);
    EXPECT_GE(row["block_efficiency"]["totals"].get<double>(), 1.0);
    EXPECT_TRUE(row["block_efficiency"]["sd"].is_null());
    EXPECT_GT(row["tokens_per_second"]["mean"].get<double>(), 0.0);
    EXPECT_GT(row["speedup"].get<double>(), 0.0);
    EXPECT_GT(row["perplexity"]["mean"].get<double>(), 1.0);
    EXPECT_EQ(row["score"]["name"], "rouge-l");
    EXPECT_TRUE(row["paper"].is_null());
  }
  const Json &plain = out["rows"][0], &spectr = out["rows"][3], &mtad = out["rows"][4];
  EXPECT_EQ(plain["method"], "plain");
  EXPECT_EQ(plain["block_efficiency"]["mean"], 1.0);
  EXPECT_EQ(plain["speedup"], 1.0);
  EXPECT_TRUE(plain["drafts"].is_null());
  EXPECT_EQ(spectr["plan"], "k-seq");
  EXPECT_EQ(spectr["drafts"], 2);
  EXPECT_EQ(spectr["length"], 2);
  EXPECT_TRUE(spectr["tau"].is_null());
  EXPECT_EQ(mtad["drafts"], 1);
  EXPECT_EQ(out["rows"][5]["drafts"], 2);  // number of verified beams
  EXPECT_EQ(mtad["beams"], 8);
  EXPECT_EQ(mtad["tau"], 0.1);
  EXPECT_EQ(out["datasets"][0]["prompts"], 3);
  EXPECT_GT(out["datasets"][0]["mean_tokens"].get<double>(), 1.0);
  EXPECT_EQ(out["reference"][0]["method"], "plain");
  EXPECT_GT(out["reference"][0]["tokens_per_second"].get<double>(), 0.0);
  EXPECT_TRUE(out["across"].empty());
}

TEST_F(BenchMethods, RepetitionsHaveSeedsOfTheirOwn) {
  const Arguments spectr = {"--method", "spectr", "-K", "2"};
  const auto efficiency = [&](const Arguments& more) {
    return json(methods(spectr + more))["rows"][0]["block_efficiency"];
  };
  const Json three = efficiency({"--seed", "5", "--repeats", "3"});
  EXPECT_EQ(three, efficiency({"--seeds", "5,6,7"}));
  EXPECT_GT(three["sd"].get<double>(), 0.0);
  EXPECT_TRUE(three["se"].is_null());
  double mean = 0.0;
  for (const char* seed : {"5", "6", "7"}) mean += efficiency({"--seed", seed})["mean"].get<double>() / 3.0;
  EXPECT_NEAR(three["mean"].get<double>(), mean, 1e-12);
}

TEST_F(BenchMethods, SeveralDataSetsHaveRowsEachAndOneAcross) {
  const NamedFile more("more.txt", "Once there was a cat\nOne day\n");
  const Json out = json({"bench", "methods", "-m", target(), "-md", draft(), "-t", "1", "-n", "8", "--method",
                         "speculative,mtad", "--relative-to", "speculative", "--prompts", more.path(),
                         "other=" + more.path()});
  ASSERT_EQ(out["rows"].size(), 4u);
  EXPECT_EQ(out["rows"][0]["dataset"], "more");
  EXPECT_EQ(out["rows"][3]["dataset"], "other");
  EXPECT_EQ(out["rows"][0]["relative"], 1.0);
  EXPECT_NEAR(out["rows"][3]["relative"].get<double>(),
              out["rows"][3]["speedup"].get<double>() / out["rows"][2]["speedup"].get<double>(), 1e-12);
  ASSERT_EQ(out["across"].size(), 2u);
  EXPECT_EQ(out["across"][1]["method"], "mtad");
  EXPECT_EQ(out["across"][1]["datasets"], 2);
  EXPECT_NEAR(out["across"][1]["block_efficiency"]["sd"].get<double>(), 0.0, 1e-12);  // equal prompts
}

TEST_F(BenchMethods, ATimeBudgetEndsEveryCell) {
  const Json row = json(methods({"--method", "speculative", "--seconds", "1e-9"}))["rows"][0];
  EXPECT_EQ(row["prompts"], 1);  // the first one is always started
}

TEST_F(BenchMethods, AnswersMayBeRanked) {
  const Json rows = json({"bench", "methods", "-m", target(), "-t", "1", "-n", "4", "--preset", "mtad-table1",
                          "--score", "command:sed s/.*/1/", "--prompts", prompts_file()})["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["rank"], "highest perplexity");
  EXPECT_EQ(rows[0]["repeats"], 10);
  EXPECT_GT(rows[0]["perplexity"]["mean"].get<double>(), rows[2]["perplexity"]["mean"].get<double>());
  EXPECT_EQ(rows[2]["score"]["mean"], 1.0);
  EXPECT_EQ(rows[2]["paper"]["score"]["mean"], 62.0);
}

TEST_F(BenchMethods, LengthsOfPromptsStandBesideThePapers) {
  const Json out = json(
      {"bench", "methods", "-m", target(), "--preset", "mtad-table8", "--prompts", "CP=" + prompts_file()});
  EXPECT_EQ(out["datasets"][0]["prompts"], 3);
  EXPECT_EQ(out["datasets"][0]["paper"]["mean_tokens"], 25.2);
}

TEST_F(BenchMethods, CountsAreTheSameForTheSameSeed) {
  const auto efficiencies = [&](const char* seed) {
    std::vector<Json> all;
    const Json out = json(methods({"-K", "2", "--seed", seed}));
    for (const Json& row : out["rows"]) {
      all.push_back({row["block_efficiency"], row["perplexity"], row["acceptance_per_position"]});
    }
    return all;
  };
  EXPECT_EQ(efficiencies("1"), efficiencies("1"));
  EXPECT_NE(efficiencies("1"), efficiencies("2"));
}

TEST_F(BenchMethods, SeveralDraftModelsAreRowsOfTheirOwn) {
  const Json out = json(methods({"-md", target(), "--method", "speculative"}));
  ASSERT_EQ(out["rows"].size(), 2u);
  EXPECT_EQ(out["draft"], Json({draft(), target()}));
  EXPECT_EQ(out["rows"][0]["models"]["draft"], draft());
  EXPECT_EQ(out["rows"][1]["models"]["draft"], target());
  EXPECT_EQ(out["rows"][1]["acceptance_rate"], 1.0);  // the target is its own draft model
}

TEST_F(BenchMethods, OnlyMethodsThatDraftAPrefixTreeReadIt) {
  const Json rows =
      json(methods({"--method", "plain,tree,spectr", "-K", "2", "-L", "2", "--tree", "2,1"}))["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1]["method"], "tree");
  EXPECT_EQ(rows[2]["drafts"], 2);
}

TEST_F(BenchMethods, EveryDraftModelHasItsOwnCosts) {
  const TemporaryFile costs("{}");
  const Json out = json(methods({"-md", target(), "--method", "auto", "--cost-file", costs.path()}));
  EXPECT_EQ(Json::parse(contents_of(costs.path())).size(), 2u);  // one entry per pair
  ASSERT_EQ(out["rows"].size(), 2u);
  EXPECT_NE(out["rows"][0]["costs_hash"], out["rows"][1]["costs_hash"]);
  for (const Json& row : out["rows"]) {  // K and L are the numbers actually drafted
    EXPECT_EQ(!row["length"].is_null(), !row["acceptance_per_position"].empty()) << row;
  }
}

TEST_F(BenchMethods, AFolderThatCannotBeWrittenIsFoundBeforeTheRun) {
  const NamedFile results("results.jsonl", "");
  const Outcome ran = test::spectr(methods({"--plot", "/dev/null/pictures", "--resume", results.path()}));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("/dev/null/pictures"));
  EXPECT_EQ(contents_of(results.path()), "");
}

TEST_F(BenchMethods, TablesAndCsvHaveALinePerRow) {
  const std::string table = output(methods({"-K", "2"}));
  EXPECT_THAT(table, HasSubstr("speed-up"));
  EXPECT_THAT(table, HasSubstr("spectr k-seq"));
  const std::string csv = output(methods({"-K", "2", "--csv"}));
  EXPECT_THAT(csv, StartsWith("preset,column,method,plan,drafts,length,beams,"));
  EXPECT_THAT(csv, HasSubstr(",block_efficiency_mean,block_efficiency_sd,block_efficiency_se,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
}

TEST_F(BenchMethods, EnergyIsThatOfTheBoardsWhereADriverIs) {
  const Surroundings with_driver{.variables = {{"LD_LIBRARY_PATH", two_boards_folder()}}};
  const Outcome ran = test::spectr(methods({"--method", "speculative", "--json"}), with_driver);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json row = Json::parse(ran.out)["rows"][0];
  // At least 300 W (readable CPUs add theirs), over the run and the start of sessions.
  const double generated = row["tokens_per_second"]["mean"].get<double>() *
                           (row["seconds"]["total"].get<double>() - row["seconds"]["prompt"].get<double>());
  EXPECT_GT(row["joules_per_token"].get<double>() * generated, 300.0 * row["seconds"]["total"].get<double>());
  EXPECT_THAT(test::spectr(methods({"--method", "speculative"}), with_driver).out, HasSubstr("NVML, idle "));
}

TEST_F(BenchMethods, ARunThatIsKilledGoesOnWhereItWas) {
  const NamedFile results("results.jsonl", "");
  const Arguments arguments =
      methods({"--method", "speculative,spectr", "-K", "2", "-L", "1,2,3,4,5,6", "--resume", results.path()});
  RunningProgram run(spectr_program(), arguments);
  const auto lines = [&] { return std::ranges::count(contents_of(results.path()), '\n'); };
  ASSERT_TRUE(test::comes_true([&] { return lines() >= 3; }, std::chrono::milliseconds(1))) << run.err();
  run.send(SIGKILL);
  run.wait();
  const std::string before = contents_of(results.path());
  const std::string finished = before.substr(0, before.rfind('\n') + 1);

  const Json out = json(arguments);
  ASSERT_EQ(out["rows"].size(), 12u);
  const std::string after = contents_of(results.path());
  EXPECT_TRUE(after.starts_with(finished));
  EXPECT_EQ(std::ranges::count(after, '\n'), 12);
  // Finished rows are taken from the first run, including times; a third run measures nothing.
  EXPECT_EQ(json(arguments), out);
  EXPECT_EQ(contents_of(results.path()), after);
}

TEST_F(BenchMethods, RowsOfOtherSettingsAreNotTaken) {
  const NamedFile results("results.jsonl", "");
  const auto lines = [&] { return std::ranges::count(contents_of(results.path()), '\n'); };
  (void)json(methods({"--method", "speculative", "--resume", results.path()}));
  (void)json(methods({"--method", "speculative", "--resume", results.path(), "--temp", "0.5"}));
  EXPECT_EQ(lines(), 2);
  (void)json(methods({"--method", "speculative", "--resume", results.path(), "--seed", "9"}));
  EXPECT_EQ(lines(), 3);
}

TEST_F(BenchMethods, ErrorsAreOneLineWithStatus2) {
  const struct {
    Arguments arguments;
    const char* message;
  } cases[] = {
      {methods({"--preset", "spectr-table9"}), "there is no preset 'spectr-table9'"},
      {methods({"--preset", "mtad-table2"}), "spectr bench widths --preset mtad-table2"},
      {{"bench", "methods", "--preset", "spectr-table4", "--top-k", "3"}, "--top-k is fixed by --preset"},
      {{"bench", "methods", "--preset", "spectr-table4", "-K", "3"}, "-K is fixed by --preset"},
      {methods({"--method", "magic"}), "there is no method 'magic'"},
      {methods({"-K", "0"}), "-K: must be a whole number from 1 to 9223372036854775807, got '0'"},
      {methods({"--count", "-1"}), "--count: must be a whole number from 0 to 9223372036854775807, got '-1'"},
      {methods({"-l", "99999+5"}), "token 99999 is outside the vocabulary"},
      {methods({"--tree", "2,2"}), "--tree goes with tree, traversal and conditional"},
      {methods({"--plan", "magic", "--method", "speculative"}), "there is no plan 'magic'"},
      {methods({"--plan", "k-seq", "--method", "speculative"}), "has a plan to choose"},
      {{"bench", "select", "-V", "10", "widths", "-m", target()}, "widths excludes select"},
      {{"bench", "pp", "-m", target(), "select"}, "select excludes pp"},
      {methods({"-n", "4000"}), "-n 4000"},
      {methods({"--prompts", "/nowhere"}), "/nowhere"},
      {methods({"--json", "--csv"}), "--csv"},
      {{"bench", "methods", "-m", target()}, "need a draft model"},
      {{"bench"}, "no command is given; see spectr bench --help"},
  };
  for (const auto& c : cases) {
    const Outcome ran = test::spectr(c.arguments);
    EXPECT_EQ(ran.status, 2) << c.message;
    EXPECT_THAT(ran.err, StartsWith("spectr: error: "));
    EXPECT_THAT(ran.err, HasSubstr(c.message));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1);
    EXPECT_EQ(ran.out, "");
  }
}

}  // namespace
}  // namespace spectr

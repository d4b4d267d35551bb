// `spectr bench` as scripts see it: keys, formats, resumption, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/benchmark/file.h"
#include "tests/program/spectr.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

std::string output(const Arguments& arguments) {
  const Outcome ran = test::spectr(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

Json json(const Arguments& arguments) {
  return Json::parse(output(arguments + Arguments{"--json"}));
}

const std::string prompts =
    "{\"prompt\": \"Once upon a time\", \"reference\": \"There was a dog\"}\n"
    "{\"turns\": [\"One day\", \"Then\"]}\n"
    "{\"prompt\": \"Tom had a cat\"}\n";

/// `spectr bench methods` on the tiny pair, twelve tokens a prompt.
class BenchMethods : public testing::Test {
 protected:
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
  EXPECT_THAT(keys(out),
              testing::UnorderedElementsAre("model", "draft", "threads", "seed", "predict", "rows"));
  EXPECT_EQ(out["model"], target());
  EXPECT_EQ(out["draft"], draft());
  ASSERT_EQ(out["rows"].size(), 5u);
  for (const Json& row : out["rows"]) {
    EXPECT_THAT(keys(row),
                IsSupersetOf({"method", "plan", "drafts", "length", "prompts", "block_efficiency",
                              "block_efficiency_se", "acceptance_rate", "acceptance_per_position",
                              "tokens_per_second", "speedup", "perplexity", "joules_per_token", "seconds"}));
    EXPECT_THAT(keys(row["seconds"]),
                testing::UnorderedElementsAre("prompt", "draft", "target", "select", "total"));
    EXPECT_EQ(row["prompts"], 3);
    EXPECT_GE(row["block_efficiency"].get<double>(), 1.0);
    EXPECT_GE(row["block_efficiency_se"].get<double>(), 0.0);
    EXPECT_GT(row["tokens_per_second"].get<double>(), 0.0);
    EXPECT_GT(row["speedup"].get<double>(), 0.0);
    EXPECT_GT(row["perplexity"].get<double>(), 1.0);
    EXPECT_GE(row["rouge_l"].get<double>(), 0.0);
  }
  const Json &plain = out["rows"][0], &spectr = out["rows"][3];
  EXPECT_EQ(plain["method"], "plain");
  EXPECT_EQ(plain["block_efficiency"], 1.0);
  EXPECT_EQ(plain["speedup"], 1.0);
  EXPECT_EQ(spectr["plan"], "k-seq");
  EXPECT_EQ(spectr["drafts"], 2);
  EXPECT_EQ(spectr["length"], 2);
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
  EXPECT_EQ(out["rows"][0]["draft"], draft());
  EXPECT_EQ(out["rows"][1]["draft"], target());
  EXPECT_EQ(out["rows"][1]["acceptance_rate"], 1.0);  // a model that drafts for itself
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
  EXPECT_EQ(Json::parse(contents_of(costs.path())).size(), 2u);  // a pair each
  ASSERT_EQ(out["rows"].size(), 2u);
  EXPECT_NE(out["rows"][0]["costs_hash"], out["rows"][1]["costs_hash"]);
  for (const Json& row : out["rows"]) {  // K and L are what was drafted
    EXPECT_EQ(row["length"].get<std::size_t>() > 0, !row["acceptance_per_position"].empty()) << row;
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
  EXPECT_THAT(csv, StartsWith("method,plan,drafts,length,prompts,block_efficiency,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
}

TEST_F(BenchMethods, EnergyIsThatOfTheBoardsWhereADriverIs) {
  const Surroundings with_driver{.variables = {{"LD_LIBRARY_PATH", two_boards_folder()}}};
  const Outcome ran = test::spectr(methods({"--method", "speculative", "--json"}), with_driver);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json row = Json::parse(ran.out)["rows"][0];
  // 300 W at least (processors that can be read add theirs), over the run and the starting of sessions.
  const double generated = row["tokens_per_second"].get<double>() *
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
  while (lines() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  run.send(SIGKILL);
  run.wait();
  const std::string before = contents_of(results.path());
  const std::string finished = before.substr(0, before.rfind('\n') + 1);

  const Json out = json(arguments);
  ASSERT_EQ(out["rows"].size(), 12u);
  const std::string after = contents_of(results.path());
  EXPECT_TRUE(after.starts_with(finished));
  EXPECT_EQ(std::ranges::count(after, '\n'), 12);
  // Finished rows are those of the first run, times included; a third run measures nothing.
  EXPECT_EQ(out["rows"][0], Json::parse(finished.substr(0, finished.find('\n')))["row"]);
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
    const char* rows;  // key of the rows; null: the object is a list of them
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
      {methods({"--tree", "2,2"}), "--tree goes with tree and traversal"},
      {methods({"--plan", "magic", "--method", "speculative"}), "there is no plan 'magic'"},
      {methods({"--plan", "k-seq", "--method", "speculative"}), "has a plan to choose"},
      {{"bench", "select", "-V", "10", "widths", "-m", target()}, "widths excludes select"},
      {{"bench", "pp", "-m", target(), "select"}, "select excludes pp"},
      {methods({"-n", "4000"}), "-n 4000"},
      {methods({"--prompts", "/nowhere"}), "/nowhere"},
      {methods({"--json", "--csv"}), "--csv"},
      {{"bench", "methods", "-m", target()}, "need a draft model"},
      {{"bench"}, "A subcommand is required"},
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

TEST(BenchSelect, TimesEveryPlanForVocabulariesAndDrafts) {
  const Json out = json({"bench", "select", "--plan", "epsilon-opt,k-seq", "-V", "10,40", "-K", "2,4"});
  // Of two kinds of laws, with and without filters; over-acceptance takes one draft.
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

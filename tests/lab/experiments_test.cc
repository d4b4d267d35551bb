#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "lab/experiment.h"
#include "tests/lab/drawn_pictures.h"
#include "tests/support/data.h"

namespace spectr::lab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Returns an empty folder for the test.
fs::path fresh_folder(const std::string& name) {
  fs::path folder = fs::path(testing::TempDir()) / ("spectr_lab_" + name);
  fs::remove_all(folder);
  return folder;
}

const std::map<std::string, std::string> documented_columns = {
    {"plans", "laws,plan,k,acceptance"},
    {"spectr-bernoulli", "b,k,plan,acceptance,optimum,guaranteed"},
    {"spectr-uniform", "r,k,plan,acceptance,closed_form"},
    {"spectr-recursive", "b,k,plan,acceptance,optimum,guaranteed"},
    {"spectr-naive", "case,k,naive,enumerated,k_seq,target"},
    {"spectr-bounds", "case,k,k_seq,optimum,tuple_bound,drafted,overlap,limit"},
    {"spectrpp-subsets", "vocabulary,pair,str_plus_plus,prefixes,subsets,optimum"},
    {"spectr-tree", "plan,shape,tree,draws,rows_per_call,texts,tokens_per_call,low,high"},
    {"spectrpp-cost",
     "vocabulary,k,pairs,rounds_mean,rounds_max,k_times_v,k_seq,round_1,round_2,round_3,last_round,optimum"},
    {"lower-bound", "rule,parameter,rejections,bias,distance,bound"},
    {"spectrpp-5", "pair,k,str,str_plus,str_plus_plus,best_subsets,optimum"},
    {"spectrpp-10", "pair,k,str,str_plus,str_plus_plus,best_subsets,optimum"},
    {"rejections", "sequences,runs,mean,low,high,expected"},
    {"rejections-batch", "sequences,runs,mean,low,high,expected"},
    {"rejections-scaling", "sequences,expected,limit,runs,mean,low,high"},
    {"rejections-100", "sequences,runs,mean,low,high,expected"},
    {"batch-improvement", "case,sequences,closed_form,runs,mean,low,high"},
    {"pareto", "rule,epsilon,rejection,bias,least_bias,enumerated_rejection,enumerated_bias"},
    {"pareto-markov",
     "states,horizon,rule,epsilon,rejections,misses,bias,distance,enumerated_corrections,enumerated_text_"
     "bias"},
    {"opt-vs-uno",
     "contest,judge,epsilon,prompts,comparisons,win_rate,low,high,won_first,won_second,tv_first,tv_second,"
     "tokens_"
     "per_call_first,"
     "tokens_per_call_second"},
    {"mtad-bounds",
     "beams,tau,tokens_per_call,tokens_per_full_block,tokens_per_full_block_bound,beam_error,ppl_p,ppl_p_"
     "bound,"
     "ratio_qp,ratio_qp_bound,ratio_mtjd,ratio_mtjd_bound,sup_log_ratio,worst_beam_error,ppl_p_bound_worst,"
     "ppl_q,ppl_joint,ppl_q_bound"},
    {"mtjd-length", "block,text,models,perplexity,low,high,not_worse_than_greedy,equation_3"},
    {"mtad-counterexamples",
     "claim,decoder,block,mixed,tokens,log_perplexity,perplexity,limit,claimed,proven"},
    {"verification", "kind,vocabulary,length,pair,drafts,method,tokens,bound,tv"},
    {"verification-counterexamples", "claim,method,drafts,quantity,value,correct"}};

Context quick() {
  const fs::path root = source_folder();
  return {
      .runs = 3,
      .quick = true,
      .stories = {.target = root / "models/spectr-stories-7m-q8_0.gguf",
                  .draft = root / "models/spectr-stories-draft-0.6m-q8_0.gguf",
                  .prompts = {"Once upon a time, there was a messy boy named Tim. Tim",
                              "Once upon a time, there was an enormous monkey. He lived high up in the "
                              "trees of the jungle.",
                              "Once upon a time, a little seed was in a hole. The sun was up, and the rain "
                              "came down. The seed wanted to bloom and"},
                  .scorer = {}}};
}

TEST(Experiments, AreExactlyTheDocumentedOnes) {
  std::set<std::string> names;
  for (const Experiment& experiment : experiments()) names.insert(std::string(experiment.name));
  std::set<std::string> documented;
  for (const auto& [name, columns] : documented_columns) documented.insert(name);
  EXPECT_EQ(names, documented);
  const std::string document = read_file(source_folder() / "docs/reproduction.md");
  for (const auto& [name, columns] : documented_columns) {
    EXPECT_TRUE(document.contains("`" + name + "`")) << name;
    EXPECT_TRUE(document.contains("`" + columns + "`")) << name << ": " << columns;
  }
}

class EveryExperiment : public testing::TestWithParam<std::string> {};

TEST_P(EveryExperiment, GivesTheDocumentedColumnsAndTheSameNumbersAgain) {
  const Experiment& experiment = *find_experiment(GetParam()).value();
  const auto report = experiment.run(quick());
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const std::string csv = report->data.csv();
  EXPECT_EQ(csv.substr(0, csv.find('\n')), documented_columns.at(GetParam()));
  EXPECT_FALSE(report->data.rows().empty());
  EXPECT_EQ(experiment.run(quick())->data.csv(), csv);
  EXPECT_FALSE(report->summary.empty());
  for (const Panel& panel : report->figure.panels) {
    EXPECT_FALSE(panel.x.label.empty() || panel.y.label.empty());
    EXPECT_GE(panel.series.size(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryExperiment, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& [name, columns] : documented_columns) names.push_back(name);
                           return names;
                         }()));

Report tiny_report() {
  DataTable data({"x", "y"});
  data.add({1.0, 0.1});
  data.add({2.0, 0.2});
  Figure figure{"it's a figure",
                {{"panel",
                  {.label = "x"},
                  {.label = "y"},
                  {{"line", Style::joined, 0, points(data, {0, 1}, "x", "y")}}}}};
  return {std::move(data), std::move(figure), {}};
}

TEST(Writing, MakesTableAndPictures) {
  const fs::path folder = fresh_folder("writing") / "deeper";
  const auto written = write(tiny_report(), "tiny", folder);
  EXPECT_EQ(read_file(folder / "tiny.csv"), "x,y\n1,0.1\n2,0.2\n");
  if (!written && written.error().message.find("not installed") != std::string::npos) {
    GTEST_SKIP() << written.error().message;
  }
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_THAT(read_file(folder / "tiny.svg"), HasSubstr("it's a figure"));
  EXPECT_EQ(read_file(folder / "tiny.png").substr(1, 3), "PNG");
}

TEST(Writing, WithoutGnuplotNamesThePackageAndKeepsTheTable) {
  const fs::path folder = fresh_folder("no_gnuplot");
  const char* const known = std::getenv("PATH");
  ASSERT_NE(known, nullptr);
  const std::string path = known;
  ASSERT_EQ(setenv("PATH", "/nowhere", 1), 0);
  const auto written = write(tiny_report(), "tiny", folder);
  setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("gnuplot-nox"));
  EXPECT_TRUE(fs::exists(folder / "tiny.csv"));
}

TEST(Writing, IntoAFileIsAnError) {
  const fs::path file = fs::path(testing::TempDir()) / "spectr_lab_file";
  std::ofstream(file) << "not a folder";
  const auto written = write(tiny_report(), "tiny", file);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr(file.string()));
}

TEST(Experiments, UnknownNamesListTheKnownOnes) {
  const auto missing = find_experiment("pareto2");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("pareto-markov"));
}

TEST(Stories, MissingFilesAreNamed) {
  Context context = quick();
  context.stories.scorer = "/nowhere/scorer.gguf";
  const auto report = find_experiment("opt-vs-uno").value()->run(context);
  ASSERT_FALSE(report.has_value());
  EXPECT_THAT(report.error().message, HasSubstr("/nowhere/scorer.gguf"));
}

TEST(ClosedForms, OfThePapersAreWhatIsComputed) {
  for (const char* name : {"spectr-bernoulli", "spectr-uniform"}) {
    const auto report = find_experiment(name).value()->run(quick());
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const Line& line : report->summary) {
      EXPECT_TRUE(line.paper == "-" || line.paper == "0" || line.ours == line.paper) << line.what;
    }
  }
}

/// The comparison is term by term: both corrections are measured at the same positions.
TEST(Stories, AreBiasedLessByOptThanByUno) {
  Context context = quick();
  context.runs = 2;
  const auto report = find_experiment("opt-vs-uno").value()->run(context);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (const std::size_t row : report->data.where({{"contest", "opt-uno"}})) {
    const double opt = report->data.number(row, "tv_first"), uno = report->data.number(row, "tv_second");
    EXPECT_GT(opt, report->data.number(row, "epsilon") < 0.1 ? 0.0 : 0.05);
    EXPECT_LE(opt, uno + 1e-12);
  }
  const std::size_t alone = report->data.where({{"contest", "target-draft"}}).front();
  EXPECT_EQ(report->data.number(alone, "tv_first"), 0.0);
  EXPECT_GT(report->data.number(alone, "tv_second"), 0.3);
}

TEST(Stories, MayBeJudgedByAnotherModel) {
  Context context = quick();
  context.runs = 2;
  context.stories.scorer = source_folder() / "models/spectr-stories-draft-0.3m-f16.gguf";
  const auto report = find_experiment("opt-vs-uno").value()->run(context);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->data.where({{"judge", "target"}}).size(), 11u);
  EXPECT_EQ(report->data.where({{"judge", "scorer"}}).size(), 11u);
}

/// If the continuations of the stories are known, similarity to them is also a judge.
TEST(Stories, AreJudgedByTheirReferencesWhereThereAreSome) {
  Context context = quick();
  context.runs = 2;
  context.stories.references = {"Tim was messy.", "", ""};
  context.stories.similarity = [](std::string_view text, std::string_view reference) {
    EXPECT_EQ(reference, "Tim was messy.");
    return static_cast<double>(text.size());
  };
  const auto report = find_experiment("opt-vs-uno").value()->run(context);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto rows = report->data.where({{"judge", "rouge-l"}});
  ASSERT_EQ(rows.size(), 11u);
  for (const std::size_t row : rows) {  // one of two prompts has no reference and counts as half a win
    EXPECT_GE(report->data.number(row, "win_rate"), 0.25);
    EXPECT_LE(report->data.number(row, "win_rate"), 0.75);
  }
}

TEST(Claims, OfThePapersHold) {
  for (const char* name : {"lower-bound", "spectrpp-cost", "spectr-naive"}) {
    const auto report = find_experiment(name).value()->run(quick());
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const Line& line : report->summary) {
      const double ours = std::strtod(line.ours.c_str(), nullptr);
      const bool holds = line.paper == "≥ 1"             ? ours >= 1.0
                         : line.paper.starts_with("≤ 1") ? ours <= 1.0
                         : line.paper == "> 0"           ? ours > 0.0
                         : line.paper == "0"             ? ours <= 1e-12
                                                         : true;
      EXPECT_TRUE(holds) << line.what << ": " << line.ours;
    }
  }
}

TEST(Summary, AlignsItsColumns) {
  const Line lines[] = {{"ε = 0.1", "12"}, {"longer", "3.5", "3"}};
  EXPECT_EQ(summary_table(lines), "           here  paper\n  ε = 0.1    12  -\n  longer    3.5  3\n");
}

}  // namespace
}  // namespace spectr::lab

#include "lab/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include "lab/figures/figures.h"
#include "spectr/base/names.h"
#include "spectr/base/utf8.h"

namespace spectr::lab {
namespace {

// To add an experiment, add a file below lab/figures/, its function in figures.h and one row here.
constexpr auto rules = std::to_array<Experiment>({
    {"plans", "acceptance of every plan against k on random, peaked and real laws", "docs/plans.md",
     plan_acceptance, true},
    {"spectr-bernoulli", "acceptance against k on Bernoulli laws: the optimum and k-Seq",
     "SpecTr, appendix B", spectr_bernoulli},
    {"spectr-uniform", "acceptance against k on uniform laws", "SpecTr, appendix B", spectr_uniform},
    {"spectr-recursive", "the Bernoulli laws with recursive rejection", "SpecTr, appendix B.3",
     spectr_recursive},
    {"spectr-naive", "repeated maximal coupling, which is not valid, beside k-Seq", "SpecTr, section 4",
     spectr_naive},
    {"spectr-bounds", "the optimum against k, its limit and its bounds",
     "SpecTr, lemmas 1 and 3, appendix C.1", spectr_bounds},
    {"spectr-tree", "prefix trees beside independent sequences of as many draws and of as many rows",
     "SpecTr, section 7 and appendix D", spectr_tree},
    {"spectrpp-5", "STr, STr+, STr++, the best nested prefixes and the optimum on 5 tokens",
     "SpecTr++, figure 1", spectrpp_5},
    {"spectrpp-10", "the same on 10 tokens", "SpecTr++, figure 2", spectrpp_10},
    {"spectrpp-subsets", "the best nested prefixes beside the best of all sequences of subsets",
     "SpecTr++, section 5", spectrpp_subsets},
    {"spectrpp-cost", "rounds of iOPT against tokens and drafts, and what solvers cost",
     "SpecTr++, theorem 3, sections 4.2 and 4.3", spectrpp_cost},
    {"rejections", "simulated rejections of speculative decoding against their expected value",
     "Yin et al., figure 2a", rejections},
    {"rejections-batch", "the same with batches of 4 and 5 sequences", "Yin et al., figure 2b",
     rejections_batch},
    {"rejections-scaling", "expected rejections against the size of the batch", "Yin et al., figure 2c",
     rejections_scaling},
    {"rejections-100", "simulated rejections at horizon 100", "Yin et al., figure 5", rejections_100},
    {"batch-improvement", "what a batch saves at a single token: closed forms and simulation",
     "Yin et al., figure 3 right", batch_improvement},
    {"lower-bound", "rejections and bias of rules that accept one draft: none is unbiased and rejects less",
     "Yin et al., theorem 2, corollary 1", lower_bound},
    {"pareto", "rejection against bias of one token: the front, OPT and UNO", "Yin et al., figure 4", pareto},
    {"pareto-markov", "the same over a whole text", "Yin et al., figure 4", pareto_markov},
    {"opt-vs-uno", "win rates of OPT over UNO on stories", "Yin et al., tables 1 and 2", opt_vs_uno, true},
    {"mtad-bounds", "perplexity and length of MTAD against the bounds",
     "MTAD, lemma 3.4, theorems 3.5 and 3.6", mtad_bounds},
    {"mtjd-length", "perplexity of exact greedy joint decoding against its length",
     "MTAD, theorem 3.2, corollary 3.3", mtjd_length},
    {"mtad-counterexamples", "chains for which two statements of MTAD are false",
     "MTAD, corollary 3.3, theorem 3.5", mtad_counterexamples},
    {"verification", "tokens per block of lossless methods, beside what no method surpasses",
     "docs/verification.md", verification},
    {"verification-counterexamples", "pairs on which three claims about verification fail",
     "HSD, GBV, HedgeSpec", verification_counterexamples},
});

}  // namespace

std::span<const Experiment> experiments() {
  return rules;
}

Result<const Experiment*> find_experiment(std::string_view name) {
  return find_named(rules, "experiment", name);
}

Result<void> write(const Report& report, std::string_view name, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return error("{}: the folder cannot be made: {}", folder.string(), failed.message());
  const std::filesystem::path stem = folder / name;
  std::ofstream csv(stem.string() + ".csv", std::ios::binary);
  csv << report.data.csv() << std::flush;
  if (!csv) return error("{}.csv cannot be written", stem.string());
  return draw(report.figure, stem);
}

std::string summary_table(std::span<const Line> lines) {
  const Line head{"", "here", "paper"};
  std::size_t what = 0, ours = utf8_characters(head.ours);
  for (const Line& line : lines) {
    what = std::max(what, utf8_characters(line.what));
    ours = std::max(ours, utf8_characters(line.ours));
  }
  const auto row = [&](const Line& line) {
    const auto pad = [](std::string_view text, std::size_t width) {
      return std::string(width - utf8_characters(text), ' ');
    };
    return "  " + line.what + pad(line.what, what) + "  " + pad(line.ours, ours) + line.ours + "  " +
           line.paper + "\n";
  };
  std::string text = row(head);
  for (const Line& line : lines) text += row(line);
  return text;
}

}  // namespace spectr::lab

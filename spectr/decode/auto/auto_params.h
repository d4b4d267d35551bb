#pragma once

#include <array>
#include <cstddef>

namespace spectr {

/// The constants of method auto, in one place so that each can be varied.
///
/// Before every block `auto` makes a choice like a bandit: it *exploits* the choice with the best forecast,
/// *explores* others by probes if the optimistic saving is worth their cost, and a *regret budget* bounds the
/// total cost against plain decoding. The first constants limit the search space (they size tables, sessions
/// and measurements); the others are tuned.
///
/// If it is known how a constant was chosen, its comment says so. Their combined effect is described in
/// docs/performance.md, based on completions with modelled costs instead of a clock (microbench/auto_bench)
/// and on timed runs.
struct AutoParams {
  // Limits of the search space.

  /// The numbers of draft sequences whose acceptance is estimated, ascending by factors of two. Between two
  /// of them it is interpolated linearly in their logarithm.
  static constexpr std::array<std::size_t, 4> drafts = {1, 2, 4, 8};
  /// Maximum length of a model's draft sequence: the number of positions whose acceptance is estimated.
  static constexpr std::size_t max_length = 12;
  /// Lower bounds of the levels of a draft model's confidence (its largest probability in a context,
  /// unwarped). The acceptance is estimated per level.
  static constexpr std::array<double, 6> confidences = {0.0, 0.3, 0.55, 0.72, 0.86, 0.95};
  /// Maximum tree size in rows of a target pass, including the root.
  static constexpr std::size_t max_rows = 32;
  /// Maximum number of matching tokens that is considered, for drafts by n-grams.
  static constexpr std::size_t max_ngram_order = 8;
  /// Maximum length of drafts by n-grams.
  static constexpr std::size_t max_ngram_length = 15;
  /// Number of contexts at the end of a prompt that a warm-up compares. More contexts add little information,
  /// and each one costs time.
  static constexpr std::size_t warm_up_contexts = 4;

  // Estimates of the target's acceptance of a draft model's tokens.

  /// Initial share of contexts at each level of confidence.
  std::array<double, confidences.size()> initial_confidences = {0.07, 0.17, 0.15, 0.13, 0.14, 0.34};
  /// Initial acceptance of one draft at each level. (Drafts of published pairs are accepted about as often as
  /// their model is confident, and a little more often at low confidence.)
  std::array<double, confidences.size()> initial_acceptance = {0.35, 0.5, 0.65, 0.76, 0.87, 0.98};
  /// Initial rejection probability of several drafts, by `drafts`, relative to that of one draft.
  std::array<double, drafts.size()> initial_missed = {1.0, 0.73, 0.53, 0.4};
  /// Weight of that guess in contexts. One is enough: comparing distributions gives the acceptance exactly,
  /// and completions are short.
  std::size_t initial_weight = 1;
  /// Weight of a guess from earlier completions.
  std::size_t learned_weight = 8;
  /// Minimum weight of a new comparison of distributions. Acceptance varies much between contexts: the last
  /// thirty compared ones dominate (for several drafts, whose numbers rotate, the last thirty of each
  /// number).
  double min_comparison_weight = 0.03;
  /// Weight, in contexts, of the guess that contexts after the first position of a block are like those at
  /// the first.
  double later_prior = 8.0;
  /// Factor by which the weight of a context after the first position, and of that guess, decays with every
  /// later one: the last sixty dominate.
  double context_decay = 1.0 - 1.0 / 64.0;
  /// Minimum weight of a newly counted block (survivors, merging): the last dozen blocks dominate.
  double min_count_weight = 0.12;
  /// Initial share of the other drafts that equal the accepted one.
  double initial_surviving = 0.4;
  /// Initial nodes per draw, by `drafts`.
  std::array<double, drafts.size()> initial_distinct = {1.0, 0.85, 0.75, 0.65};
  /// Number of initial blocks in which all distributions are compared, for every number of drafts, because
  /// little is known yet.
  std::size_t always_compared = 8;
  /// Share of the later blocks whose distributions are compared. Comparing takes time: with several drafts,
  /// many passes over the distributions.
  double compared_share = 0.25;

  // Estimates for n-grams.

  /// Initial share of earlier matches with the same continuation.
  double initial_ngram_share = 0.3;
  /// Minimum weight of a new match: the last dozen or so dominate.
  double min_ngram_weight = 0.08;

  // Exploitation: the choice with the best forecast.

  /// Required ratio of the forecast rate to that of plain decoding. Estimates are inexact, and the best of
  /// many is likely to be overestimated.
  double margin = 1.08;
  /// Number of tokens of the sequence that a draft model processes before it drafts if it also drafted the
  /// last block.
  double read_anyway = 2.0;
  /// The cost of passes is recomputed only after this many tokens, because evaluating all choices takes time.
  std::size_t depth_step = 64;

  // Exploration: drafting to learn how good drafts are.

  /// Optimism: the assumed probability that a probe finds perfect drafts. A probe must be worth its cost at
  /// this share of the saving of perfect drafts.
  double optimism = 0.05;
  /// Number of blocks of the first probe. One context gives little information, so a probe takes several
  /// blocks; the first takes more.
  std::size_t first_probe = 8;
  /// Number of blocks of every later probe.
  std::size_t later_probe = 4;
  /// Number of blocks of the first probe that one warm-up context replaces.
  std::size_t spared_by_context = 1;
  /// Number of blocks from the last drafts to the next probe.
  std::size_t first_gap = 64;
  /// Factor by which each gap exceeds the previous one.
  std::size_t gap_growth = 4;

  // The regret budget: the maximum total cost of drafts in a completion (see RegretBudget). With these values
  // a useless draft model costs at most 3 % of a completion, or one and a quarter tokens; without the budget
  // it cost completions of 8 to 64 tokens up to 15 %.

  /// Share of a completion's plain decoding time that may be lost.
  double regret_share = 0.03;
  /// Time that may be lost in a short completion, in plain tokens, if it exceeds that
  /// share.
  double min_regret = 1.25;
  /// Share of the remaining budget that one block may risk: early attempts that lose everything would leave
  /// nothing for later ones.
  double block_share = 0.3;
};

}  // namespace spectr

#pragma once

#include <array>
#include <cstddef>

namespace spectr {

/// The constants of method auto, all in one place, so that each can be varied.
///
/// Before every block `auto` chooses as a bandit does: it *exploits* the choice that promises most, it
/// *explores* others by probes where the optimistic saving is worth their price, and a *regret budget* bounds
/// what all of that may cost against plain decoding. The first constants limit what is considered at all
/// (they size tables, sessions and measurements); the others are tuned.
///
/// Where it is known how a constant was chosen, its comment says so. What they bring together stands in
/// docs/performance.md, from completions charged by cost curves instead of a clock (microbench/auto_bench)
/// and from timed runs.
struct AutoParams {
  // What is considered.

  /// The numbers of draft sequences whose acceptance is estimated, ascending, each twice the one before:
  /// between two of them it is interpolated linearly in their logarithm.
  static constexpr std::array<std::size_t, 4> drafts = {1, 2, 4, 8};
  /// The longest draft sequence of a model, hence the number of positions whose acceptance is estimated.
  static constexpr std::size_t max_length = 12;
  /// Where levels of a draft model's confidence begin (its largest probability in a context, unwarped):
  /// what is accepted is estimated for each of them.
  static constexpr std::array<double, 6> confidences = {0.0, 0.3, 0.55, 0.72, 0.86, 0.95};
  /// The largest tree in rows of a target pass, the root included.
  static constexpr std::size_t max_rows = 32;
  /// The most tokens whose agreement with an earlier place counts, for drafts by n-grams.
  static constexpr std::size_t max_ngram_order = 8;
  /// The longest draft by n-grams.
  static constexpr std::size_t max_ngram_length = 15;
  /// The last contexts of a prompt that a warm-up compares. More say little more, and every one has its
  /// price.
  static constexpr std::size_t warm_up_contexts = 4;

  // The estimate of what the target accepts of a draft model's tokens.

  /// The first guess of the share of contexts at each level of confidence.
  std::array<double, confidences.size()> initial_confidences = {0.07, 0.17, 0.15, 0.13, 0.14, 0.34};
  /// The first guess of what is accepted of one draft there. (Drafts of published pairs are accepted about as
  /// often as their model is confident, a little more often where it is not.)
  std::array<double, confidences.size()> initial_acceptance = {0.35, 0.5, 0.65, 0.76, 0.87, 0.98};
  /// The first guess of what several drafts miss, by `drafts`, beside what one misses.
  std::array<double, drafts.size()> initial_missed = {1.0, 0.73, 0.53, 0.4};
  /// The weight of that guess in contexts. One is enough: distributions tell what is accepted exactly, and
  /// completions are short.
  std::size_t initial_weight = 1;
  /// The same of what earlier completions have taught.
  std::size_t learned_weight = 8;
  /// The least weight of a new comparison of distributions. Acceptance differs much from context to context:
  /// the last thirty that were compared decide (of several drafts, which take turns, the last thirty in
  /// turn).
  double min_comparison_weight = 0.03;
  /// The weight, in contexts, of the guess that contexts behind the first position of a block are as those at
  /// it.
  double later_prior = 8.0;
  /// What remains of the weight of a context behind the first position, and of that guess, at every later
  /// one: the last sixty decide.
  double context_decay = 1.0 - 1.0 / 64.0;
  /// The least weight of a newly counted block (survivors, merging): the last dozen blocks decide.
  double min_count_weight = 0.12;
  /// The first guess of the share of the other drafts that equal the accepted one.
  double initial_surviving = 0.4;
  /// The first guess of the nodes per draw, by `drafts`.
  std::array<double, drafts.size()> initial_distinct = {1.0, 0.85, 0.75, 0.65};
  /// So many blocks have all their distributions compared, for every number of drafts, because little is
  /// known yet.
  std::size_t always_compared = 8;
  /// The share of the later blocks whose distributions are compared. Comparing takes time, with several
  /// drafts many passes over the distributions.
  double compared_share = 0.25;

  // The estimate of what n-grams bring.

  /// The first guess of the share of earlier places that go on alike.
  double initial_ngram_share = 0.3;
  /// The least weight of a new place: the last dozen or so decide.
  double min_ngram_weight = 0.08;

  // Exploitation: the choice that promises most.

  /// Drafting has to promise so many times the rate of plain decoding: estimates are not exact, and the best
  /// of many tends to be one that is too high.
  double margin = 1.08;
  /// The tokens of the sequence that a draft model reads before it drafts where it also drafted the last
  /// block.
  double read_anyway = 2.0;
  /// What passes cost is reckoned anew after so many tokens only, because weighing all choices takes time.
  std::size_t depth_step = 64;

  // Exploration: drafting to see what drafts are worth.

  /// The optimism: so often a probe finds that perfect drafts can be had. A probe has to be worth its price
  /// by that share of what perfect drafts would save.
  double optimism = 0.05;
  /// The blocks of the first probe. One takes several blocks, because one context says little; the first
  /// takes more.
  std::size_t first_probe = 8;
  /// The blocks of every later probe.
  std::size_t later_probe = 4;
  /// The blocks of the first probe that a context of the warm-up spares: blocks cost more than they tell.
  std::size_t spared_by_context = 1;
  /// The blocks from the last drafts to the next probe.
  std::size_t first_gap = 64;
  /// The factor by which every later gap is longer than the one before.
  std::size_t gap_growth = 4;

  // The regret budget: what drafts may cost a completion in all (see RegretBudget). With these values a draft
  // model that knows nothing costs 3 % of a completion at most, or one and a quarter tokens; without the
  // budget it cost completions of 8 to 64 tokens up to 15 %.

  /// The share of a completion's plain time that may be lost.
  double regret_share = 0.03;
  /// The time that may be lost of a short completion, in plain tokens: it holds where it is more than the
  /// share.
  double min_regret = 1.25;
  /// The share of what may still be lost that one block may risk: first tries that lose everything leave
  /// nothing for later ones.
  double block_share = 0.3;
};

}  // namespace spectr

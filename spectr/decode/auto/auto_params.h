#pragma once

#include <array>
#include <cstddef>

namespace spectr {

/// The constants of method auto, in one place so that each can be varied. microbench/auto_bench measures
/// their combined effect, with modelled costs instead of a clock.
struct AutoParams {
  // Limits of the search space. They size tables, sessions and measurements.

  /// The numbers of draft sequences K, and the largest of them for most draft models.
  static constexpr std::array<std::size_t, 7> drafts = {1, 2, 3, 4, 6, 8, 16};
  static constexpr std::size_t max_drafts = 8;
  /// Maximum length L of a model's draft sequences.
  static constexpr std::size_t max_length = 12;
  /// Maximum tree size in rows of a target pass, including the root.
  static constexpr std::size_t max_rows = 32;
  /// Both limits for drafters whose first pass drafts a whole block: more drafts cost only target rows.
  static constexpr std::size_t max_block_drafts = 16, max_block_rows = 64;
  /// Bounds of the reach below which drafts stop (see TreeDrafter). With bound 0 they never stop.
  static constexpr std::array<double, 7> min_reaches = {0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9};
  /// Number of positions at the end of a sequence at which a look compares the models. It is also the number
  /// of blocks before the first look, and from a model's last drafts to its next look.
  static constexpr std::size_t look_positions = 8;

  // Estimates from earlier positions.

  /// Number of positions after which the weight of a position has decayed to 1 / e.
  double memory = 64.0;
  /// Total weight of the guessed positions from which a sequence starts if nothing is known, in positions.
  double guess_weight = 2.0;
  /// Maximum weight, after the models have been compared at the end of a prompt, of all positions up to
  /// there.
  double prompt_weight = 4.0;
  /// Number of drafted blocks of which one is compared, once `memory` positions have been seen. Comparing
  /// takes time.
  std::size_t compared_blocks = 4;

  // The choice.

  /// Required ratio of the forecast rate to that of plain decoding. Estimates are inexact, and the best of
  /// many is likely to be overestimated.
  double margin = 1.05;
  /// Number of tokens of the sequence that a draft model processes before it drafts if it also drafted the
  /// last block.
  double read_anyway = 2.0;
  /// Optimism: the assumed probability that a look finds perfect drafts. A look must be worth its cost at
  /// this share of the saving of perfect drafts.
  double optimism = 0.05;
  /// Factor by which the number of blocks grows from one look at a model to the next, if it does not draft in
  /// between.
  std::size_t look_growth = 4;

  // The regret budget: the maximum total cost of drafts in a completion (see RegretBudget).

  /// Share of a completion's plain decoding time that may be lost.
  double regret_share = 0.03;
  /// Time that may be lost in a short completion, in plain tokens, if it exceeds that share.
  double min_regret = 3.0;
  /// Share of the remaining budget that one block may risk: early attempts that lose everything would leave
  /// nothing for later ones.
  double block_share = 0.5;
};

}  // namespace spectr

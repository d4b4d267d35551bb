#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "spectr/decode/auto/drafted_position.h"
#include "spectr/decode/drafter.h"

namespace spectr {

/// The seconds of the passes of a block by their rows, at the current depth.
struct BlockTimes {
  static constexpr std::size_t max_rows = 64;
  using ByRows = std::array<double, max_rows + 1>;  ///< index 0 is unused

  double block = 0.0;  ///< the target's pass of one row, the draft's first pass and their alternation
  ByRows target = {};  ///< a target pass
  ByRows draft = {};   ///< a later pass of the draft model, with the distributions of its rows

  /// Returns the seconds of a pass, linear between whole numbers of rows and beyond max_rows.
  static double at(const ByRows& seconds, double rows);
};

/// A way to draft: a shape, and the bound of the reach at which drafts stop before its length (see
/// TreeDrafter).
struct DraftSetting {
  DraftShape shape;
  double min_reach = 0.0;  ///< with 0 they never stop
};

/// Computes the expected tokens and seconds of the blocks that every setting would have had in a sequence
/// whose tokens and distributions are known.
///
/// Theorem. A lossless method generates sequences from the target's distribution, whatever its setting. Let
/// ρ_t be the probability that a block of a setting begins at position t, given the sequence, and s_i(t) the
/// probability that a block that begins there accepts the first i tokens after t. With s_0 = 1, and L the
/// length at which its drafts stop after t, the block emits ℓ tokens with probability P(ℓ | t) = s_{ℓ−1} −
/// s_ℓ for ℓ ≤ L, and s_L for ℓ = L + 1. Hence
///
///   ρ_{t+ℓ} += ρ_t P(ℓ | t),
///
/// and Σ_t ρ_t is the expected number of blocks given the sequence. Its mean over sequences is the expected
/// number of target passes. *Why:* the emitted tokens are independent of where blocks begin, because each
/// block has the target's distribution given the sequence before it. Within a block the survivors are a
/// Markov chain given the sequence (survivors.h).
///
/// One sequence thus prices all settings, and none has to be tried. The weight of a position decays with its
/// age. The continuations of rejected drafts are unknown: their passes are charged as if they had continued
/// like the sequence, and K drafts at a position with merging m count as draws from 1 / m equally likely
/// tokens. The seconds of a level are the mean over the blocks whose level lies within the sequence, because
/// the last blocks extend beyond its end.
///
/// What a trained drafter drafts depends on where its block begins: a position is known at the level at which
/// it was drafted or looked at. Every level then takes one of its own latest positions in turn or, until it
/// has enough, of those of other levels. The theorem does not cover that.
///
/// Cost of see(): O(Σ over settings of L). Not thread-safe.
class Replay {
 public:
  /// The settings that share a chain of survivors: one K and one trunk, all lengths up to `max_length`, all
  /// bounds.
  struct Family {
    std::size_t drafts = 1;
    std::size_t trunk = 0;
    std::size_t max_length = 1;  ///< at most `longest`
  };
  static constexpr std::size_t longest = 12;

  /// `bounds` are those of the reach. The weight of a position decays to 1 / e after `memory` positions.
  /// `by_level`: drafts depend on where their block begins.
  Replay(std::span<const Family> families, std::span<const double> bounds, double memory,
         bool by_level = false);

  /// Adds the next position of the sequence. Passes at this position take these times. `level` is the one at
  /// which the position was drafted, from 1; 0: none. It is read only if drafts depend on where their block
  /// begins.
  void see(const DraftedPosition& position, const BlockTimes& times, std::size_t level = 0);
  /// Reduces the total weight of the positions seen so far to this number of positions, if it is larger.
  /// Requires: a position has been seen.
  void limit_weight(double positions);

  std::span<const DraftSetting> settings() const { return settings_; }
  /// Returns the expected tokens of a block of a setting. Requires: a position has been seen.
  double tokens(std::size_t setting) const { return positions_ / levels_[setting][0].blocks; }
  /// Returns the expected seconds of the passes of such a block. Requires: a position has been seen.
  double seconds(std::size_t setting) const;

 private:
  /// The state of a family's blocks that begin at one position.
  struct Start {
    std::array<double, Survivors::max_drafts> drafts = {};  // P(the block continues with n + 1 drafts)
    double survives = 1.0;                                  // their sum
    double merged = 1.0;                                    // P(two of its draft sequences are equal so far)
    double reach = 1.0, last_reach = 1.0;                   // of the next level, and of the one before
    double last_level = 1.0;                                // nodes of the last level
    double nodes = 0.0;                                     // of all levels

    void advance(const DraftedPosition& position, std::size_t level, const Family& family);
  };
  /// The weights of the blocks that have reached a level, drafted or not, and of the seconds of their drafts
  /// there. Level 0 has the seconds of all blocks.
  struct Level {
    double blocks = 0.0, seconds = 0.0;
  };
  static constexpr std::size_t ages = longest + 1;
  using ByAge = std::array<double, ages>;
  /// The latest positions of one level, and then those of others.
  struct History {
    std::array<DraftedPosition, 8> positions = {};
    std::size_t own = 0, borrowed = 0;  // number of positions so far

    void add(const DraftedPosition& position, bool is_own);
    const DraftedPosition& at(std::size_t turn) const { return positions[turn % positions.size()]; }
  };

  void rescale();
  void see(const Family& family, std::size_t first_setting, std::span<Start> starts,
           const DraftedPosition& position, const BlockTimes& times);
  std::size_t place(std::size_t age) const { return (begun_ + ages - age) % ages; }

  std::vector<Family> families_;
  std::vector<double> bounds_;
  double decay_;
  std::vector<DraftSetting> settings_;
  std::vector<std::array<Level, ages>> levels_;  // by setting and level
  std::vector<ByAge> begins_;                    // by setting and place: ρ of the last positions
  std::vector<double> next_;                     // by setting: ρ of the next position
  std::vector<std::array<Start, ages>> starts_;  // by family and place
  std::vector<History> histories_;               // by level − 1; empty: drafts of all levels are alike
  std::size_t turn_ = 0;                         // number of positions
  std::size_t begun_ = 0;                        // the place of the last position
  std::size_t seen_ = 0;                         // number of places in use
  double weight_ = 1.0;                          // of the last position; grows instead of decaying the others
  double positions_ = 0.0;                       // total weight of the positions
};

}  // namespace spectr

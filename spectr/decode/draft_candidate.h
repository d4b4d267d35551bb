#pragma once

#include <cstddef>

#include "spectr/decode/acceptance_estimate.h"
#include "spectr/decode/prospects.h"

namespace spectr {

/// One draft model, as `auto` sees it: what its drafts promise in the text at hand,
///
///   tokens / (Σ draft passes + target pass of 1 + nodes rows + alternation + laws and plans),
///
/// what it has missed of that text, and when it drafts only to be looked at.
class DraftCandidate {
 public:
  /// Longest sequences, and largest tree, that are considered.
  static constexpr std::size_t most_length = AcceptanceEstimate::positions;
  static constexpr std::size_t most_rows = 32;

  explicit DraftCandidate(std::size_t model) : model_(model) {}

  /// Weighs what it can do for a block. The others below speak of that block.
  void consider(const Prospects& prospects, const BlockStart& start);

  /// Seconds of a block of sequences of that shape, which have so many different nodes and bring so many
  /// tokens.
  double seconds(const Prospects& prospects, DraftShape shape, double nodes, double tokens) const;
  /// What promises most, or plain decoding.
  const Way& best() const { return best_; }
  /// Seconds that the rest of the text takes in that way, what the model has to read first included.
  double rest_of_text(const Way& way) const;
  /// Whether it shall draft to be looked at, though `chosen` seems better: its turn has come, and a twentieth
  /// of what perfect drafts would save is worth the look and what it has missed.
  bool wants_look(const Way& chosen);
  /// How it drafts to be looked at.
  Way look() const { return best_.origin == DraftOrigin::model ? best_ : single_; }

  /// Whether it may save more than it takes to read the prompt and to look at its end: by what is expected of
  /// it, or by a twentieth of what perfect drafts would save.
  bool is_worth_reading(const Prospects& prospects) const;
  /// It reads the prompt, but for its last token, and learns from the two models' laws at nodes 0 to
  /// contexts − 1 of a Rehearsal. Returns the seconds that a single draft at each of them would have won, by
  /// the block that was considered last; below 0: lost.
  Result<double> rehearse(const Way& plain, NodeId contexts, NodeLaws& draft, NodeLaws& target);

  /// It drafts the block, because it promises most.
  void drafts_as_best();
  /// It drafts the block to be looked at, though another way promises more.
  void drafts_for_a_look();
  /// Learns what became of its drafts.
  Result<void> observe(const Draft& draft, const Verdict& verdict, NodeLaws& target);

 private:
  /// K sequences of L tokens, which bring so many tokens.
  Way bringing(const Prospects& prospects, double tokens, std::size_t K, std::size_t L) const;
  /// Whether the block may take that way even if no two of its sequences begin alike.
  bool is_affordable(const Prospects& prospects, const Way& way) const;
  void weigh(const Prospects& prospects, std::size_t left);
  /// Seconds that perfect drafts would save of the rest of the text, times how seldom they are to be had.
  double hope(const Way& chosen) const;
  double reading_seconds() const;
  void drafts();

  // A look takes several blocks, because one context says little; the first one more. A context of the prompt
  // spares two of its blocks: they cost more than they say.
  static constexpr std::size_t first_look = 8, later_look = 4, spared = 2;
  // Blocks from the last drafts to the next look, and by how much longer every later gap is.
  static constexpr std::size_t first_gap = 64, growth = 4;

  std::size_t model_;
  AcceptanceEstimate estimate_;
  // The block, and what it is based on.
  const DraftCosts* costs_ = nullptr;
  std::size_t block_ = 0;
  std::size_t text_ = 0;  // its length, of which the model has read so much
  std::size_t read_ = 0;
  std::size_t left_ = 0;
  // What it promises with so many tokens left behind such a text, and so much to stake, until more has been
  // observed.
  struct Situation {
    std::size_t left = 0;
    std::size_t text = 0;
    double stake = 0.0;
    bool operator==(const Situation&) const = default;
  };
  Situation known_for_;
  Way best_, perfect_, single_;
  bool affords_look_ = false;
  // Blocks that it has still to draft to be looked at, the block from which on it does so again, and how long
  // it then waits.
  std::size_t looks_ = first_look;
  std::size_t next_look_ = 0;
  std::size_t gap_ = first_gap;
};

}  // namespace spectr

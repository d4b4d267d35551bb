#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "spectr/base/token.h"

namespace spectr {

/// How often what followed the end of a text before follows it again: how many drafts from the text itself
/// (NgramDrafter) the target accepts. Known without drafting any, since every token of the text has the
/// target's law, which is what such a draft is accepted by.
class NgramEstimate {
 public:
  /// Most tokens whose agreement counts; shares are told apart by their number, because places that agree in
  /// many tokens tend to go on alike.
  static constexpr std::size_t longest = 8;
  /// Longest draft that is considered.
  static constexpr std::size_t positions = 15;

  /// Takes note of what the text has gained since the last call; nothing is learned of the first one.
  /// Requires: a text that begins with the last one.
  void see(std::span<const Token> text);

  /// Expected tokens of a block behind the text by the number of drafts, 0 at first; the one after the last
  /// draft included.
  std::array<double, positions + 1> tokens() const;

 private:
  void look_up(std::span<const Token> text);

  /// Of the places where so many tokens agree: the share that goes on alike, and how many have been seen.
  struct Repeats {
    double share = 0.3;  // until something has been seen
    std::size_t seen = 0;
  };

  std::size_t length_ = 0;                // of the text
  std::size_t agree_ = 0;                 // tokens at its end that stand earlier too, at most `longest`
  Token expected_ = 0;                    // what follows there
  std::array<Repeats, longest> repeats_;  // [agree − 1]
};

}  // namespace spectr

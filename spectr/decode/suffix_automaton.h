#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "spectr/base/token.h"

namespace spectr {

/// The substrings of a token sequence with the numbers of their occurrences: a suffix automaton (Blumer et
/// al., 1985) that grows with its sequence.
///
/// A state is a class of substrings that end at the same places, so they have the same number of occurrences
/// and the same continuations. Its substrings are the endings, of lengths length(link(s)) + 1 to length(s),
/// of its longest one; the link of s is the state of the next shorter ending. Occurrences are counted for
/// substrings of up to max_match + 1 tokens: every new token counts at the states of the endings of its
/// prefix that are so short, at most max_match + 1 of them.
///
/// Cost: append() amortised O(1) in the length of the sequence, about 100 bytes a token. Not thread-safe; the
/// const functions may be called concurrently.
class SuffixAutomaton {
 public:
  using State = std::uint32_t;
  static constexpr State root = 0;
  /// The longest substring that is matched.
  static constexpr std::size_t max_match = 32;
  /// The longest sequence.
  static constexpr std::size_t max_tokens = std::size_t{1} << 30;

  /// A substring: the ending of that length of a state's longest substring. Length 0: nothing matches.
  struct Match {
    State state = root;
    std::size_t length = 0;
    bool operator==(const Match&) const = default;
  };

  SuffixAutomaton() { clear(); }

  /// Appends a token to the sequence. Requires: fewer than max_tokens tokens.
  void append(Token token);
  /// Plans memory for a sequence of so many tokens.
  void reserve(std::size_t tokens);
  /// Makes the sequence empty.
  void clear();
  /// Tokens of the sequence.
  std::size_t size() const { return size_; }

  /// Returns the longest ending, of at most max_match tokens, of a text and `token` that is a substring here,
  /// if `match` is that of the text. Cost: amortised O(1) along a text.
  Match advance(Match match, Token token) const;
  /// Returns the longest ending, of at most max_match tokens, of the sequence that also occurs earlier in it.
  /// O(1).
  Match repeated_end() const;

  State link(State state) const { return states_[state].link; }
  std::size_t length(State state) const { return states_[state].length; }
  /// The number of different tokens that follow the substrings of a state.
  std::size_t continuations(State state) const { return states_[state].edges; }
  /// Calls visit(token, count) for every token that follows the substrings of a state, with the number of
  /// places where it does. Requires: the state of a Match, or one on its chain of links.
  template <class Visit>
  void for_each_continuation(State state, Visit visit) const {
    for (std::uint32_t edge = states_[state].first; edge != none; edge = edges_[edge].next)
      visit(edges_[edge].token, states_[edges_[edge].to].count);
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Node {
    std::uint32_t length, link, first, edges, count;
  };
  struct Edge {
    State from;
    Token token;
    State to;
    std::uint32_t next;  // of the same state
  };

  State add_state(std::size_t length, State link, std::uint32_t count);
  /// The edge of a state for a token, or `none`.
  std::uint32_t find(State from, Token token) const;
  void add_edge(State from, Token token, State to);
  void grow_table(std::size_t edges);
  std::size_t slot_of(State from, Token token) const;
  /// Shortens a match to at most so many tokens.
  Match shortened(Match match, std::size_t max) const;

  std::size_t size_ = 0;
  std::vector<Node> states_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> table_;  // open addressing by state and token: an edge or `none`
  State last_ = root;                 // of the whole sequence
  Match end_;                         // its ending of max_match + 1 tokens, or all of it
};

}  // namespace spectr

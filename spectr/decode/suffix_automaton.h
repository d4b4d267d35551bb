#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "spectr/base/token.h"

namespace spectr {

/// The substrings of a token sequence with their numbers of occurrences: a suffix automaton (Blumer et al.,
/// 1985) that grows with its sequence.
///
/// A state is a class of substrings that end at the same positions, so they have the same number of
/// occurrences and the same continuations. They are the suffixes, of lengths length(link(s)) + 1 to
/// length(s), of the state's longest substring; the link of s is the state of the next shorter suffix.
/// Occurrences are counted for substrings of up to max_match + 1 tokens: every new token increments the
/// states of the suffixes of its prefix with at most that length, which are at most max_match + 1 states.
///
/// Cost: append() takes amortised O(1) in the length of the sequence; about 100 bytes per token. Not
/// thread-safe, but const functions can be called concurrently.
class SuffixAutomaton {
 public:
  using State = std::uint32_t;
  static constexpr State root = 0;
  /// Maximum length of a matched substring.
  static constexpr std::size_t max_match = 32;
  /// Maximum length of the sequence.
  static constexpr std::size_t max_tokens = std::size_t{1} << 30;

  /// A substring: the suffix with this length of a state's longest substring. Length 0: no match.
  struct Match {
    State state = root;
    std::size_t length = 0;
    bool operator==(const Match&) const = default;
  };

  SuffixAutomaton() { clear(); }

  /// Appends a token to the sequence. Requires: fewer than max_tokens tokens.
  void append(Token token);
  /// Reserves memory for a sequence of `tokens` tokens.
  void reserve(std::size_t tokens);
  /// Makes the sequence empty.
  void clear();
  /// Returns the number of tokens of the sequence.
  std::size_t size() const { return size_; }

  /// Returns the longest suffix, of at most max_match tokens, of a text and `token` that is a substring here,
  /// if `match` is that of the text. Cost: amortised O(1) along a text.
  Match advance(Match match, Token token) const;
  /// Returns the longest suffix, of at most max_match tokens, of the sequence that also occurs earlier in it.
  /// O(1).
  Match repeated_end() const;

  State link(State state) const { return states_[state].link; }
  std::size_t length(State state) const { return states_[state].length; }
  /// Returns the number of different tokens that follow the substrings of a state.
  std::size_t continuations(State state) const { return states_[state].edges; }
  /// Calls visit(token, count) for every token that follows the substrings of a state, with the number of its
  /// occurrences there. Requires: the state of a Match, or one on its chain of links.
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
    std::uint32_t next;  // next edge of the same state
  };

  State add_state(std::size_t length, State link, std::uint32_t count);
  /// Returns the edge of a state for a token, or `none`.
  std::uint32_t find(State from, Token token) const;
  void add_edge(State from, Token token, State to);
  void grow_table(std::size_t edges);
  std::size_t slot_of(State from, Token token) const;
  /// Shortens a match to at most `max` tokens.
  Match shortened(Match match, std::size_t max) const;

  std::size_t size_ = 0;
  std::vector<Node> states_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> table_;  // open addressing by state and token: an edge or `none`
  State last_ = root;                 // state of the whole sequence
  Match end_;                         // its suffix of max_match + 1 tokens, or all of it
};

}  // namespace spectr

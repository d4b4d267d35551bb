#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"

namespace spectr {

/// Where a token stands in an ascending list of `size` tokens, nullopt where it does not. No list stands for
/// the tokens 0 … size − 1.
inline std::optional<std::size_t> find_token(std::span<const Token> list, std::size_t size, Token token) {
  if (list.empty()) {
    if (token < 0 || static_cast<std::size_t>(token) >= size) return std::nullopt;
    return static_cast<std::size_t>(token);
  }
  const auto at = std::ranges::lower_bound(list, token);
  if (at == list.end() || *at != token) return std::nullopt;
  return static_cast<std::size_t>(at - list.begin());
}

/// A probability distribution on a vocabulary of V tokens, dense (one number per token) or short (a list of
/// tokens in ascending order, as top-k and top-p leave it). Finite, non-negative, sums to 1 up to rounding;
/// holds by construction. The same object is sampled from and verified against.
class Distribution : public RecycledObject {
 public:
  /// The distribution with these probabilities of tokens 0 … V−1. A sum within 1e-7 of 1 is normalised;
  /// otherwise, and for a negative or non-finite entry, an error that names the entry: "q[3] is negative:
  /// -0.1".
  static Result<Distribution> dense(const std::vector<double>& probabilities, std::string_view name = "law");

  /// The distribution proportional to weights over tokens 0 … V−1.
  /// Requires: finite, ≥ 0, positive finite sum.
  static Distribution from_weights(RecycledVector<double> weights);
  /// The same where their sum is known, up to rounding: saves the pass that finds it, and does not look at
  /// them.
  static Distribution from_weights(RecycledVector<double> weights, double total);
  /// The same, of a copy.
  static Distribution from_weights(std::span<const double> weights);

  /// The distribution proportional to weights[i] at tokens[i], 0 elsewhere. Entries of weight 0 are dropped.
  /// Requires: as above, tokens strictly ascending within 0 … vocabulary−1.
  static Distribution from_weights(RecycledVector<Token> tokens, RecycledVector<double> weights,
                                   std::size_t vocabulary);
  /// The same, of copies.
  static Distribution from_weights(std::span<const Token> tokens, std::span<const double> weights,
                                   std::size_t vocabulary);

  /// All mass on one token.
  static Distribution point(Token token, std::size_t vocabulary);

  std::size_t vocabulary() const { return vocabulary_; }
  bool is_dense() const { return tokens_.empty(); }
  /// Entries that are stored: V when dense, else the length of the list.
  std::size_t size() const { return probabilities_.size(); }
  Token token(std::size_t i) const { return is_dense() ? static_cast<Token>(i) : tokens_[i]; }
  /// The listed tokens, ascending; empty when dense.
  std::span<const Token> tokens() const { return tokens_; }
  /// Probability of token(i), for i < size().
  std::span<const double> probabilities() const { return probabilities_; }
  /// The i < size() with token(i) = token, nullopt outside the list and outside the vocabulary. O(1) dense,
  /// O(log size) short.
  std::optional<std::size_t> find(Token token) const { return find_token(tokens_, size(), token); }
  /// Probability of any token, 0 where find() finds none.
  double operator[](Token token) const {
    const std::optional<std::size_t> i = find(token);
    return i ? probabilities_[*i] : 0.0;
  }

  Token draw(Choices& choices) const { return token(choices.draw(probabilities_)); }

 private:
  Distribution(RecycledVector<Token> tokens, RecycledVector<double> weights, double total,
               std::size_t vocabulary);

  RecycledVector<Token> tokens_;
  RecycledVector<double> probabilities_;
  std::size_t vocabulary_ = 0;
};

/// TV(p, q) = ½ Σ |p − q|. Requires: one vocabulary.
double total_variation(const Distribution& p, const Distribution& q);

}  // namespace spectr

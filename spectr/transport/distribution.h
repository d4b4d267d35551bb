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

/// Returns the index of a token in an ascending list of `size` tokens, or nullopt if it is absent. An empty
/// list represents the tokens 0 … size − 1.
inline std::optional<std::size_t> find_token(std::span<const Token> list, std::size_t size, Token token) {
  if (list.empty()) {
    if (token < 0 || static_cast<std::size_t>(token) >= size) return std::nullopt;
    return static_cast<std::size_t>(token);
  }
  const auto at = std::ranges::lower_bound(list, token);
  if (at == list.end() || *at != token) return std::nullopt;
  return static_cast<std::size_t>(at - list.begin());
}

/// A probability distribution on a vocabulary of V tokens, dense (one number per token) or short (an
/// ascending list of tokens, as top-k and top-p produce). By construction, probabilities are finite,
/// non-negative and sum to 1 up to rounding. The same object is sampled from and verified against.
class Distribution : public RecycledObject {
 public:
  /// Returns the distribution with these probabilities of tokens 0 … V−1. A sum within 1e-7 of 1 is
  /// normalised. Fails for any other sum, and for a negative or non-finite entry, naming the entry: "q[3] is
  /// negative: -0.1".
  static Result<Distribution> dense(const std::vector<double>& probabilities, std::string_view name = "law");

  /// Returns the distribution proportional to weights over tokens 0 … V−1.
  /// Requires: finite, ≥ 0, positive finite sum.
  static Distribution from_weights(RecycledVector<double> weights);
  /// Like above, with the sum of the weights known up to rounding. Saves the pass that computes the sum, and
  /// does not check the weights.
  static Distribution from_weights(RecycledVector<double> weights, double total);
  /// Like above, for a copy of the weights.
  static Distribution from_weights(std::span<const double> weights);

  /// Returns the distribution proportional to weights[i] at tokens[i] and 0 elsewhere. Drops entries of
  /// weight 0. Requires: weights as above, tokens strictly ascending within 0 … vocabulary−1.
  static Distribution from_weights(RecycledVector<Token> tokens, RecycledVector<double> weights,
                                   std::size_t vocabulary);
  /// Like above, for copies.
  static Distribution from_weights(std::span<const Token> tokens, std::span<const double> weights,
                                   std::size_t vocabulary);

  /// Returns the point mass on one token.
  static Distribution point(Token token, std::size_t vocabulary);

  std::size_t vocabulary() const { return vocabulary_; }
  bool is_dense() const { return tokens_.empty(); }
  /// Returns the number of stored entries: V if dense, otherwise the length of the list.
  std::size_t size() const { return probabilities_.size(); }
  Token token(std::size_t i) const { return is_dense() ? static_cast<Token>(i) : tokens_[i]; }
  /// The listed tokens, ascending; empty when dense.
  std::span<const Token> tokens() const { return tokens_; }
  /// Returns the probabilities of token(i) for i < size().
  std::span<const double> probabilities() const { return probabilities_; }
  /// Returns the i < size() with token(i) = token, or nullopt outside the list or vocabulary. O(1) if dense,
  /// O(log size) if short.
  std::optional<std::size_t> find(Token token) const { return find_token(tokens_, size(), token); }
  /// Returns the probability of any token, 0 if find() returns nullopt.
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

/// Returns TV(p, q) = ½ Σ |p − q|. Requires: the same vocabulary.
double total_variation(const Distribution& p, const Distribution& q);

}  // namespace spectr

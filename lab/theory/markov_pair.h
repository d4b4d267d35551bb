#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/decode/drafter.h"
#include "spectr/lm/tabular_model.h"

namespace spectr::lab {

/// A draft p and a target q given by tables over a horizon of T tokens: the distribution of token n + 1 given
/// that token n is x is p(n, x), n = 0 … T−1. x₀ is the prompt, drawn uniformly and not counted.
class MarkovPair {
 public:
  /// Each table has shape [horizon, states, states].
  MarkovPair(std::size_t states, std::size_t horizon, std::vector<double> p, std::vector<double> q);

  /// Returns rows of uniform random numbers, normalised: first all of p, then all of q, from MT19937.
  static MarkovPair random(std::size_t states, std::size_t horizon, std::uint32_t seed);

  /// Returns q as above, and p ∝ q·exp(U(−noise, noise)): a draft that resembles its target.
  static MarkovPair alike(std::size_t states, std::size_t horizon, double noise, std::uint32_t seed);

  std::size_t states() const { return states_; }
  std::size_t horizon() const { return horizon_; }
  std::span<const double> p(std::size_t n, std::size_t x) const { return row(p_, n, x); }
  std::span<const double> q(std::size_t n, std::size_t x) const { return row(q_, n, x); }

  /// Returns new sessions of both models, without a warp. The pair must outlive them.
  OwnedModels start(std::size_t nodes) const;
  /// Returns a session of only the target.
  OwnedModels start_target(std::size_t nodes) const;

 private:
  std::span<const double> row(const std::vector<double>& table, std::size_t n, std::size_t x) const {
    return std::span(table).subspan((n * states_ + x) * states_, states_);
  }

  std::size_t states_, horizon_;
  std::vector<double> p_, q_;
  TabularModel draft_, target_;
};

}  // namespace spectr::lab

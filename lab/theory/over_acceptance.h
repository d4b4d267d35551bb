#pragma once

#include <span>
#include <vector>

#include "lab/theory/markov_pair.h"

namespace spectr::lab {

/// What is drawn after a rejection.
enum class Correction {
  opt,  ///< ∝ (q − p)₊
  uno,  ///< the target's distribution
};

/// Rejection and bias of over-acceptance with b = min(1, (q + ε)/p), and the distribution of its output.
struct BiasedStep {
  double rejection;                  ///< Σ (1 − b) p: the test fails
  double miss;                       ///< … and what is drawn then is not the draft, as it may be with UNO
  double bias;                       ///< TV(distribution, q)
  std::vector<double> distribution;  ///< b p + rejection · correction
};

/// Theorem 4 (Yin et al., A Theoretical Perspective for Speculative Decoding, 2024). Whatever is drawn after
/// a rejection, bias ≥ Loss*(b) = ½ Σ |q − b p| − ½ Σ (1 − b) p; OPT attains it, and
///
///   rejection + Loss*(b) = TV(p, q) for every b ≥ min(1, q/p):
///
/// in the plane (bias, rejection) a line from (0, TV) to (TV, 0), below which nothing lies.
BiasedStep biased_step(std::span<const double> p, std::span<const double> q, double epsilon,
                       Correction correction);

/// Loss*(b), from its definition.
double min_bias(std::span<const double> p, std::span<const double> q, double epsilon);

/// A whole text with drafts up to the horizon: every token is tested once, and the text is a Markov chain
/// with the biased steps' distributions. Sums over the tokens, the bias at each token given the tokens before
/// it.
struct BiasedText {
  double rejections = 0.0;
  double misses = 0.0;
  double bias = 0.0;
  double distance = 0.0;  ///< Σ TV(p, q) over the same texts: rejections + bias for OPT
};
BiasedText biased_text(const MarkovPair& pair, double epsilon, Correction correction);

/// ε in equal steps from 0 to where nothing is rejected any more, max (p − q).
std::vector<double> epsilons(const MarkovPair& pair, std::size_t steps);

}  // namespace spectr::lab

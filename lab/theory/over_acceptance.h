#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lab/theory/markov_pair.h"

namespace spectr::lab {

/// The distribution of the token after a rejection.
enum class Correction {
  opt,  ///< ∝ (q − b p)₊
  uno,  ///< the target's distribution
};

/// Rejection, bias and output distribution of a rule that accepts a draft x with probability
/// b(x).
struct BiasedStep {
  double rejection;                  ///< R = Σ (1 − b) p: probability that the test fails
  double miss;                       ///< … and the token drawn differs from the draft (UNO may repeat it)
  double bias;                       ///< TV(distribution, q)
  std::vector<double> distribution;  ///< b p + R · correction
};

/// Returns b(x) = min(1, (q(x) + ε)₊/p(x)) by token, 1 if p = 0. For ε < 0 it is at most min(1, q/p).
std::vector<double> over_acceptance(std::span<const double> p, std::span<const double> q, double epsilon);

/// Theorem 4 (Yin et al., A Theoretical Perspective for Speculative Decoding, 2024), for any b: for every
/// correction, bias ≥ Loss*(b) = ½ Σ |q − b p| − ½ Σ (1 − b) p. Returns Loss*(b).
double min_bias(std::span<const double> p, std::span<const double> q, std::span<const double> b);

/// Returns true if a correction r attains it: iff R r ≤ (q − b p)₊ at every token, up to rounding. OPT is
/// such a correction. If b ≤ min(1, q/p) it is the only one, and Loss* is 0.
bool attains_min_bias(std::span<const double> p, std::span<const double> q, std::span<const double> b,
                      std::span<const double> correction);

/// Returns the step for any b and any distribution after a rejection.
BiasedStep biased_step(std::span<const double> p, std::span<const double> q, std::span<const double> b,
                       std::span<const double> correction);

/// Returns the distribution that such a correction draws from, or q if nothing is rejected.
std::vector<double> correction_of(std::span<const double> p, std::span<const double> q,
                                  std::span<const double> b, Correction correction);

/// Returns the step for b = over_acceptance(p, q, ε). For ε ≥ 0 OPT has
///
///   rejection + Loss*(b) = TV(p, q):
///
/// which is a line from (0, TV) to (TV, 0) in the plane (bias, rejection); no rule lies below it.
BiasedStep biased_step(std::span<const double> p, std::span<const double> q, double epsilon,
                       Correction correction);
double min_bias(std::span<const double> p, std::span<const double> q, double epsilon);

/// A whole sequence with drafts up to the horizon. Every token is tested once, and the sequence is a Markov
/// chain with the biased steps' distributions. The values are sums over the tokens; the bias at each token is
/// conditional on the tokens before it.
struct BiasedText {
  double rejections = 0.0;
  double misses = 0.0;
  double bias = 0.0;
  double distance = 0.0;  ///< Σ TV(p, q) over the same sequences: rejections + bias for OPT with ε ≥ 0
};
BiasedText biased_text(const MarkovPair& pair, double epsilon, Correction correction);

/// Returns the result for any rule: rule(n, x) is the step of token n + 1 after token n = x. A rule with
/// min_bias 0 everywhere is unbiased, and has at least the rejections of speculative decoding (Theorem 2).
BiasedText biased_text(const MarkovPair& pair,
                       const std::function<BiasedStep(std::size_t n, std::size_t x)>& rule);

/// Returns values of ε in equal steps from 0 to the smallest without rejections, max (p − q).
std::vector<double> epsilons(const MarkovPair& pair, std::size_t steps);

}  // namespace spectr::lab

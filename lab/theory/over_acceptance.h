#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lab/theory/markov_pair.h"

namespace spectr::lab {

/// What is drawn after a rejection.
enum class Correction {
  opt,  ///< ∝ (q − b p)₊
  uno,  ///< the target's distribution
};

/// Rejection and bias of a rule that accepts a draft x with probability b(x), and the distribution of its
/// output.
struct BiasedStep {
  double rejection;                  ///< R = Σ (1 − b) p: the test fails
  double miss;                       ///< … and what is drawn then is not the draft, as it may be with UNO
  double bias;                       ///< TV(distribution, q)
  std::vector<double> distribution;  ///< b p + R · correction
};

/// b(x) = min(1, (q(x) + ε)₊/p(x)) by token, 1 where p = 0. For ε < 0 it is at most min(1, q/p).
std::vector<double> over_acceptance(std::span<const double> p, std::span<const double> q, double epsilon);

/// Theorem 4 (Yin et al., A Theoretical Perspective for Speculative Decoding, 2024), for any b: whatever is
/// drawn after a rejection, bias ≥ Loss*(b) = ½ Σ |q − b p| − ½ Σ (1 − b) p.
double min_bias(std::span<const double> p, std::span<const double> q, std::span<const double> b);

/// The whole set of corrections r that attain it: R r ≤ (q − b p)₊ at every token, to a rounding. OPT is one
/// of them. Where b ≤ min(1, q/p) it is the only one, and Loss* is 0.
bool attains_min_bias(std::span<const double> p, std::span<const double> q, std::span<const double> b,
                      std::span<const double> correction);

/// The step of any b and what is drawn after a rejection.
BiasedStep biased_step(std::span<const double> p, std::span<const double> q, std::span<const double> b,
                       std::span<const double> correction);

/// The distribution that such a correction draws from. Where nothing is rejected, q.
std::vector<double> correction_of(std::span<const double> p, std::span<const double> q,
                                  std::span<const double> b, Correction correction);

/// The same of b = over_acceptance(p, q, ε). For ε ≥ 0 OPT has
///
///   rejection + Loss*(b) = TV(p, q):
///
/// in the plane (bias, rejection) a line from (0, TV) to (TV, 0), below which nothing lies.
BiasedStep biased_step(std::span<const double> p, std::span<const double> q, double epsilon,
                       Correction correction);
double min_bias(std::span<const double> p, std::span<const double> q, double epsilon);

/// A whole text with drafts up to the horizon: every token is tested once, and the text is a Markov chain
/// with the biased steps' distributions. Sums over the tokens, the bias at each token given the tokens before
/// it.
struct BiasedText {
  double rejections = 0.0;
  double misses = 0.0;
  double bias = 0.0;
  double distance = 0.0;  ///< Σ TV(p, q) over the same texts: rejections + bias for OPT with ε ≥ 0
};
BiasedText biased_text(const MarkovPair& pair, double epsilon, Correction correction);

/// The same of any rule: rule(n, x) is the step of token n + 1 after token n = x. One with min_bias 0
/// everywhere is unbiased, and has at least the rejections of speculative decoding (Theorem 2).
BiasedText biased_text(const MarkovPair& pair,
                       const std::function<BiasedStep(std::size_t n, std::size_t x)>& rule);

/// ε in equal steps from 0 to where nothing is rejected any more, max (p − q).
std::vector<double> epsilons(const MarkovPair& pair, std::size_t steps);

}  // namespace spectr::lab

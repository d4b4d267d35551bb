#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spectr/decode/decoder.h"
#include "spectr/lm/prefix_table_model.h"

namespace spectr::lab {

// Counterexamples to three claims about verification, on pairs with few tokens.

/// A draft model and a target.
struct PrefixPair {
  PrefixTableModel p, q;
};

/// Returns a decoder of one chain of L drafts with the verification of HSD's program (arXiv 2601.05724),
/// which differs from its equations. The equations are block verification: c₀ = 1, c_i = min(1, c_{i−1}
/// q(x_i)/p(x_i)), and the whole chain is accepted with probability c_L. The program accepts it with min(1,
/// Π_i q(x_i)/p(x_i)), where earlier ratios above 1 compensate for later ones below 1: it accepts more, and
/// the output does not have the target's distribution.
Decoder hsd_program(std::size_t length);

/// Returns a pair that shows this with L = 2: (.4, .6) → (.8, .2) at first, then (.5, .5) → (.3, .7) after 0,
/// and uniform rows elsewhere (p → q).
PrefixPair hsd_pair();

/// An exact rational number.
class Fraction {
 public:
  /// Requires: denominator > 0; numbers small enough that no sum or product overflows.
  Fraction(std::int64_t numerator, std::int64_t denominator = 1);

  double value() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }
  std::string text() const;  ///< "9/4"

  friend Fraction operator+(const Fraction& a, const Fraction& b);
  friend Fraction operator*(const Fraction& a, const Fraction& b);
  friend std::strong_ordering operator<=>(const Fraction& a, const Fraction& b) {
    return a.numerator_ * b.denominator_ <=> b.numerator_ * a.denominator_;
  }
  friend bool operator==(const Fraction&, const Fraction&) = default;

 private:
  std::int64_t numerator_, denominator_;  // in lowest terms
};

/// Rows by prefix; every possible prefix has one.
using ExactRows = std::map<std::vector<Token>, std::vector<Fraction>>;

/// The expected tokens of a block of speculative decoding with one chain of L drafts, and the mean of two
/// estimates of it over sequences of the target.
///
/// Let a_j = Σ_x min(p, q) after the first j − 1 tokens of a sequence x, and m_j = min(1, p/q)(x_j).
/// HedgeSpec's form (arXiv 2510.20064, as summarised) 1 + Σ_i Π_{j≤i} a_j averages every factor over all
/// tokens, although the later ones depend on the accepted token, so its mean is not E. Averaging only the
/// last factor, 1 + Σ_i Π_{j<i} m_j · a_i, has the mean E.
struct LengthEstimates {
  Fraction expected;           ///< E = 1 + Σ_i Σ_{x_1 … x_i} Π_j min(p, q)(x_j)
  Fraction overlaps;           ///< the mean of HedgeSpec's form
  Fraction last_overlap_only;  ///< the mean of the other estimate
};
LengthEstimates length_estimates(const ExactRows& p, const ExactRows& q, std::size_t length);

struct ExactPair {
  ExactRows p, q;
};
/// Returns rows of two tokens on which the estimates differ with L = 2: (½, ½) → (¾, ¼) at first; after 0
/// draft and target agree, after 1 they are disjoint.
ExactPair hedge_pair();
/// Returns the pair as models.
PrefixPair models_of(const ExactPair& pair);

}  // namespace spectr::lab

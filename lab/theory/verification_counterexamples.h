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

// Three claims about verification that fail on pairs of a few tokens, with what each pair shows.

/// A draft model and a target.
struct PrefixPair {
  PrefixTableModel p, q;
};

/// HSD (arXiv 2601.05724) as its program has it, which is not as its equations have it. The equations are
/// block verification: c₀ = 1, c_i = min(1, c_{i−1} q(x_i)/p(x_i)), and the whole chain is accepted with
/// probability c_L. The program accepts it with min(1, Π_i q(x_i)/p(x_i)), in which earlier ratios above 1
/// make up for later ones below: it accepts more, and the output does not have the target's distribution. A
/// decoder of one chain of L drafts.
Decoder hsd_program(std::size_t length);

/// A pair that shows it with L = 2: (.4, .6) → (.8, .2) at first, then (.5, .5) → (.3, .7) after 0, and
/// uniform rows elsewhere (p → q).
PrefixPair hsd_pair();

/// An exact number.
class Fraction {
 public:
  /// Requires: denominator > 0; numbers so small that no sum or product overflows.
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

/// Rows by prefix; each prefix that can occur has one.
using ExactRows = std::map<std::vector<Token>, std::vector<Fraction>>;

/// The expected tokens of a block of speculative decoding with one chain of L drafts, and the mean, over
/// texts of the target, of two estimates of it.
///
/// Let a_j = Σ_x min(p, q) after the first j − 1 tokens of a text x, and m_j = min(1, p/q)(x_j). HedgeSpec's
/// form (arXiv 2510.20064, as summarised) 1 + Σ_i Π_{j≤i} a_j averages every factor over all tokens, although
/// the later ones depend on which token was accepted: its mean is not E. Averaging the last factor alone, 1 +
/// Σ_i Π_{j<i} m_j · a_i, has the mean E.
struct LengthEstimates {
  Fraction expected;           ///< E = 1 + Σ_i Σ_{x_1 … x_i} Π_j min(p, q)(x_j)
  Fraction overlaps;           ///< the mean of HedgeSpec's form
  Fraction last_overlap_only;  ///< the mean of the other
};
LengthEstimates length_estimates(const ExactRows& p, const ExactRows& q, std::size_t length);

struct ExactPair {
  ExactRows p, q;
};
/// Rows of two tokens on which the estimates differ with L = 2: (½, ½) → (¾, ¼) at first; after 0 draft and
/// target agree, after 1 they are disjoint.
ExactPair hedge_pair();
/// Returns the same as models.
PrefixPair models_of(const ExactPair& pair);

}  // namespace spectr::lab

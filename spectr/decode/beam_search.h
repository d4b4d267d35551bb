#pragma once

#include <cstddef>

#include "spectr/base/recycled.h"
#include "spectr/decode/drafter.h"

namespace spectr {

/// The way a beam search selects continuations.
enum class BeamMode {
  draw,  ///< without replacement, from the joint distribution over beams × tokens
  top,   ///< the likeliest ones; ties go to the earlier beam and the lower token
};

/// The distribution to which a beam search applies temperature and filters.
enum class BeamWarp {
  token,  ///< the distribution of every beam's next token, before they are joined
  joint,  ///< the joint distribution over beams × tokens (MTAD, arXiv 2407.09722, equation 2)
};

/// The result of a beam search: the draws of every surviving beam, from the first token on, with the
/// likeliest beam first, and the number of passes.
struct FoundBeams {
  RecycledVector<RecycledVector<std::size_t>> beams;
  std::size_t passes;
};

/// Beam search of width W in one model (MTAD, arXiv 2407.09722, section 3).
///
/// At every step the joint distribution over (beam, token) is the beam's joint likelihood times the
/// distribution of the token. W different continuations survive, or all if there are fewer. A beam that has
/// reached an end token stays unchanged. Every surviving continuation becomes a draw of `draft` with the
/// model's warped distribution at that node.
///
/// With BeamWarp::joint, likelihoods are those of the model itself, except for penalties and logit biases,
/// and their joint distribution passes through temperature and filters as one row. It can keep a token that
/// the same filters would remove from the distribution of its beam alone.
struct BeamSearch {
  std::size_t width;
  BeamMode mode;
  BeamWarp warping = BeamWarp::token;

  /// Returns an upper bound of the number of sets of continuations that a search of this depth can draw.
  double outcomes(std::size_t vocabulary, std::size_t depth) const;

  /// Searches `depth` tokens below the sequence; the model's session scores the draft's tree level by level.
  /// Requires: depth ≥ 1.
  Result<FoundBeams> run(const BlockStart& start, Session& model, const Warp& warp, std::size_t vocabulary,
                         std::size_t depth, Choices& choices, Draft& draft) const;
};

}  // namespace spectr

#pragma once

#include <cstddef>

#include "spectr/base/recycled.h"
#include "spectr/decode/drafter.h"

namespace spectr {

/// Whether a beam search keeps the likeliest continuations or draws them.
enum class BeamMode {
  draw,  ///< without replacement, from the joint distribution over beams × tokens
  top,   ///< the likeliest ones; ties go to the earlier beam and the lower token
};

/// What temperature and filters work on in a beam search.
enum class BeamWarp {
  token,  ///< the distribution of every beam's next token, before they are joined
  joint,  ///< the joint distribution over beams × tokens (MTAD, arXiv 2407.09722, equation 2)
};

/// What a beam search found: the draws of every beam that has survived, from the first token on, the
/// likeliest beam first, and the passes it took.
struct FoundBeams {
  RecycledVector<RecycledVector<std::size_t>> beams;
  std::size_t passes;
};

/// Beam search of width W in one model (MTAD, arXiv 2407.09722, section 3).
///
/// At every step the joint distribution over (beam, token) is the beam's joint likelihood times the
/// distribution of the token; W different continuations survive, fewer where there are fewer. A beam that has
/// reached an end token stays as it is. Every surviving continuation becomes a draw of `draft`, whose
/// distribution is the model's there, warped.
///
/// With BeamWarp::joint likelihoods are those of the model itself, but for penalties and biases of logits,
/// and their joint distribution goes through temperature and filters as one row. It may keep a token that
/// the same filters would cut from the distribution of its beam alone.
struct BeamSearch {
  std::size_t width;
  BeamMode mode;
  BeamWarp warping = BeamWarp::token;

  /// An upper bound of the number of sets of continuations that a search of this depth can go through.
  double outcomes(std::size_t vocabulary, std::size_t depth) const;

  /// Searches `depth` tokens deep below the sequence, with the model's session scoring the draft's tree level
  /// by level. Requires: depth ≥ 1.
  Result<FoundBeams> run(const BlockStart& start, Session& model, const Warp& warp, std::size_t vocabulary,
                         std::size_t depth, Choices& choices, Draft& draft) const;
};

}  // namespace spectr

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// Chooses among the best candidates of a row by the token before it (DFlash 2). A candidate c of row H after
/// token b has the score logit(c) + Σ_r successor[c]_r predecessor[b]_r (hidden H)_r; other tokens have none.
struct SelectorSpec {
  std::size_t rank, candidates;
  std::string predecessor, successor;  ///< matrices of the file, [vocabulary, rank]
  std::vector<float> hidden;           ///< [rank, width]
};

/// The probability that the token of a row is accepted: σ(weight · [H; w1[token before]] + bias) (DSpark).
struct ConfidenceSpec {
  std::vector<float> weight;  ///< [width + rank]
  float bias;
};

/// A drafter that predicts a block of tokens in one pass over [last token, mask, mask, …] (DFlash, arXiv
/// 2602.06036).
struct BlockSpec {
  std::size_t rows;  ///< of a block, the last token's included
  Token mask;
  std::size_t first_row;  ///< the row that predicts the first token: 0 or 1
  bool causal;            ///< a row sees no rows of the block that follow it
  /// A model without layers, w2 w1[token]: its logits are added to those of a row by the token before it
  /// (DSpark, arXiv 2607.05147).
  std::optional<ModelSpec> markov = {};
  std::optional<ConfidenceSpec> confidence = {};  ///< of a drafter with markov
  std::optional<SelectorSpec> selector = {};
};

/// The computation of a trained drafter, as data. Its model reads features of a target and drafts for it
/// alone.
struct DrafterSpec {
  std::string kind;                     ///< "eagle3"
  ModelSpec model;                      ///< head.shortlist: the target's token of each row of logits
  std::vector<TapSpec> taps;            ///< the features: states of the target, in this order
  std::optional<BlockSpec> block = {};  ///< none: one token a pass, from a token and a state
};

}  // namespace spectr

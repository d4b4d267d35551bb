#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// Selects among the best candidates of a row by the previous token (DFlash 2). After token b, candidate c of
/// row H has the score logit(c) + Σ_r successor[c]_r predecessor[b]_r (hidden H)_r; other tokens have none.
struct SelectorSpec {
  std::size_t rank, candidates;
  std::string predecessor, successor;  ///< names of matrices in the file, [vocabulary, rank]
  std::vector<float> hidden;           ///< [rank, width]
};

/// Probability that a row's token is accepted: σ(weight · [H; w1[previous token]] + bias) (DSpark).
struct ConfidenceSpec {
  std::vector<float> weight;  ///< [width + rank]
  float bias;
};

/// A drafter that predicts a block of tokens in one pass over [last token, mask, mask, …] (DFlash, arXiv
/// 2602.06036).
struct BlockSpec {
  std::size_t rows;  ///< rows of a block, including that of the last token
  Token mask;
  std::size_t first_row;  ///< the row that predicts the first token: 0 or 1
  bool causal;            ///< a row does not see later rows of the block
  /// Markov head, a model without layers: w2 w1[previous token] is added to the logits of a row (DSpark,
  /// arXiv 2607.05147).
  std::optional<ModelSpec> markov = {};
  std::optional<ConfidenceSpec> confidence = {};  ///< drafters with markov only
  std::optional<SelectorSpec> selector = {};
};

/// Describes the computation of a trained drafter, as data. Its model reads features of one target and drafts
/// for that target only.
struct DrafterSpec {
  std::string kind;                     ///< "eagle3"
  ModelSpec model;                      ///< head.shortlist: the target's token of each row of logits
  std::vector<TapSpec> taps;            ///< states of the target that form the features, in this order
  std::optional<BlockSpec> block = {};  ///< none: one token per pass, from a token and a state
};

}  // namespace spectr

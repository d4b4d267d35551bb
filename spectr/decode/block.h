#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/decode/source.h"
#include "spectr/model/token_tree.h"
#include "spectr/sampling/likelihood.h"

namespace spectr {

/// What a block (one iteration of a decoder) starts from.
struct BlockStart {
  std::span<const Token> text;  ///< prompt and everything generated; never empty
  std::size_t left;             ///< tokens that may still be emitted, ≥ 1
  std::size_t index;            ///< number of blocks before this one
  std::span<const Token> ends;  ///< tokens that end a text
  std::optional<std::size_t> details =
      std::nullopt;  ///< tell each token's details, with so many alternatives

  bool is_end(Token token) const { return std::ranges::find(ends, token) != ends.end(); }
  /// Where a choice at a node of the draft's tree is made, `depth` tokens after the text.
  Place place(std::uint64_t node, std::size_t depth, Purpose purpose) const {
    return {index, node, text.size() + depth, purpose};
  }
};

/// What a verifier decided: the accepted path below the root, and the token after it, if any.
struct Verdict {
  RecycledVector<NodeId> path;
  Source path_source = Source::draft;
  std::optional<Token> last;
  Source last_source = Source::target;
  /// biases[i]: TV between the law that token i was drawn from and the target's. Missing ones at the end are
  /// 0.
  RecycledVector<double> biases;
  bool biases_known = true;
  /// Probability, under a biased plan, that no test accepts: of each token that was tested.
  RecycledVector<double> rejections;
};

/// What is known of an emitted token.
struct TokenDetail {
  double target;                         ///< its probability under the target's law that it was verified with
  std::optional<double> draft;           ///< under the draft's law at that place; none where there is none
  RecycledVector<Likelihood> likeliest;  ///< what the unfiltered target would have liked most
};

/// What a block added to the text.
struct Block {
  RecycledVector<Token> tokens;
  RecycledVector<Source> sources;                ///< one per token
  std::size_t drafted = 0;                       ///< draft tokens as drawn, with multiplicity
  std::size_t depth = 0;                         ///< tokens of the longest of them
  std::size_t accepted = 0;                      ///< emitted tokens whose source is a draft: they come first
  std::size_t target_calls = 1;                  ///< passes of the target
  std::optional<RecycledVector<double>> biases;  ///< as in Verdict; none where they are not known
  RecycledVector<double> rejections;             ///< as in Verdict
  RecycledVector<double> negative_log_likelihoods;  ///< of each under the unfiltered target, in nats
  RecycledVector<TokenDetail> details;              ///< one per token where they were asked for
};

}  // namespace spectr

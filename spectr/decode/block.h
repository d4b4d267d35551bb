#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/lm/token_tree.h"
#include "spectr/sampling/likelihood.h"

namespace spectr {

class Draft;
class NodeDistributions;

/// What a block (one iteration of a decoder) starts from.
struct BlockStart {
  std::span<const Token> sequence;  ///< the prompt and everything generated; never empty
  std::size_t left;                 ///< how many tokens may still be emitted, ≥ 1
  std::size_t index;                ///< the number of blocks before this one
  std::span<const Token> ends;      ///< the tokens that end a completion
  /// Where it is given, the block tells each token's details, with so many alternatives.
  std::optional<std::size_t> details = std::nullopt;
  bool sampled_alternatives =
      false;  ///< these are of the distribution that verifies, not of the unfiltered target

  bool is_end(Token token) const { return std::ranges::find(ends, token) != ends.end(); }
  /// The place of a choice at a node of the draft's tree, `depth` tokens after the sequence.
  Place place(std::uint64_t node, std::size_t depth, Purpose purpose) const {
    return {index, node, sequence.size() + depth, purpose};
  }
};

/// Where a token of the output came from.
enum class Source {
  draft,       ///< it was drafted and kept
  correction,  ///< it was drawn from a residual (or by the target) after no draft was kept
  bonus,       ///< it was drawn from the target after every draft was kept
  target,      ///< it was drawn from the target where nothing was drafted
};

std::string_view name(Source source);

/// What a verifier decided: the accepted path below the root, and the token after it, if any.
struct Verdict {
  RecycledVector<NodeId> path;
  Source path_source = Source::draft;
  std::optional<Token> last;
  Source last_source = Source::target;
  /// biases[i] is the TV between the distribution that token i was drawn from and the target's. Those that
  /// are missing at the end are 0.
  RecycledVector<double> biases;
  bool biases_known = true;
  /// The probabilities, under a biased plan, that no test accepts: one for each token that was tested.
  RecycledVector<double> rejections;
};

/// Draws the token after a fully accepted path from the target (the bonus; the target's own token where
/// nothing was drafted), unless the sequence has ended or reached its limit.
Result<void> draw_bonus(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                        Choices& choices, Verdict& verdict);

/// What is known of an emitted token.
struct TokenDetail {
  double target;                ///< its probability under the target that verified it
  std::optional<double> draft;  ///< its probability under the draft; none where nothing was drafted there
  RecycledVector<Likelihood> likeliest;  ///< the alternatives, likeliest first
};

/// What a block added to the sequence.
struct Block {
  RecycledVector<Token> tokens;
  RecycledVector<Source> sources;                ///< one per token
  std::size_t drafted = 0;                       ///< draft tokens as drawn, with multiplicity
  std::size_t depth = 0;                         ///< the length of the longest draft
  std::size_t accepted = 0;                      ///< emitted tokens whose source is a draft; they come first
  std::size_t target_calls = 1;                  ///< passes of the target
  std::optional<RecycledVector<double>> biases;  ///< as in Verdict; none where they are not known
  RecycledVector<double> rejections;             ///< as in Verdict
  RecycledVector<double> negative_log_likelihoods;  ///< of each token under the unfiltered target, in nats
  RecycledVector<TokenDetail> details;              ///< one per token where they were asked for
};

}  // namespace spectr

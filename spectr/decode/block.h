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

/// The starting point of a block (one iteration of a decoder).
struct BlockStart {
  std::span<const Token> sequence;  ///< the prompt and all generated tokens; never empty
  std::size_t left;                 ///< the number of tokens that may still be emitted, ≥ 1
  std::size_t index;                ///< the number of blocks before this one
  std::span<const Token> ends;      ///< the tokens that end a completion
  /// If set, the block reports each token's details with this number of alternatives.
  std::optional<std::size_t> details = std::nullopt;
  bool sampled_alternatives =
      false;  ///< alternatives are from the verifying distribution, not the unfiltered target

  bool is_end(Token token) const { return std::ranges::find(ends, token) != ends.end(); }
  /// Returns the place of a choice at a node of the draft's tree, `depth` tokens after the sequence.
  Place place(std::uint64_t node, std::size_t depth, Purpose purpose) const {
    return {index, node, sequence.size() + depth, purpose};
  }
};

/// The origin of a token of the output.
enum class Source {
  draft,       ///< drafted and accepted
  correction,  ///< drawn from a residual (or by the target) after no draft was accepted
  bonus,       ///< drawn from the target after all drafts were accepted
  target,      ///< drawn from the target at a node without drafts
};

std::string_view name(Source source);

/// A verifier's decision: the accepted path below the root, and the token after it, if any.
struct Verdict {
  RecycledVector<NodeId> path;
  Source path_source = Source::draft;
  std::optional<Token> last;
  Source last_source = Source::target;
  /// biases[i] is the TV distance between the distribution that token i was drawn from and the target's.
  /// Missing entries at the end are 0.
  RecycledVector<double> biases;
  bool biases_known = true;
  /// The probabilities that no test accepts, under a biased plan: one for each tested token.
  RecycledVector<double> rejections;
};

/// Draws the token after a fully accepted path from the target (the bonus, or the target's own token if there
/// were no drafts), unless the sequence has ended or reached its limit.
Result<void> draw_bonus(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                        Choices& choices, Verdict& verdict);

/// Details of an emitted token.
struct TokenDetail {
  double target;                ///< its probability under the target distribution that verified it
  std::optional<double> draft;  ///< its probability under the draft; nullopt if nothing was drafted there
  RecycledVector<Likelihood> likeliest;  ///< the alternatives, likeliest first
};

/// The tokens that a block added to the sequence, with their statistics.
struct Block {
  RecycledVector<Token> tokens;
  RecycledVector<Source> sources;                ///< one per token
  std::size_t drafted = 0;                       ///< draft tokens as drawn, counting copies
  std::size_t depth = 0;                         ///< the length of the longest draft
  std::size_t accepted = 0;                      ///< emitted tokens whose source is a draft; they come first
  std::size_t target_calls = 1;                  ///< number of target passes
  std::optional<RecycledVector<double>> biases;  ///< as in Verdict; nullopt if unknown
  RecycledVector<double> rejections;             ///< as in Verdict
  RecycledVector<double> negative_log_likelihoods;  ///< per token, under the unfiltered target, in nats
  RecycledVector<TokenDetail> details;              ///< one per token if requested
};

}  // namespace spectr

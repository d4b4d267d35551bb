#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "spectr/base/choices.h"
#include "spectr/base/logits.h"
#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/decode/methods.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/drafting.h"

namespace spectr {

/// Rows of V numbers each, row-major, float or double: [rows, V]. A view.
struct NumberRows {
  LogitValues values;
  std::size_t vocabulary;  ///< V

  /// Returns the number of complete rows.
  std::size_t size() const;
};

/// Drafted tokens as arrays of n entries: a chain, or a tree in which parents come before their children. A
/// view of the caller's data.
///
/// The children of an entry are listed in the order drawn, including copies of a token, because selection
/// rules test them in that order. If only counts are known, `multiplicities` has them, and the order of the
/// independent drafts is drawn again, uniformly among all orders with these counts. This is lossless:
/// independent draws from one distribution are exchangeable, so given their counts every order is equally
/// likely.
struct DraftArrays {
  std::span<const Token> tokens;  ///< [n]
  /// [n], the entry that each token continues; -1 for the sequence itself. If empty, the draft is a chain.
  std::span<const std::int32_t> parents = {};
  std::span<const std::int32_t> multiplicities = {};  ///< [n], copies of each token; empty: 1
  /// [n], the row of `probabilities` that each token was drawn from. If empty, token i has row i.
  std::span<const std::int32_t> rows = {};
  NumberRows probabilities;  ///< [r, V]

  /// Returns the name of the tokens in messages.
  std::string_view name() const { return parents.empty() ? "draft_tokens" : "tokens"; }
};

/// The target's rows: row 0 after the sequence, row i + 1 after entry i. A view.
struct TargetArrays {
  NumberRows rows;             ///< [n + 1, V]
  const Warp* warp = nullptr;  ///< turns rows of logits into distributions; null: the rows are probabilities
};

/// The position of a block in a sequence of blocks; its random choices depend on it. Two blocks of one
/// sequence must differ in `block`, or in the seed or stream of their choices.
struct BlockPlace {
  std::size_t block = 0;     ///< number of earlier blocks
  std::size_t position = 1;  ///< number of earlier tokens, in [1, 2^24]
};

/// The outcome of a verification: the accepted entries, and one more token.
struct ArrayVerdict {
  RecycledVector<std::size_t> path;  ///< accepted entries, from the root downwards
  RecycledVector<Token> tokens;      ///< their tokens and the token after them: path.size() + 1
  Source last_source = Source::target;
  RecycledVector<double> biases;  ///< as in Verdict
};

/// The verifier of a method on plain arrays, for engines that run their own models. It makes every choice
/// with the same code and the same random numbers as the method's decoder.
///
/// Lossless: if the tokens were drawn from their rows as the method draws them, the concatenated tokens of
/// all blocks have the target's distribution. Thread-safe.
class ArrayVerifier {
 public:
  /// Maximum drafted tokens of a block, including copies.
  static constexpr std::size_t max_draws = 1024;

  /// `name` is a method (speculative, block, traversal, conditional, …), or a plan, which is applied level by
  /// level. Fails if it is neither, or if the method does not verify drafts from given distributions.
  static Result<ArrayVerifier> make(std::string_view name, const MethodOptions& options = {});

  /// Selects among the drafts. Fails if the arrays are inconsistent, if a row is not a distribution, or if
  /// the method cannot have drawn such drafts; the message names array, index and value. Cost: O(rows · V),
  /// plus that of the method.
  Result<ArrayVerdict> verify(const DraftArrays& draft, const TargetArrays& target, const BlockPlace& place,
                              Choices& choices) const;

  const MethodRule& method() const { return *method_; }
  /// Returns true if the output has exactly the target's distribution.
  bool lossless() const { return lossless_; }

  /// The shape of the drafts that a method accepts.
  enum class Shape {
    chain,      ///< at most one child everywhere
    sequences,  ///< no branches below the first level; K sequences
    tree,
  };

 private:
  ArrayVerifier(const MethodRule* method, Decoder decoder) : method_(method), decoder_(std::move(decoder)) {}
  Result<void> check(const DraftArrays& draft, const TargetArrays& target, const BlockPlace& place) const;
  Result<void> check_tree(const Draft& draft, bool reordered) const;

  const MethodRule* method_;
  Decoder decoder_;
  Shape shape_ = Shape::tree;
  Drafting drafting_ = Drafting::independent;
  std::size_t max_drafts_ = 0;  // per node; 0: unlimited
  bool several_distributions_ = false;
  bool needs_separate_copies_ = false;  // the result depends on which copy a child continues
  bool lossless_ = true;
};

}  // namespace spectr

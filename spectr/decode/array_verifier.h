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

  /// The number of complete rows.
  std::size_t size() const;
};

/// Drafted tokens as arrays of n entries: a chain, or a tree in which parents come before their children. A
/// view.
///
/// The children of an entry are listed in the order drawn, copies of a token included: selection rules test
/// them in that order. If only counts are known, `multiplicities` gives them. The order in which independent
/// drafts were drawn is then drawn anew, uniformly among all orders with these counts. Lossless, because
/// independent draws from one distribution are exchangeable: given their counts, every order is equally
/// likely.
struct DraftArrays {
  std::span<const Token> tokens;  ///< [n]
  /// [n], the entry that each token continues; -1 for the sequence itself. Empty: a chain.
  std::span<const std::int32_t> parents = {};
  std::span<const std::int32_t> multiplicities = {};  ///< [n], copies of each token; empty: 1
  /// [n], the row of `probabilities` that each token was drawn from. Empty: row i for token i.
  std::span<const std::int32_t> rows = {};
  NumberRows probabilities;  ///< [r, V]

  /// The name of the tokens in messages.
  std::string_view name() const { return parents.empty() ? "draft_tokens" : "tokens"; }
};

/// The target's rows: row 0 after the sequence, row i + 1 after entry i. A view.
struct TargetArrays {
  NumberRows rows;             ///< [n + 1, V]
  const Warp* warp = nullptr;  ///< turns rows of logits into distributions; null: the rows are probabilities
};

/// The place of a block in a sequence of blocks, which its random choices depend on. Two blocks of one
/// sequence must differ in `block`, or in the seed or stream of their choices.
struct BlockPlace {
  std::size_t block = 0;     ///< the number of blocks before
  std::size_t position = 1;  ///< the number of tokens before, in [1, 2^24]
};

/// The outcome of a verification: the accepted entries, and one more token.
struct ArrayVerdict {
  RecycledVector<std::size_t> path;  ///< accepted entries, from the sequence downwards
  RecycledVector<Token> tokens;      ///< their tokens and the token after them: path.size() + 1
  Source last_source = Source::target;
  RecycledVector<double> biases;  ///< as in Verdict
};

/// The verifier of a method on plain arrays, for engines that have models of their own. Every choice is made
/// by the same code, and with the same random numbers, as in the method's decoder.
///
/// Lossless: if the tokens were drawn from their rows as the method draws them, the tokens of blocks strung
/// together have the target's distribution. Thread-safe.
class ArrayVerifier {
 public:
  /// Probabilities must sum to 1 within this; they are normalised.
  static constexpr double double_tolerance = 1e-6, float_tolerance = 1e-4;
  /// Maximum drafted tokens of a block, copies included.
  static constexpr std::size_t max_draws = 1024;

  /// `name` is a method (speculative, block, traversal, conditional, …), or a plan, which walks down the
  /// tree. Fails if there is neither, or if the method does not verify drafts from given distributions.
  static Result<ArrayVerifier> make(std::string_view name, const MethodOptions& options = {});

  /// Selects among the drafts. Fails if the arrays do not fit together, if a row is not a distribution, or if
  /// the method cannot have drawn such drafts; the message names array, index and value. Cost: O(rows · V),
  /// and that of the method.
  Result<ArrayVerdict> verify(const DraftArrays& draft, const TargetArrays& target, const BlockPlace& place,
                              Choices& choices) const;

  const MethodRule& method() const { return *method_; }
  /// Whether the output has the target's distribution, exactly.
  bool lossless() const { return lossless_; }

  /// The shape of the drafts that a method takes.
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
  std::size_t max_drafts_ = 0;  // at one node; 0: any
  bool several_distributions_ = false;
  bool needs_copies_apart_ = false;  // which copy a child continues makes a difference
  bool lossless_ = true;
};

}  // namespace spectr

// Verification of drafts on arrays, for engines that run models of their own.
//
//     const auto verifier = spectr::Verifier::create("block").value();
//     const spectr::Stream stream{.seed = 1, .block = step};
//     const auto block = verifier.chain(V, drafts, draft_probs, target_probs, stream).value();
//     block.tokens;  // the accepted drafts, and one more token
//
// Lossless methods: if the drafts were drawn from their rows, the tokens of all blocks have the target's
// distribution. Lifetime: the arrays are read during the call. A verifier can be moved, not copied. Errors:
// bad_input names the array, the index and the value: sizes that do not fit, rows that are not distributions
// (sums within 1e-4 of 1 as floats, within 1e-6 as doubles), drafts that the method cannot have drawn.
// Threads: a verifier can be used by several threads at once.
// Cost: O(rows · V), and that of the method's plan at each node that is visited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spectr/error.h"
#include "spectr/token.h"

namespace spectr::inline v0 {

/// A view of rows of probabilities, [count, V], as floats or doubles. The numbers must outlive it.
class Rows {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  Rows(std::span<const float> numbers) : f32_(numbers.data()), size_(numbers.size()) {}
  Rows(std::span<const double> numbers) : f64_(numbers.data()), size_(numbers.size()) {}
  Rows(const std::vector<float>& numbers) : Rows(std::span(numbers)) {}
  Rows(const std::vector<double>& numbers) : Rows(std::span(numbers)) {}
  // NOLINTEND(google-explicit-constructor)
  Rows() = default;

  /// Returns the number of numbers.
  std::size_t size() const noexcept { return size_; }
  const float* floats() const noexcept { return f32_; }
  const double* doubles() const noexcept { return f64_; }

 private:
  const float* f32_ = nullptr;
  const double* f64_ = nullptr;
  std::size_t size_ = 0;
};

/// A tree of drafts. Parents precede their children, and siblings are listed in the order in which they were
/// drawn.
struct Tree {
  std::span<const Token> tokens = {};          ///< [m]
  std::span<const std::int32_t> parents = {};  ///< [m], −1 for children of the sequence; empty: a chain
  std::span<const std::int32_t> multiplicities = {};  ///< [m], number of copies drawn; empty: 1
  std::span<const std::int32_t> rows = {};            ///< [m], row of draft_probs; empty: row i for entry i
  Rows draft_probs = {};                              ///< [rows, V]
};

/// The outcome of a block.
struct Verdict {
  std::vector<Token> tokens;       ///< the accepted drafts and one more token
  std::vector<std::int32_t> path;  ///< the accepted entries, one fewer than tokens
};

/// Settings that some methods read.
struct VerifierOptions {
  std::string plan = {};  ///< for the methods spectr, tree and specinfer; empty: the method's default
  double epsilon = 0.0;   ///< for biased methods and plans
  int rounds = 1;         ///< for plan str+, at least 1
  bool look = false;      ///< method conditional tries the most promising children first
};

/// A verification rule.
class Verifier {
 public:
  /// Creates a verifier. `method`: "speculative", "block", "traversal", …, see methods(); or a plan, which is
  /// applied along the tree.
  static Result<Verifier> create(const std::string& method, const VerifierOptions& options = {}) {
    const spectr_verifier_options settings{.plan = options.plan.empty() ? nullptr : options.plan.c_str(),
                                           .epsilon = options.epsilon,
                                           .rounds = options.rounds,
                                           .look = options.look};
    spectr_verifier* handle = nullptr;
    const Result<void> done = detail::checked(
        [&](spectr_error* error) { return spectr_verifier_new(method.c_str(), &settings, &handle, error); });
    if (!done) return done.error();
    return Verifier(handle);
  }

  /// Returns true if the output has exactly the target's distribution.
  bool is_lossless() const noexcept { return spectr_verifier_is_lossless(handle_.get()); }

  /// Verifies a chain of n drafts. draft_probs: [n, V]. target_probs: [n + 1, V], row 0 after the sequence
  /// and row i + 1 after draft i.
  Result<Verdict> chain(std::size_t vocabulary, std::span<const Token> drafts, const Rows& draft_probs,
                        const Rows& target_probs, const Stream& stream) const {
    return tree(vocabulary, {.tokens = drafts, .draft_probs = draft_probs}, target_probs, stream);
  }

  /// Verifies a tree of m drafts. target_probs: [m + 1, V], row 0 after the sequence and row i + 1 after
  /// entry i.
  Result<Verdict> tree(std::size_t vocabulary, const Tree& tree, const Rows& target_probs,
                       const Stream& stream) const {
    const std::size_t m = tree.tokens.size();
    for (const auto& [list, name] :
         {std::pair(tree.parents, "parents"), std::pair(tree.multiplicities, "multiplicities"),
          std::pair(tree.rows, "rows")}) {
      if (!list.empty() && list.size() != m) {
        return detail::bad_input(std::string(name) + " has " + std::to_string(list.size()) +
                                 " entries, but tokens has " + std::to_string(m));
      }
    }
    const Result<spectr_rows> p = rows_of(tree.draft_probs, vocabulary, "draft_probs");
    if (!p) return p.error();
    const Result<spectr_rows> q = rows_of(target_probs, vocabulary, "target_probs");
    if (!q) return q.error();
    const spectr_tree entries{
        .count = m,
        .tokens = tree.tokens.data(),
        .parents = tree.parents.empty() ? nullptr : tree.parents.data(),
        .multiplicities = tree.multiplicities.empty() ? nullptr : tree.multiplicities.data(),
        .rows = tree.rows.empty() ? nullptr : tree.rows.data(),
        .draft_probs = *p};
    const spectr_stream random = detail::stream_of(stream);
    Verdict verdict{std::vector<Token>(m + 1), std::vector<std::int32_t>(m)};
    std::size_t emitted = 0;
    const Result<void> done = detail::checked([&](spectr_error* error) {
      return spectr_verify_tree(handle_.get(), vocabulary, &entries, *q, &random, verdict.tokens.data(),
                                verdict.path.data(), &emitted, error);
    });
    if (!done) return done.error();
    verdict.tokens.resize(emitted);
    verdict.path.resize(emitted - 1);
    return verdict;
  }

 private:
  struct Free {
    void operator()(spectr_verifier* handle) const noexcept { spectr_verifier_free(handle); }
  };

  explicit Verifier(spectr_verifier* handle) : handle_(handle) {}

  static Result<spectr_rows> rows_of(const Rows& rows, std::size_t vocabulary, const char* name) {
    if (vocabulary == 0) return detail::bad_input("vocabulary must be at least 1, got 0");
    if (rows.size() % vocabulary != 0) {
      return detail::bad_input(std::string(name) + " has " + std::to_string(rows.size()) +
                               " numbers, not a multiple of the vocabulary, " + std::to_string(vocabulary));
    }
    return spectr_rows{.f32 = rows.floats(), .f64 = rows.doubles(), .count = rows.size() / vocabulary};
  }

  std::unique_ptr<spectr_verifier, Free> handle_;
};

}  // namespace spectr::inline v0

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/decode/array_verifier.h"
#include "spectr/decode/block.h"
#include "spectr/decode/draft.h"
#include "spectr/transport/checked_distribution.h"

namespace spectr {

/// Returns row `row` as a distribution, checked as a caller's. Requires: row < rows.size().
Result<Distribution> checked_distribution(const NumberRows& rows, std::size_t row, std::string_view name);

/// The Draft that the arrays describe, and the mapping from its nodes to entries.
class ArrayDraft {
 public:
  /// The arrays must outlive it. Requires: consistent arrays (ArrayVerifier::verify checks that).
  explicit ArrayDraft(const DraftArrays& arrays);

  /// Adds all draws. `reorders`: redraws the order of siblings from their multiplicities. Fails if a token
  /// has probability 0 in its row, or if a required row is not a distribution.
  Result<void> build(bool reorders, const BlockStart& start, Choices& choices);

  const Draft& draft() const { return draft_; }
  /// Returns the first entry of a node. Requires: not the root.
  std::size_t entry_of(NodeId node) const { return entries_[static_cast<std::size_t>(node) - 1]; }

 private:
  RecycledVector<std::size_t> children_of(std::optional<std::size_t> parent) const;
  Result<void> add_reordered(const RecycledVector<std::size_t>& entries, const BlockStart& start,
                             Choices& choices);
  Result<void> add(std::size_t entry);
  Result<const Distribution*> distribution_of(std::size_t entry, NodeId above);
  std::size_t row_of(std::size_t entry) const;
  std::optional<std::size_t> parent_of(std::size_t entry) const;
  std::size_t copies_of(std::size_t entry) const;
  bool have_equal_rows(std::size_t a, std::size_t b) const;

  const DraftArrays& arrays_;
  Draft draft_{0};
  RecycledVector<std::optional<std::size_t>> first_draws_;  // by entry
  RecycledVector<std::size_t> entries_;                     // by node, without the root: its first entry
  RecycledVector<const Distribution*> distributions_;       // by row; null until needed
};

}  // namespace spectr

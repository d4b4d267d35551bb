#include "spectr/decode/array_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace spectr {

Result<Distribution> checked_distribution(const NumberRows& rows, std::size_t row, std::string_view name) {
  const std::string full = fmt::format("{}[{}]", name, row);
  return std::visit(
      [&](const auto& values) {
        return checked_distribution(values.subspan(row * rows.vocabulary, rows.vocabulary), full);
      },
      rows.values);
}

ArrayDraft::ArrayDraft(const DraftArrays& arrays)
    : arrays_(arrays),
      first_draws_(arrays.tokens.size()),
      distributions_(arrays.probabilities.size(), nullptr) {}

Result<void> ArrayDraft::build(bool reorders, const BlockStart& start, Choices& choices) {
  const std::size_t n = arrays_.tokens.size();
  for (std::size_t next = 0; next <= n; ++next) {
    const RecycledVector<std::size_t> children =
        children_of(next == 0 ? std::nullopt : std::optional(next - 1));
    if (reorders && children.size() > 1) {
      SPECTR_TRY_VOID(add_reordered(children, start, choices));
      continue;
    }
    for (const std::size_t entry : children) {
      for (std::size_t copy = 0; copy < copies_of(entry); ++copy) SPECTR_TRY_VOID(add(entry));
    }
  }
  return {};
}

Result<void> ArrayDraft::add_reordered(const RecycledVector<std::size_t>& entries, const BlockStart& start,
                                       Choices& choices) {
  RecycledVector<double> left;
  std::size_t draws = 0;
  for (const std::size_t entry : entries) {
    left.push_back(static_cast<double>(copies_of(entry)));
    draws += copies_of(entry);
  }
  const auto parent = parent_of(entries.front());
  const NodeId above = draft_.node_of(parent ? first_draws_[*parent] : std::nullopt);
  choices.enter(start.place(parent ? *parent + 1 : 0, static_cast<std::size_t>(draft_.tree().depth(above)),
                            Purpose::draft));
  for (std::size_t i = 0; i < draws; ++i) {
    const std::size_t next = choices.draw(left);
    left[next] -= 1.0;
    SPECTR_TRY_VOID(add(entries[next]));
  }
  return {};
}

Result<void> ArrayDraft::add(std::size_t entry) {
  const auto parent = parent_of(entry);
  const auto above = parent ? first_draws_[*parent] : std::nullopt;
  SPECTR_TRY(const Distribution* p, distribution_of(entry, draft_.node_of(above)));
  const Token token = arrays_.tokens[entry];
  if (!((*p)[token] > 0.0)) {
    return error("{}[{}] is {}, which has probability 0 in draft_probs[{}]", arrays_.name(), entry, token,
                 row_of(entry));
  }
  const std::size_t draw = draft_.add(above, token, p);
  if (!first_draws_[entry]) first_draws_[entry] = draw;
  if (entries_.size() + 1 < static_cast<std::size_t>(draft_.tree().size())) entries_.push_back(entry);
  return {};
}

/// Siblings with equal rows share one Distribution, because plans test whether drafts share a distribution.
Result<const Distribution*> ArrayDraft::distribution_of(std::size_t entry, NodeId above) {
  const std::size_t row = row_of(entry);
  for (NodeId node = above + 1; node < draft_.tree().size(); ++node) {
    if (draft_.tree().parent(node) != above) continue;
    const std::size_t sibling = entry_of(node), other = row_of(sibling);
    if (row == other || have_equal_rows(row, other)) return draft_.draw(*first_draws_[sibling]).distribution;
  }
  if (distributions_[row] != nullptr) return distributions_[row];
  SPECTR_TRY(Distribution p, checked_distribution(arrays_.probabilities, row, "draft_probs"));
  return distributions_[row] = draft_.own(std::move(p));
}

RecycledVector<std::size_t> ArrayDraft::children_of(std::optional<std::size_t> parent) const {
  RecycledVector<std::size_t> children;
  const std::size_t first = parent ? *parent + 1 : 0;
  for (std::size_t entry = first; entry < arrays_.tokens.size(); ++entry) {
    if (parent_of(entry) == parent) children.push_back(entry);
  }
  return children;
}

std::size_t ArrayDraft::row_of(std::size_t entry) const {
  return arrays_.rows.empty() ? entry : static_cast<std::size_t>(arrays_.rows[entry]);
}

std::optional<std::size_t> ArrayDraft::parent_of(std::size_t entry) const {
  if (arrays_.parents.empty()) return entry == 0 ? std::nullopt : std::optional(entry - 1);
  const std::int32_t parent = arrays_.parents[entry];
  return parent < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(parent));
}

std::size_t ArrayDraft::copies_of(std::size_t entry) const {
  return arrays_.multiplicities.empty() ? 1 : static_cast<std::size_t>(arrays_.multiplicities[entry]);
}

bool ArrayDraft::have_equal_rows(std::size_t a, std::size_t b) const {
  return std::visit(
      [&](const auto& values) {
        const std::size_t V = arrays_.probabilities.vocabulary;
        return std::ranges::equal(values.subspan(a * V, V), values.subspan(b * V, V));
      },
      arrays_.probabilities.values);
}

}  // namespace spectr

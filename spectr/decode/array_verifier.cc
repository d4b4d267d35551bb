#include "spectr/decode/array_verifier.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "spectr/base/check.h"
#include "spectr/base/names.h"
#include "spectr/decode/array_draft.h"
#include "spectr/decode/block.h"
#include "spectr/decode/draft.h"
#include "spectr/decode/node_distributions.h"
#include "spectr/lm/language_model.h"
#include "spectr/transport/plans.h"

namespace spectr {
namespace {

struct ArrayMethod {
  std::string_view name;
  ArrayVerifier::Shape shape;
  bool needs_separate_copies = false;
};

// The methods that verify drafts from given distributions.
constexpr ArrayMethod array_methods[] = {
    {"speculative", ArrayVerifier::Shape::chain}, {"spectr", ArrayVerifier::Shape::tree},
    {"tree", ArrayVerifier::Shape::tree},         {"batch", ArrayVerifier::Shape::tree, true},
    {"specinfer", ArrayVerifier::Shape::tree},    {"block", ArrayVerifier::Shape::chain},
    {"traversal", ArrayVerifier::Shape::tree},    {"conditional", ArrayVerifier::Shape::tree},
    {"univer", ArrayVerifier::Shape::tree},       {"gbv", ArrayVerifier::Shape::sequences},
    {"biased-opt", ArrayVerifier::Shape::chain},  {"biased-uno", ArrayVerifier::Shape::chain}};

constexpr std::size_t max_position = std::size_t{1} << 24;

/// A session of rows of logits, as if it had scored every node.
class RowSession final : public Session {
 public:
  /// `rows` has the root's row first, then those of the entries.
  RowSession(const NumberRows& rows, const ArrayDraft& draft) : rows_(rows), draft_(draft) {}

  Logits logits(NodeId node) const override {
    const std::size_t row = node == TokenTree::root ? 0 : draft_.entry_of(node) + 1;
    return std::visit(
        [&](const auto& values) { return Logits(values.subspan(row * rows_.vocabulary, rows_.vocabulary)); },
        rows_.values);
  }
  Result<void> score(std::span<const Token>, const TokenTree&) override { return {}; }
  void keep(std::span<const NodeId>) override {}
  void rewind(std::size_t) override {}
  std::string_view name() const override { return "target_logits"; }
  std::size_t length() const override { return 0; }
  std::size_t vocabulary() const override { return rows_.vocabulary; }
  std::size_t context() const override { return std::numeric_limits<std::size_t>::max(); }

 private:
  const NumberRows& rows_;
  const ArrayDraft& draft_;
};

/// Fails if values[i] lies outside [min, max].
Result<void> check_range(std::string_view name, std::span<const std::int32_t> values, std::int64_t min,
                         std::int64_t max) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < min || values[i] > max)
      return error("{}[{}] must lie in [{}, {}], got {}", name, i, min, max, values[i]);
  }
  return {};
}

Result<void> check_length(std::string_view name, std::span<const std::int32_t> values, std::size_t n) {
  if (values.empty() || values.size() == n) return {};
  return error("{} must have an entry for each of the {} tokens, got {}", name, n, values.size());
}

Result<void> check_rows(std::string_view name, const NumberRows& rows) {
  constexpr auto max_vocabulary = static_cast<std::size_t>(std::numeric_limits<Token>::max());
  if (rows.vocabulary < 1 || rows.vocabulary > max_vocabulary)
    return error("{}: the vocabulary must be in [1, {}], got {}", name, max_vocabulary, rows.vocabulary);
  return {};
}

/// Returns the draws below a node, in the order drawn.
RecycledVector<std::size_t> draws_below(const Draft& draft, NodeId node) {
  RecycledVector<std::size_t> found;
  for (std::size_t draw = 0; draw < draft.draws().size(); ++draw) {
    if (draft.tree().parent(draft.draw(draw).node) == node) found.push_back(draw);
  }
  return found;
}

/// Returns true if all draws but the last are the likeliest tokens of p, as in draw_likeliest_and_one().
bool are_likeliest_and_one(const Draft& draft, const RecycledVector<std::size_t>& draws,
                           const Distribution& p) {
  RecycledVector<Token> order(p.vocabulary());
  std::iota(order.begin(), order.end(), Token{0});
  const auto likeliest = std::min(draws.size() - 1, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(likeliest), {},
                            [&](Token x) { return std::pair(-p[x], x); });
  for (std::size_t i = 0; i < likeliest; ++i) {
    if (draft.token(draws[i]) != order[i]) return false;
  }
  return true;
}

}  // namespace

std::size_t NumberRows::size() const {
  const auto numbers = std::visit([](const auto& row) { return row.size(); }, values);
  return vocabulary == 0 ? 0 : numbers / vocabulary;
}

Result<ArrayVerifier> ArrayVerifier::make(std::string_view name, const MethodOptions& options) {
  MethodOptions complete = options;
  complete.drafts = complete.length = 1;  // the arrays determine how much was drafted
  complete.tree.clear();
  complete.trunk = 0;
  std::string method(name);
  if (!find_method(name)) {
    if (!find_plan(name)) {
      return error("method: there is no method or plan '{}'; methods: {}; plans: {}", escape(name),
                   names_of(array_methods, ", "), names_of(plan_rules(), ", "));
    }
    method = "spectr";
    complete.plan = std::string(name);
  }
  const ArrayMethod* known = std::ranges::find(array_methods, method, &ArrayMethod::name);
  if (known == std::end(array_methods)) {
    return error("method: {} does not verify drafts from given distributions; these do: {}", method,
                 names_of(array_methods, ", "));
  }
  if (method == "tree") complete.tree = {1};
  SPECTR_TRY(const MethodRule* rule, find_method(method));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, complete));

  ArrayVerifier verifier(rule, std::move(decoder));
  verifier.shape_ = known->shape;
  verifier.needs_separate_copies_ = known->needs_separate_copies;
  verifier.lossless_ = is_lossless(*rule, complete);
  if (!rule->plan.empty()) {
    SPECTR_TRY(const PlanRule* plan, find_plan(complete.plan.value_or(std::string(rule->plan))));
    verifier.drafting_ = plan->drafting;
    verifier.max_drafts_ = plan->max_drafts;
    verifier.several_distributions_ = plan->several_distributions;
  }
  if (method == "univer") verifier.drafting_ = Drafting::likeliest_and_one;
  return verifier;
}

Result<void> ArrayVerifier::check(const DraftArrays& draft, const TargetArrays& target,
                                  const BlockPlace& place) const {
  const std::size_t n = draft.tokens.size(), V = target.rows.vocabulary;
  const std::string_view target_name = target.warp != nullptr ? "target_logits" : "target_probs";
  SPECTR_TRY_VOID(check_rows(target_name, target.rows));
  if (target.rows.size() != n + 1) {
    return error("{} must have {} rows, one after each of {} tokens and the first, got {}", target_name,
                 n + 1, n, target.rows.size());
  }
  if (target.warp != nullptr && target.warp->reads_history())
    return error("target_logits: penalties need the tokens of the sequence");
  if (target.warp != nullptr && target.warp->feedback())
    return error("target_logits: mirostat and adaptive-p need the tokens of the sequence");
  if (place.position < 1 || place.position > max_position)
    return error("position must lie in [1, {}], got {}", max_position, place.position);
  if (n == 0) return {};
  SPECTR_TRY_VOID(check_rows("draft_probs", draft.probabilities));
  if (draft.probabilities.vocabulary != V) {
    return error("draft_probs has a vocabulary of {}, but {} has {}", draft.probabilities.vocabulary,
                 target_name, V);
  }
  SPECTR_TRY_VOID(check_length("parents", draft.parents, n));
  SPECTR_TRY_VOID(check_length("multiplicities", draft.multiplicities, n));
  SPECTR_TRY_VOID(check_length("draft_rows", draft.rows, n));
  const auto rows = static_cast<std::int64_t>(draft.probabilities.size());
  if (draft.rows.empty() && rows < static_cast<std::int64_t>(n))
    return error("draft_probs must have a row for each of the {} tokens, got {}", n, rows);
  SPECTR_TRY_VOID(check_range(draft.name(), draft.tokens, 0, static_cast<std::int64_t>(V) - 1));
  SPECTR_TRY_VOID(check_range("multiplicities", draft.multiplicities, 1, max_draws));
  SPECTR_TRY_VOID(check_range("draft_rows", draft.rows, 0, rows - 1));
  for (std::size_t i = 0; i < draft.parents.size(); ++i) {
    if (draft.parents[i] < -1 || draft.parents[i] >= static_cast<std::int64_t>(i))
      return error("parents[{}] must be -1 or an entry before {}, got {}", i, i, draft.parents[i]);
  }
  std::size_t draws = draft.multiplicities.empty() ? n : 0;
  for (const std::int32_t copies : draft.multiplicities) draws += static_cast<std::size_t>(copies);
  for (std::size_t i = 0; needs_separate_copies_ && i < draft.multiplicities.size(); ++i) {
    const auto continues = [&](std::int32_t parent) { return parent == static_cast<std::int32_t>(i); };
    if (draft.multiplicities[i] > 1 &&
        (draft.parents.empty() || std::ranges::any_of(draft.parents, continues))) {
      return error("multiplicities[{}]: method {} needs an entry for each copy that is continued", i,
                   method_->name);
    }
  }
  if (draws > max_draws)
    return error("a block of {} drafts is too large, at most {} are allowed", draws, max_draws);
  return {};
}

Result<void> ArrayVerifier::check_tree(const Draft& draft, bool reordered) const {
  const TokenTree& tree = draft.tree();
  RecycledVector<std::size_t> copies(static_cast<std::size_t>(tree.size()), 0);
  for (const Draw& draw : draft.draws()) ++copies[static_cast<std::size_t>(draw.node)];
  for (NodeId node = TokenTree::root; node < tree.size(); ++node) {
    const RecycledVector<std::size_t> below = draws_below(draft, node);
    if (below.empty()) continue;
    const std::size_t here = copies[static_cast<std::size_t>(node)];
    if (shape_ == Shape::chain && below.size() > 1) {
      return error("parents: method {} takes one chain, but {} tokens continue one entry", method_->name,
                   below.size());
    }
    if (shape_ == Shape::sequences && node != TokenTree::root && below.size() != here) {
      return error("parents: method {} takes sequences that do not branch, but {} tokens continue {} copies",
                   method_->name, below.size(), here);
    }
    if (max_drafts_ > 0 && below.size() > max_drafts_)
      return error("parents: the plan takes at most {} draft of a token, got {}", max_drafts_, below.size());
    const Distribution* p = draft.draw(below.front()).distribution;
    for (const std::size_t draw : below) {
      const Draw& drawn = draft.draw(draw);
      if ((!several_distributions_ || reordered) && drawn.distribution != p) {
        return error(
            "draft_probs: siblings of token {} were drawn from other rows, but method {} takes drafts of "
            "one distribution",
            draft.token(draw), method_->name);
      }
      if (drafting_ != Drafting::independent && copies[static_cast<std::size_t>(drawn.node)] > 1) {
        return error("tokens: {} was drawn twice, but the method draws without replacement",
                     draft.token(draw));
      }
    }
    if (drafting_ == Drafting::likeliest_and_one && !are_likeliest_and_one(draft, below, *p)) {
      return error("tokens: method {} takes the likeliest tokens of a row, and then one draw of the others",
                   method_->name);
    }
  }
  return {};
}

Result<ArrayVerdict> ArrayVerifier::verify(const DraftArrays& draft, const TargetArrays& target,
                                           const BlockPlace& place, Choices& choices) const {
  SPECTR_TRY_VOID(check(draft, target, place));
  const RecycledVector<Token> sequence(place.position, 0);
  const BlockStart start{sequence, draft.tokens.size() + 1, place.block, {}};
  ArrayDraft built(draft);
  const bool reorders = !draft.multiplicities.empty() && drafting_ == Drafting::independent;
  SPECTR_TRY_VOID(built.build(reorders, start, choices));
  SPECTR_TRY_VOID(check_tree(built.draft(), reorders));

  const TokenTree& tree = built.draft().tree();
  const RowSession session(target.rows, built);
  SPECTR_TRY(const Warp none, Warp::make(WarpOptions::none()));
  const Warp& warp = target.warp != nullptr ? *target.warp : none;
  NodeDistributions distributions(session, warp, sequence, tree, target.rows.vocabulary);
  for (NodeId node = TokenTree::root; target.warp == nullptr && node < tree.size(); ++node) {
    const std::size_t row = node == TokenTree::root ? 0 : built.entry_of(node) + 1;
    SPECTR_TRY(Distribution q, checked_distribution(target.rows, row, "target_probs"));
    distributions.set(node, std::move(q));
  }
  SPECTR_TRY(Verdict verdict, decoder_.verifier().select(start, built.draft(), distributions, choices));

  ArrayVerdict out{
      .path = {}, .tokens = {}, .last_source = verdict.last_source, .biases = std::move(verdict.biases)};
  for (const NodeId node : verdict.path) {
    out.path.push_back(built.entry_of(node));
    out.tokens.push_back(tree.token(node));
  }
  SPECTR_CHECK(verdict.last.has_value());  // the limit allows more tokens than were drafted
  out.tokens.push_back(*verdict.last);
  return out;
}

}  // namespace spectr

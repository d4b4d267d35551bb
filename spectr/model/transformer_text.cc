#include "spectr/model/transformer_text.h"

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/model/weights.h"

namespace spectr {
namespace {

// Rows of a pass over a long text: enough to be bound by arithmetic, little enough to stay in the cache.
constexpr std::size_t text_rows = 64;

/// Keys and values that come from quantised weights are less exact than halves are.
CacheNumbers cache_numbers(const Weights& weights) {
  const TensorType type = weights.layers.front().k.weight.type();
  return format_of(type).is_quantised() ? CacheNumbers::halves : CacheNumbers::floats;
}

std::size_t checked_context(const Transformer& model, std::size_t context) {
  SPECTR_CHECK(context >= 1 && context <= model.config().context);
  return context;
}

}  // namespace

TransformerText::TransformerText(const Transformer& model, std::size_t context, std::size_t nodes)
    : model_(model),
      context_(checked_context(model, context)),
      most_nodes_(std::max<std::size_t>(nodes, 1)),
      cache_(model.config().layers, model.config().kv_heads, context + most_nodes_, model.config().head_dim,
             cache_numbers(model.weights())),
      logits_(std::make_unique_for_overwrite<float[]>(most_nodes_ * model.vocabulary())),
      paths_(most_nodes_) {}

std::size_t TransformerText::cache_bytes(const Transformer& model, std::size_t context, std::size_t nodes) {
  const ModelConfig& c = model.config();
  return KvCache::bytes(c.layers, c.kv_heads, context + std::max<std::size_t>(nodes, 1), c.head_dim,
                        cache_numbers(model.weights()));
}

Result<void> TransformerText::check(std::span<const Token> text, const TokenTree& tree) const {
  SPECTR_CHECK(!text.empty() && tree.token(TokenTree::root) == text.back() && length_ <= text.size());
  SPECTR_CHECK(static_cast<std::size_t>(tree.size()) <= most_nodes_);
  int deepest = 0;
  for (NodeId node = 0; node < tree.size(); ++node) deepest = std::max(deepest, tree.depth(node));
  const std::size_t needed = text.size() + static_cast<std::size_t>(deepest);
  if (needed > context_) {
    return error("{}: text and draft have {} tokens, but the context holds {}", model_.config().file, needed,
                 context_);
  }
  const auto unknown = [this](Token token) {
    return token < 0 || static_cast<std::size_t>(token) >= model_.vocabulary();
  };
  const auto refuse = [this](Token token) {
    return error("{}: token {} is outside the vocabulary of {}", model_.config().file, token,
                 model_.vocabulary());
  };
  const auto at = std::ranges::find_if(text.subspan(length_), unknown);
  if (at != text.end()) return refuse(*at);
  // Drafts of another model may be tokens that this one does not have.
  for (NodeId node = scored_; node < tree.size(); ++node) {
    if (unknown(tree.token(node))) return refuse(tree.token(node));
  }
  return {};
}

Result<void> TransformerText::score(std::span<const Token> text, const TokenTree& tree) {
  SPECTR_TRY_VOID(check(text, tree));
  const std::size_t before = length_;
  try {
    return compute(text, tree);
  } catch (...) {
    rewind(before);  // what was planned since may not have been computed
    throw;
  }
}

float* TransformerText::logits_of(NodeId node) {
  return logits_.get() + static_cast<std::size_t>(node) * model_.vocabulary();
}

PassRow TransformerText::text_row(std::span<const Token> text, std::size_t position) {
  return {text[position], position, position, position + 1, {}, &cache_, nullptr};
}

PassRow TransformerText::node_row(const TokenTree& tree, NodeId node) {
  const auto slot = [this](NodeId n) { return length_ + static_cast<std::size_t>(n) - 1; };
  const std::size_t position = length_ - 1 + static_cast<std::size_t>(tree.depth(node));
  RecycledVector<int>& path = paths_[static_cast<std::size_t>(node)];
  path.clear();
  if (const NodeId parent = tree.parent(node); parent != TokenTree::root) {
    path = paths_[static_cast<std::size_t>(parent)];
  }
  path.push_back(static_cast<int>(slot(node)));
  return {tree.token(node), position, slot(node), length_, path, &cache_, logits_of(node)};
}

std::size_t TransformerText::most_rows(std::size_t nodes) {
  return std::max<std::size_t>(nodes, 1) + text_rows;
}

bool TransformerText::plan(std::span<const Token> text, const TokenTree& tree, std::vector<PassRow>& rows) {
  // The root's logits are those of the text's last token: compute it again if only its keys are left.
  if (length_ == text.size() && scored_ == 0) --length_;

  const std::size_t piece = std::min(text.size() - length_, text_rows);
  if (piece > 0) scored_ = 0;
  for (std::size_t i = 0; i < piece; ++i) rows.push_back(text_row(text, length_++));
  if (length_ < text.size()) return false;

  if (piece > 0) rows.back().logits = logits_of(TokenTree::root);
  const NodeId first = std::max<NodeId>(scored_, 1);
  for (NodeId node = first; node < tree.size(); ++node) rows.push_back(node_row(tree, node));
  scored_ = tree.size();
  return true;
}

Logits TransformerText::logits(NodeId node) const {
  SPECTR_CHECK(node >= 0 && node < scored_);
  const std::size_t vocabulary = model_.vocabulary();
  return std::span<const float>(logits_.get() + static_cast<std::size_t>(node) * vocabulary, vocabulary);
}

void TransformerText::keep(std::span<const NodeId> path) {
  const std::size_t begin = length_;
  for (NodeId node : path) {
    if (node >= scored_) break;  // not computed here: the next score does
    cache_.move(begin + static_cast<std::size_t>(node) - 1, length_++);
  }
  scored_ = 0;
}

void TransformerText::rewind(std::size_t length) {
  length_ = std::min(length_, length);
  scored_ = 0;
}

}  // namespace spectr

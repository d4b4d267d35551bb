#include "spectr/nn/drafters/block_session.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "spectr/base/check.h"
#include "spectr/nn/weights.h"

namespace spectr {
namespace {

constexpr float nothing = -std::numeric_limits<float>::infinity();

double product(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                            [](float x, float y) { return static_cast<double>(x) * static_cast<double>(y); });
}

/// Reads row `token` of a matrix of the drafter's file.
std::vector<float> row_of_file(const Gguf& file, const std::string& name, Token token) {
  const GgufTensor& tensor = *file.tensor(name);
  std::vector<float> row(tensor.cols());
  read_numbers(tensor, static_cast<std::size_t>(token), row);
  return row;
}

}  // namespace

BlockSession::BlockSession(const TrainedDrafter& model, Session& target, const FollowSettings& settings)
    : DrafterSession(model, target, settings, false,
                     settings.block_rows > 0 ? settings.block_rows : model.spec().block->rows),
      rows_(settings.block_rows > 0 ? settings.block_rows : model.spec().block->rows) {
  nodes_.reserve(settings.nodes);
}

void BlockSession::drop_tree() {
  pass_ = {};
  scored_length_ = 0;
  nodes_.clear();
}

Result<void> BlockSession::feed(std::span<const Token> text, std::size_t first, std::size_t end) {
  const Features& features = *target().features();
  begin_batch(features.width(), true);
  for (std::size_t i = first; i < end; ++i) add_row(text[i], i, i, i + 1, {}, features.at(i));
  SPECTR_TRY(const HeldLogits pass, run(TrainedDrafter::Pass::context));
  return {};
}

Result<void> BlockSession::score_block(std::span<const Token> text) {
  const std::size_t length = text.size() - 1, predicting = rows_ - block().first_row;
  begin_batch(0, false);
  std::vector<std::int32_t> slots(rows_);
  std::iota(slots.begin(), slots.end(), static_cast<std::int32_t>(length));
  for (std::size_t i = 0; i < rows_; ++i) {
    const auto seen = std::span(slots).first(block().causal ? i + 1 : rows_);
    add_row(i == 0 ? text.back() : block().mask, length + i, length + i, length, seen, {});
    if (i >= rows_ - predicting) want_last();
  }
  SPECTR_TRY(pass_, run(TrainedDrafter::Pass::draft));
  scored_length_ = text.size();
  return {};
}

Result<void> BlockSession::score(std::span<const Token> text, const TokenTree& tree) {
  SPECTR_TRY_VOID(check(text, tree));
  if (scored_length_ != text.size()) {
    drop_tree();
    SPECTR_TRY_VOID(read(text, text.size() - 1));
    forget_rows(text.size() - 1);  // the block takes the following slots
    SPECTR_TRY_VOID(score_block(text));
  }
  const auto first = static_cast<NodeId>(nodes_.size());
  for (NodeId node = first; node < tree.size(); ++node) {
    Node& scored = nodes_.emplace_back();
    scored.depth = static_cast<std::size_t>(tree.depth(node));
    if (block().selector && scored.depth < max_depth()) select(tree.token(node), scored);
  }
  return block().markov ? add_biases(tree, first) : Result<void>();
}

/// Adds the Markov head's bias to the logits of the nodes from `first` on, and estimates their confidences.
Result<void> BlockSession::add_biases(const TokenTree& tree, NodeId first) {
  std::vector<Token> tokens;
  std::vector<std::size_t> nodes;
  for (auto node = first; node < tree.size(); ++node) {
    if (nodes_[static_cast<std::size_t>(node)].depth >= max_depth()) continue;
    tokens.push_back(tree.token(node));
    nodes.push_back(static_cast<std::size_t>(node));
  }
  if (nodes.empty()) return {};
  SPECTR_TRY(const HeldLogits biases, model().markov_biases(tokens));
  // A drafter's d2t also applies to the rows of its Markov head; a slim head leaves them as they are.
  const std::vector<Token>& rows = model().spec().model.head.shortlist;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node& node = nodes_[nodes[i]];
    const Logits base = pass_.row(node.depth), bias = biases.row(i);
    node.logits.assign(vocabulary(), nothing);
    for (std::size_t row = 0; row < bias.size(); ++row) {
      const Token token = rows.size() == bias.size() ? rows[row] : static_cast<Token>(row);
      node.logits[static_cast<std::size_t>(token)] =
          static_cast<float>(base.at(token) + bias.at(static_cast<Token>(row)));
    }
    if (!block().confidence) continue;
    const ConfidenceSpec& head = *block().confidence;
    const std::span<const float> state = pass_.features(row_of(node)), weight = head.weight;
    const auto before = row_of_file(model().file(), block().markov->weight(0).name, tokens[i]);
    const double z = product(weight.first(state.size()), state) +
                     product(weight.subspan(state.size()), before) + static_cast<double>(head.bias);
    node.confidence = 1.0 / (1.0 + std::exp(-z));
  }
  return {};
}

/// Scores the best candidates of the node's row, depending on the node's own token.
void BlockSession::select(Token token, Node& node) const {
  const SelectorSpec& selector = *block().selector;
  const Gguf& file = model().file();
  const std::span<const float> state = pass_.features(row_of(node));
  std::vector<float> gate = row_of_file(file, selector.predecessor, token);
  for (std::size_t r = 0; r < selector.rank; ++r) {
    gate[r] *= static_cast<float>(
        product(std::span(selector.hidden).subspan(r * state.size(), state.size()), state));
  }
  node.logits.assign(vocabulary(), nothing);
  for (const Candidate& candidate : pass_.row(node.depth).top(selector.candidates)) {
    const auto successor = row_of_file(file, selector.successor, candidate.token);
    node.logits[static_cast<std::size_t>(candidate.token)] =
        static_cast<float>(candidate.logit + product(successor, gate));
  }
}

Logits BlockSession::logits(NodeId node) const {
  const Node& scored = nodes_[static_cast<std::size_t>(node)];
  SPECTR_CHECK(scored_length_ > 0 && scored.depth < max_depth());
  if (scored.logits.empty()) return pass_.row(scored.depth);
  return std::span<const float>(scored.logits);
}

Logits BlockSession::row_logits(NodeId node) const {
  if (block().selector) return pass_.row(nodes_[static_cast<std::size_t>(node)].depth);
  return logits(node);
}

std::optional<double> BlockSession::confidence(NodeId node) const {
  if (!block().confidence) return std::nullopt;
  return nodes_[static_cast<std::size_t>(node)].confidence;
}

}  // namespace spectr

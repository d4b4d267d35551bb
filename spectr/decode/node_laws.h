#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/model/language_model.h"
#include "spectr/model/token_tree.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// The laws of the next token at the nodes of a tree under one model: each row is warped once, when it is
/// first asked for. Draft and target laws come from here alike, so that the law that is sampled is the law
/// that is verified. The session, the warp, the text and the tree must outlive it; the nodes asked for must
/// be scored.
class NodeLaws : public RecycledObject {
 public:
  static constexpr std::size_t every_token = std::numeric_limits<std::size_t>::max();

  /// vocabulary: V of the laws. Of a row only the first `shared` tokens count; other ones of the laws have
  /// probability 0.
  NodeLaws(const Session& session, const Warp& warp, std::span<const Token> text, const TokenTree& tree,
           std::size_t vocabulary, std::size_t shared = every_token)
      : session_(session),
        warp_(warp),
        text_(text),
        tree_(tree),
        vocabulary_(vocabulary),
        shared_(std::min(vocabulary, shared)) {}

  /// The law after the path to `node`; the reference stays valid as long as this object. Error: of the warp,
  /// behind the model's name.
  Result<const Distribution*> at(NodeId node);

 private:
  const Session& session_;
  const Warp& warp_;
  std::span<const Token> text_;
  const TokenTree& tree_;
  std::size_t vocabulary_, shared_;
  RecycledVector<std::unique_ptr<Distribution>> laws_;  // by node, null until asked for
};

}  // namespace spectr

#include "spectr/decode/verify/traversal_verifier.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/decode/block.h"
#include "spectr/decode/verify/excess_distribution.h"

namespace spectr {
namespace {

/// A child of a node with the draws that it represents. A later copy has no draws and is always
/// rejected.
struct DrawnChild {
  Token token;
  RecycledVector<std::optional<std::size_t>> copies;
};

/// A node on the path from the root to the tested leaf.
struct Level {
  NodeId node;
  double weight;                        // w
  std::optional<Distribution> target;   // q_u after updates; nullopt: the target's own
  const Distribution* draft;            // p_u; null at a leaf
  RecycledVector<DrawnChild> children;  // in the order drawn
  std::size_t next = 0;                 // the first child that has not been tested yet
};

class Traversal {
 public:
  Traversal(const BlockStart& start, const Draft& draft, NodeDistributions& target, Choices& choices)
      : start_(start), draft_(draft), target_(target), choices_(choices) {}

  Result<Verdict> run() {
    const std::optional<std::size_t> sequence;
    path_.push_back(level(TokenTree::root, 1.0, std::span(&sequence, 1)));
    for (;;) {
      const Level& here = path_.back();
      if (here.next < here.children.size()) {
        SPECTR_TRY_VOID(descend());
        continue;
      }
      // `here` is a leaf, or everything below it has been rejected.
      choices_.enter(start_.place(here.node, path_.size() - 1, Purpose::select));
      if (path_.size() == 1 || choices_.accept(here.weight)) return accept();
      path_.pop_back();
      SPECTR_TRY_VOID(reject_child());
    }
  }

 private:
  Level level(NodeId node, double weight, std::span<const std::optional<std::size_t>> copies) const {
    Level level{node, weight, std::nullopt, nullptr, {}};
    for (std::size_t draw : draft_.below(copies)) {
      level.draft = draft_.draw(draw).distribution;
      const Token token = draft_.token(draw);
      const auto first = std::ranges::find(level.children, token, &DrawnChild::token);
      if (first == level.children.end()) {
        level.children.push_back({token, {draw}});
      } else {
        first->copies.emplace_back(draw);
        level.children.push_back({token, {}});
      }
    }
    return level;
  }

  /// Returns the distribution that the node still has to serve.
  Result<const Distribution*> distribution_of(const Level& at) {
    if (at.target) return &*at.target;
    return target_.at(at.node);
  }

  Result<void> descend() {
    Level& here = path_.back();
    const DrawnChild child = here.children[here.next++];
    if (child.copies.empty()) return reject_child();
    SPECTR_TRY(const Distribution* q, distribution_of(here));
    const double weight = std::min(1.0, here.weight * (*q)[child.token] / (*here.draft)[child.token]);
    path_.push_back(level(draft_.draw(*child.copies.front()).node, weight, child.copies));
    return {};
  }

  /// Handles the rejection of a child of the path's last node: subtracts what its draft could have served.
  Result<void> reject_child() {
    Level& parent = path_.back();
    SPECTR_TRY(const Distribution* q, distribution_of(parent));
    ExcessDistribution excess(parent.weight, *q, *parent.draft);
    parent.weight = excess.share(parent.weight);  // stays 1 at the root
    if (auto left = std::move(excess).distribution()) parent.target = std::move(left);
    return {};
  }

  Result<Verdict> accept() {
    Verdict verdict;
    for (std::size_t i = 1; i < path_.size(); ++i) verdict.path.push_back(path_[i].node);
    const Level& leaf = path_.back();
    if (leaf.children.empty()) {
      SPECTR_TRY_VOID(draw_bonus(start_, draft_, target_, choices_, verdict));
      return verdict;
    }
    SPECTR_TRY(const Distribution* q, distribution_of(leaf));
    choices_.enter(start_.place(leaf.node, path_.size() - 1, Purpose::residual));
    verdict.last = q->draw(choices_);
    verdict.last_source = Source::correction;
    return verdict;
  }

  const BlockStart& start_;
  const Draft& draft_;
  NodeDistributions& target_;
  Choices& choices_;
  RecycledVector<Level> path_;
};

}  // namespace

Result<Verdict> TraversalVerifier::select(const BlockStart& start, const Draft& draft,
                                          NodeDistributions& target, Choices& choices) const {
  return Traversal(start, draft, target, choices).run();
}

}  // namespace spectr

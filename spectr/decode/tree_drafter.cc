#include "spectr/decode/tree_drafter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/decode/node_distributions.h"
#include "spectr/transport/drafting.h"

namespace spectr {
namespace {

/// A copy of a node that can have children: the draw that made it (nullopt: the root), its draft model, and
/// the product of the model's confidences above it.
struct Copy {
  std::optional<std::size_t> draw;
  std::size_t model;
  double reach;
};

}  // namespace

RecycledVector<std::size_t> TreeDrafter::sequences(std::size_t drafts, std::size_t length,
                                                   std::size_t trunk) {
  RecycledVector<std::size_t> factors(length, 1);
  if (trunk < length) factors[trunk] = drafts;
  return factors;
}

std::size_t TreeDrafter::max_nodes(std::size_t left) const {
  std::size_t nodes = 1, level = 1;
  for (std::size_t depth = 0; depth < std::min(factors_.size(), left); ++depth)
    nodes += level *= factors_[depth];
  return nodes;
}

DraftShape TreeDrafter::shape() const {
  DraftShape shape{1, factors_.size()};
  for (std::size_t factor : factors_) shape.drafts *= factor;
  if (shape.drafts > 1)
    shape.trunk = static_cast<std::size_t>(
        std::ranges::find_if(factors_, [](std::size_t factor) { return factor > 1; }) - factors_.begin());
  return shape;
}

Result<void> TreeDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  std::size_t depth = std::min(factors_.size(), start.left);
  std::size_t shared = models.vocabulary();  // each model processes tokens of the others
  RecycledVector<Session*> drawing;
  for (std::size_t model = 0; model < models.drafts.size() && drawing.size() < factors_.front(); ++model) {
    if (model_.value_or(model) != model) continue;
    Session& session = *models.drafts[model];
    depth = draft_depth(session, start.sequence, depth);
    shared = std::min(shared, session.vocabulary());
    drawing.push_back(&session);
  }
  RecycledVector<NodeDistributions*> distributions;  // by drawing model
  for (Session* session : drawing) {
    distributions.push_back(
        &draft.distributions_of(*session, models.warp, start.sequence, models.vocabulary(), shared));
  }
  const std::size_t count = drawing.size();

  RecycledVector<Copy> copies = {{std::nullopt, 0, 1.0}};
  for (std::size_t level = 0; level < depth && !copies.empty(); ++level) {
    for (std::size_t model = 0; model < count; ++model) {
      // At the first level the children are distributed to the models in rotation.
      const bool draws =
          level == 0 || std::ranges::any_of(copies, [&](const Copy& c) { return c.model == model; });
      if (draws) SPECTR_TRY_VOID(drawing[model]->score(start.sequence, draft.tree()));
    }

    RecycledVector<Copy> next;
    for (const Copy& copy : copies) {
      const NodeId node = copy.draw ? draft.draw(*copy.draw).node : TokenTree::root;
      choices.enter(start.place(copy.draw ? *copy.draw + 1 : 0, level, Purpose::draft));
      const auto add = [&](Token token, const Distribution& p, std::size_t model) {
        const double confidence = min_reach_ ? distributions[model]->confidence(node) : 1.0;
        const double reach = copy.reach * confidence;
        const std::size_t draw = draft.add(copy.draw, token, &p, confidence);
        if (!start.is_end(token) && reach >= min_reach_.value_or(0.0)) next.push_back({draw, model, reach});
      };
      if (drafting_ != Drafting::independent) {
        SPECTR_TRY(const Distribution* p, distributions[copy.model]->at(node));
        const auto draw =
            drafting_ == Drafting::without_replacement ? draw_without_replacement : draw_likeliest_and_one;
        for (const Token token : draw(*p, factors_[level], choices)) add(token, *p, copy.model);
        continue;
      }
      for (std::size_t child = 0; child < factors_[level]; ++child) {
        const std::size_t model = copy.draw ? copy.model : child % count;
        SPECTR_TRY(const Distribution* p, distributions[model]->at(node));
        add(p->draw(choices), *p, model);
      }
    }
    copies = std::move(next);
  }
  return {};
}

}  // namespace spectr

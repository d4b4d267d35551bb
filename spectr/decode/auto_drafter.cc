#include "spectr/decode/auto_drafter.h"

#include <algorithm>
#include <optional>

#include "spectr/base/recycled.h"
#include "spectr/decode/ngram_drafter.h"
#include "spectr/decode/tree_drafter.h"

namespace spectr {
namespace {

// A look takes several blocks, because one context says little; the first one more.
constexpr std::size_t first_look = 8, later_look = 4;
// Blocks from the last drafts to the next look, and by how much longer every later gap is.
constexpr std::size_t first_gap = 64, growth = 4;
// So seldom a look finds that perfect drafts could be had.
constexpr double luck = 0.05;

}  // namespace

/// Whether what `way` saves on `share` of the tokens that are left outweighs what the draft model has missed.
bool AutoDrafter::pays(const Way& way, const BlockStart& start, double share) const {
  const double unread = std::max(static_cast<double>(start.text.size() - read_), Prospects::read_anyway);
  const double reading = costs_->draft.seconds(unread) - costs_->draft.seconds(Prospects::read_anyway);
  return prospects().saving(way) * share * static_cast<double>(start.left) > reading;
}

bool AutoDrafter::looks_at(std::size_t block) {
  if (block >= next_look_) {
    look_end_ = block + later_look;
    gap_ *= growth;
    next_look_ = look_end_ + gap_;
  }
  return block < look_end_;
}

void AutoDrafter::choose(const BlockStart& start, const Models& models) {
  if (start.index == 0) {
    model_ = {};
    text_ = {};
    largest_ = {};
    read_ = known_for_ = 0;
    gap_ = first_gap;
    look_end_ = first_look;
    next_look_ = look_end_ + gap_;
  }
  text_.see(start.text);
  // More tokens than the longest block has change nothing.
  const std::size_t left = std::min(start.left, Prospects::most_length + 1);
  if (left != known_for_) {
    known_for_ = left;
    best_ = prospects().best_by_model(left);
    perfect_ = prospects().perfect(left);
  }
  const bool room = draft_depth(models, start.text.size(), start.left) > 0;
  const bool by_model = room && best_.origin == DraftOrigin::model && pays(best_, start, 1.0);
  chosen_ = prospects().best_by_text(start.left, by_model ? best_ : prospects().plain());
  if (chosen_.origin == DraftOrigin::model) {
    gap_ = first_gap;
    next_look_ = std::max(look_end_, start.index) + gap_;
  } else if (chosen_.origin == DraftOrigin::nowhere && room && pays(perfect_, start, luck) &&
             looks_at(start.index)) {
    chosen_ = prospects().by_model(1, 1, left);
  }
}

bool AutoDrafter::opens_with_models(const BlockStart& first, const Models& models) {
  choose(first, models);
  return chosen_.origin == DraftOrigin::model;
}

Result<void> AutoDrafter::propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) {
  choose(start, models);
  const auto [K, L] = chosen_.shape;
  largest_ = {std::max(largest_.drafts, K), std::max(largest_.length, L)};
  switch (chosen_.origin) {
    case DraftOrigin::nowhere:
      break;
    case DraftOrigin::model:
      read_ = start.text.size();
      return TreeDrafter(TreeDrafter::sequences(K, L), Drafting::independent)
          .propose(start, models, choices, draft);
    case DraftOrigin::text:
      return NgramDrafter(NgramEstimate::longest, L).propose(start, models, choices, draft);
  }
  return {};
}

std::optional<Expectation> AutoDrafter::expectation() const {
  return Expectation{chosen_.origin == DraftOrigin::text, chosen_.shape, chosen_.tokens, chosen_.seconds,
                     prospects().plain().seconds};
}

Result<void> AutoDrafter::observe(const BlockStart&, const Draft& draft, const Verdict& verdict,
                                  NodeLaws& target) {
  if (chosen_.origin != DraftOrigin::model || draft.draws().empty()) return {};
  known_for_ = 0;
  const auto nodes = static_cast<std::size_t>(draft.tree().size()) - 1;
  model_.see_merging(chosen_.shape.drafts, draft.draws().size(), nodes);

  const bool looks = model_.wants_laws();
  RecycledVector<std::optional<std::size_t>> survivors = {std::nullopt};
  NodeId above = TokenTree::root;
  for (std::size_t position = 0;; ++position) {
    const auto draws = draft.below(survivors);
    if (draws.empty()) break;
    if (looks) {
      SPECTR_TRY(const Distribution* q, target.at(above));
      const Distribution& p = *draft.draw(draws.front()).law;
      if (position == 0) {
        model_.see_first(p, *q);
      } else {
        model_.see_further(position, chosen_.shape.drafts, draws.size(), p, *q);
      }
    }
    if (position == verdict.path.size()) break;
    above = verdict.path[position];
    survivors.clear();
    for (std::size_t draw : draws) {
      if (draft.draw(draw).node == above) survivors.emplace_back(draw);
    }
    model_.see_survivors(draws.size(), survivors.size());
  }
  return {};
}

std::size_t AutoDrafter::most_nodes(std::size_t left) const {
  return left == 0 ? 1 : most_rows;
}

}  // namespace spectr

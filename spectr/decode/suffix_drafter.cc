#include "spectr/decode/suffix_drafter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace spectr {
namespace {

// An ending with more continuations than this predicts little; shorter endings are then skipped.
constexpr std::size_t max_continuations = 256;
// Memory is reserved for completions of up to this length; longer ones reallocate.
constexpr std::size_t planned_suffixes = 4096;

/// A candidate node of the tree.
struct Offer {
  std::size_t above;  // index of its parent in the list of Grown
  Token token;
  double reach;  // the product of the estimates on its path
};

/// A node of the tree; the first one is the root.
struct Grown {
  std::size_t above;
  Token token;
  std::size_t depth;
};

/// Updates the estimates e_{m'} to e_m for each state of the match's chain of links, to which m − m' endings
/// belong: e ↦ f + (e − f) / (N + 1)^(m − m'), with f = n / N.
template <class Continuations>
void estimate(const SuffixAutomaton& automaton, const SuffixAutomaton::Match& match, Continuations& all) {
  struct Vote {
    SuffixAutomaton::State state;
    std::size_t endings;
  };
  RecycledVector<Vote> votes;
  std::size_t length = match.length, asked = 0;
  for (auto state = match.state; state != SuffixAutomaton::root; state = automaton.link(state)) {
    asked += automaton.continuations(state);
    if (asked > max_continuations && !votes.empty()) break;
    const std::size_t shorter = automaton.length(automaton.link(state));
    votes.push_back({state, length - shorter});
    length = shorter;
  }
  for (std::size_t i = votes.size(); i-- > 0;) {
    double N = 0.0;
    automaton.for_each_continuation(votes[i].state, [&](Token, std::uint32_t n) { N += n; });
    if (N == 0.0) continue;
    const double kept = std::pow(N + 1.0, -static_cast<double>(votes[i].endings));
    for (auto& continuation : all) continuation.probability *= kept;
    const std::size_t before = all.size();
    automaton.for_each_continuation(votes[i].state, [&](Token token, std::uint32_t n) {
      const double gained = (1.0 - kept) * n / N;
      const auto known =
          std::find_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before),
                       [token](const auto& continuation) { return continuation.token == token; });
      if (known == all.begin() + static_cast<std::ptrdiff_t>(before)) {
        all.push_back({token, gained});
      } else {
        known->probability += gained;
      }
    });
  }
}

}  // namespace

void SuffixDrafter::follow(const BlockStart& start) {
  const auto sequence = start.sequence;
  const bool goes_on = !followed_.empty() && followed_.size() <= sequence.size() &&
                       std::ranges::equal(followed_, sequence.first(followed_.size()));
  if (!goes_on) {
    followed_.clear();
    own_.clear();
    in_corpus_ = {};
    const std::size_t planned = sequence.size() + std::min(start.left, planned_suffixes);
    followed_.reserve(planned);
    own_.reserve(planned);
  }
  for (std::size_t i = followed_.size(); i < sequence.size(); ++i) {
    own_.append(sequence[i]);
    followed_.push_back(sequence[i]);
    if (corpus_) in_corpus_ = corpus_->advance(in_corpus_, sequence[i]);
  }
}

SuffixDrafter::Context SuffixDrafter::after(const Context& context, Token token) const {
  return {own_.advance(context.own, token),
          corpus_ ? corpus_->advance(context.corpus, token) : SuffixAutomaton::Match{}};
}

RecycledVector<SuffixDrafter::Continuation> SuffixDrafter::continuations(const Context& context) const {
  RecycledVector<Continuation> all;
  const bool corpus_last = context.corpus.length > context.own.length;
  if (corpus_last) estimate(own_, context.own, all);
  if (corpus_) estimate(*corpus_, context.corpus, all);
  if (!corpus_last) estimate(own_, context.own, all);
  std::ranges::sort(all, [](const Continuation& a, const Continuation& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
  });
  return all;
}

Result<void> SuffixDrafter::propose(const BlockStart& start, Models& models, Choices&, Draft& draft) {
  follow(start);
  const std::size_t depth = std::min(length_, start.left);
  RecycledVector<Grown> grown = {{0, start.sequence.back(), 0}};
  RecycledVector<Context> contexts = {{own_.repeated_end(), in_corpus_}};
  RecycledVector<Offer> offers;  // a heap with the likeliest on top
  const auto less = [](const Offer& a, const Offer& b) {
    return a.reach != b.reach ? a.reach < b.reach : a.above > b.above;
  };
  const auto offer_below = [&](std::size_t node, double reach) {
    if (grown[node].depth == depth || (node > 0 && start.is_end(grown[node].token))) return;
    for (const Continuation& next : continuations(contexts[node])) {
      // Later continuations have lower products, and products of estimates never grow along a path.
      if (reach * next.probability < min_reach_ || next.probability == 0.0) break;
      if (static_cast<std::size_t>(next.token) >= models.vocabulary()) continue;  // from the corpus
      offers.push_back({node, next.token, reach * next.probability});
      std::ranges::push_heap(offers, less);
    }
  };
  offer_below(0, 1.0);
  while (!offers.empty() && grown.size() <= max_drafted) {
    std::ranges::pop_heap(offers, less);
    const Offer best = offers.back();
    offers.pop_back();
    grown.push_back({best.above, best.token, grown[best.above].depth + 1});
    contexts.push_back(after(contexts[best.above], best.token));
    offer_below(grown.size() - 1, best.reach);
  }

  // Draws must be added level by level.
  RecycledVector<std::optional<std::size_t>> draws(grown.size());
  for (std::size_t level = 1; level <= depth; ++level) {
    for (std::size_t i = 1; i < grown.size(); ++i) {
      if (grown[i].depth != level) continue;
      draws[i] = draft.add(draws[grown[i].above], grown[i].token,
                           draft.own(Distribution::point(grown[i].token, models.vocabulary())));
    }
  }
  return {};
}

}  // namespace spectr

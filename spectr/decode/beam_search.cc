#include "spectr/decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "spectr/base/recycled.h"

namespace spectr {
namespace {

struct Beam {
  std::optional<std::size_t> draw;  // its last token; none where it is the sequence itself
  double likelihood;                // joint, of all its tokens, in units of the level (rescale)
  bool ended;
};

/// A continuation of a beam: beam `from` with `token`, or as it is where it has ended.
struct Continuation {
  std::size_t from;
  std::optional<Token> token;
  const Distribution* distribution;
};

/// Indices of the k largest weights, ascending; ties go to the lower index.
RecycledVector<std::size_t> largest(std::span<const double> weights, std::size_t k) {
  RecycledVector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(k, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
    return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
  });
  order.erase(end, order.end());
  std::ranges::sort(order);
  return order;
}

/// Long products would underflow, and only their ratios count: a power of two brings the largest near 1.
void rescale(RecycledVector<Beam>& beams) {
  const double max = std::ranges::max_element(beams, {}, &Beam::likelihood)->likelihood;
  for (Beam& beam : beams) beam.likelihood = std::ldexp(beam.likelihood, -std::ilogb(max));
}

}  // namespace

double BeamSearch::outcomes(std::size_t vocabulary, std::size_t depth) const {
  double sets = 1.0;
  std::size_t beams = 1;
  for (std::size_t level = 0; level < depth && mode == BeamMode::draw; ++level) {
    const std::size_t continuations = beams * vocabulary;
    beams = std::min(width, continuations);
    for (std::size_t i = 0; i < beams; ++i) {  // the binomial coefficient (continuations over beams)
      sets *= static_cast<double>(continuations - i) / static_cast<double>(beams - i);
    }
  }
  return sets;
}

Result<BestBeam> BeamSearch::run(const BlockStart& start, Session& model, const Warp& warp,
                                 std::size_t vocabulary, std::size_t depth, Choices& choices,
                                 Draft& draft) const {
  NodeDistributions& distributions = draft.distributions_of(model, warp, start.sequence, vocabulary);
  RecycledVector<Beam> beams = {{std::nullopt, 1.0, false}};
  std::size_t level = 0;
  for (; level < depth && !std::ranges::all_of(beams, &Beam::ended); ++level) {
    SPECTR_TRY_VOID(model.score(start.sequence, draft.tree()));

    RecycledVector<Continuation> continuations;
    RecycledVector<double> joint;
    for (std::size_t b = 0; b < beams.size(); ++b) {
      if (beams[b].ended) {
        continuations.push_back({b, std::nullopt, nullptr});
        joint.push_back(beams[b].likelihood);
        continue;
      }
      const NodeId node = beams[b].draw ? draft.draw(*beams[b].draw).node : TokenTree::root;
      SPECTR_TRY(const Distribution* distribution, distributions.at(node));
      for (std::size_t i = 0; i < distribution->size(); ++i) {
        if (distribution->probabilities()[i] == 0.0) continue;
        continuations.push_back({b, distribution->token(i), distribution});
        joint.push_back(beams[b].likelihood * distribution->probabilities()[i]);
      }
    }

    choices.enter(start.place(level, level, Purpose::draft));
    RecycledVector<Beam> next;
    for (std::size_t chosen :
         mode == BeamMode::top ? largest(joint, width) : choices.draw_set(joint, width)) {
      const Continuation& c = continuations[chosen];
      Beam beam = beams[c.from];
      if (c.token)
        beam = {draft.add(beam.draw, *c.token, c.distribution), joint[chosen], start.is_end(*c.token)};
      next.push_back(beam);
    }
    beams = std::move(next);
    rescale(beams);
  }

  const Beam& best = *std::ranges::max_element(beams, {}, &Beam::likelihood);
  BestBeam found{{}, level};
  for (auto draw = best.draw; draw; draw = draft.draw(*draw).parent) found.draws.push_back(*draw);
  std::ranges::reverse(found.draws);
  return found;
}

}  // namespace spectr

#include "spectr/decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "spectr/base/recycled.h"

namespace spectr {
namespace {

struct Beam {
  std::optional<std::size_t> draw;  // its last token; nullopt: the sequence itself
  double likelihood;                // joint, of all its tokens, in units of the level (see rescale)
  bool ended;
};

/// A continuation of a beam: beam `from` with `token`, or unchanged if it has ended.
struct Continuation {
  std::size_t from;
  std::optional<Token> token;
};

/// All continuations of a level and their joint likelihoods, in units of the level.
struct Continuations {
  RecycledVector<Continuation> all;
  RecycledVector<double> joint;

  void add(std::size_t from, std::optional<Token> token, double likelihood) {
    all.push_back({from, token});
    joint.push_back(likelihood);
  }
};

/// Returns the indices of the k largest weights, ascending; ties go to the lower index.
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

/// Scales likelihoods by a power of two so that the largest is near 1: long products would underflow.
void rescale(RecycledVector<Beam>& beams) {
  const double max = std::ranges::max_element(beams, {}, &Beam::likelihood)->likelihood;
  for (Beam& beam : beams) beam.likelihood = std::ldexp(beam.likelihood, -std::ilogb(max));
}

/// Returns the continuations of every beam by the distributions of their next tokens.
Result<Continuations> continuations_of(const RecycledVector<Beam>& beams, const Draft& draft,
                                       NodeDistributions& distributions) {
  Continuations found;
  for (std::size_t b = 0; b < beams.size(); ++b) {
    if (beams[b].ended) {
      found.add(b, std::nullopt, beams[b].likelihood);
      continue;
    }
    SPECTR_TRY(const Distribution* distribution, distributions.at(draft.node_of(beams[b].draw)));
    for (std::size_t i = 0; i < distribution->size(); ++i) {
      const double p = distribution->probabilities()[i];
      if (p > 0.0) found.add(b, distribution->token(i), beams[b].likelihood * p);
    }
  }
  return found;
}

/// Returns the part of a warp that changes single logits, including its rule, without the filters.
Result<Warp> penalties_of(const Warp& warp) {
  WarpOptions options = WarpOptions::none();
  const WarpOptions& all = warp.options();
  options.logit_bias = all.logit_bias;
  options.repeat_penalty = all.repeat_penalty;
  options.presence_penalty = all.presence_penalty;
  options.frequency_penalty = all.frequency_penalty;
  options.repeat_last_n = all.repeat_last_n;
  options.dry = all.dry;
  return Warp::make(std::move(options), warp.rule());
}

/// Returns the other part: temperature and filters, without a feedback.
Result<Warp> filters_of(const Warp& warp) {
  WarpOptions options = warp.options();
  const WarpOptions none = WarpOptions::none();
  options.logit_bias.clear();
  options.repeat_penalty = none.repeat_penalty;
  options.presence_penalty = none.presence_penalty;
  options.frequency_penalty = none.frequency_penalty;
  options.dry = {};
  options.mirostat = none.mirostat;
  options.adaptive_target = none.adaptive_target;
  return Warp::make(std::move(options));
}

/// Applies temperature and filters to the joint distribution and returns the weights of all continuations.
Result<RecycledVector<double>> warped(std::span<const double> joint, const Warp& filters) {
  RecycledVector<double> logs;
  logs.reserve(joint.size());
  for (const double likelihood : joint) logs.push_back(std::log(likelihood));
  SPECTR_TRY(const Distribution kept,
             filters.distribution(Logits(std::span<const double>(logs)), {}, logs.size()));
  RecycledVector<double> weights(joint.size(), 0.0);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    weights[static_cast<std::size_t>(kept.token(i))] = kept.probabilities()[i];
  }
  return weights;
}

/// Returns the draws of each beam, the likeliest beam first; ties go to the earlier one.
RecycledVector<RecycledVector<std::size_t>> by_likelihood(const RecycledVector<Beam>& beams,
                                                          const Draft& draft) {
  RecycledVector<std::size_t> order(beams.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return beams[a].likelihood != beams[b].likelihood ? beams[a].likelihood > beams[b].likelihood : a < b;
  });
  RecycledVector<RecycledVector<std::size_t>> found;
  for (const std::size_t beam : order) {
    RecycledVector<std::size_t>& draws = found.emplace_back();
    for (auto draw = beams[beam].draw; draw; draw = draft.draw(*draw).parent) draws.push_back(*draw);
    std::ranges::reverse(draws);
  }
  return found;
}

/// The warp for BeamWarp::joint: temperature and filters apply to the joint distribution of a level.
struct JointWarp {
  Warp penalties, filters;
  NodeDistributions distributions;  // uses only `penalties`, to which it refers

  JointWarp(Warp of_tokens, Warp of_all, const Session& model, std::span<const Token> sequence,
            const TokenTree& tree, std::size_t vocabulary)
      : penalties(std::move(of_tokens)),
        filters(std::move(of_all)),
        distributions(model, penalties, sequence, tree, vocabulary) {}
};

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

Result<FoundBeams> BeamSearch::run(const BlockStart& start, Session& model, const Warp& warp,
                                   std::size_t vocabulary, std::size_t depth, Choices& choices,
                                   Draft& draft) const {
  NodeDistributions& distributions = draft.distributions_of(model, warp, start.sequence, vocabulary);
  std::unique_ptr<JointWarp> joint;
  if (warping == BeamWarp::joint) {
    SPECTR_TRY(Warp penalties, penalties_of(warp));
    SPECTR_TRY(Warp filters, filters_of(warp));
    joint = std::make_unique<JointWarp>(std::move(penalties), std::move(filters), model, start.sequence,
                                        draft.tree(), vocabulary);
  }

  RecycledVector<Beam> beams = {{std::nullopt, 1.0, false}};
  std::size_t level = 0;
  for (; level < depth && !std::ranges::all_of(beams, &Beam::ended); ++level) {
    SPECTR_TRY_VOID(model.score(start.sequence, draft.tree()));
    SPECTR_TRY(Continuations found,
               continuations_of(beams, draft, joint ? joint->distributions : distributions));
    RecycledVector<double> weights = found.joint;
    if (joint) {
      SPECTR_TRY(weights, warped(found.joint, joint->filters));
    }

    choices.enter(start.place(level, level, Purpose::draft));
    RecycledVector<Beam> next;
    for (std::size_t chosen :
         mode == BeamMode::top ? largest(weights, width) : choices.draw_set(weights, width)) {
      const auto [from, token] = found.all[chosen];
      if (weights[chosen] == 0.0) continue;  // fewer continuations than `width` remain after filtering
      Beam beam = beams[from];
      if (token) {
        SPECTR_TRY(const Distribution* distribution, distributions.at(draft.node_of(beam.draw)));
        beam = {draft.add(beam.draw, *token, distribution), found.joint[chosen], start.is_end(*token)};
      }
      next.push_back(beam);
    }
    beams = std::move(next);
    rescale(beams);
  }
  return FoundBeams{by_likelihood(beams, draft), level};
}

}  // namespace spectr

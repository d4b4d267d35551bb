#include "lab/theory/markov_pair.h"

#include <cmath>
#include <random>
#include <utility>

namespace spectr::lab {
namespace {

std::vector<double> random_rows(std::size_t states, std::size_t horizon, std::mt19937& generator) {
  const TabularModel model = TabularModel::random(states, horizon, generator);
  std::vector<double> rows;
  for (std::size_t n = 0; n < horizon; ++n) {
    for (std::size_t x = 0; x < states; ++x) {
      for (double log_p : model.log_row(n, static_cast<Token>(x))) rows.push_back(std::exp(log_p));
    }
  }
  return rows;
}

OwnedModels start_models(const TabularModel& target, std::span<const LanguageModel* const> drafts,
                         std::size_t nodes) {
  const auto warp = Warp::make(WarpOptions::none());
  SPECTR_CHECK(warp.has_value());
  auto models = OwnedModels::start(target, drafts, *warp, 0, nodes);
  SPECTR_CHECK(models.has_value());  // tables have no limits
  return std::move(*models);
}

}  // namespace

MarkovPair::MarkovPair(std::size_t states, std::size_t horizon, std::vector<double> p, std::vector<double> q)
    : states_(states),
      horizon_(horizon),
      p_(std::move(p)),
      q_(std::move(q)),
      draft_(states, horizon, p_),
      target_(states, horizon, q_) {}

MarkovPair MarkovPair::random(std::size_t states, std::size_t horizon, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<double> p = random_rows(states, horizon, generator);
  std::vector<double> q = random_rows(states, horizon, generator);
  return {states, horizon, std::move(p), std::move(q)};
}

MarkovPair MarkovPair::alike(std::size_t states, std::size_t horizon, double noise, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<double> q = random_rows(states, horizon, generator), p = q;
  for (std::size_t begin = 0; begin < p.size(); begin += states) {
    double total = 0.0;
    for (std::size_t y = begin; y < begin + states; ++y) {
      total += p[y] *= std::exp(noise * (2.0 * uniform53(generator) - 1.0));
    }
    for (std::size_t y = begin; y < begin + states; ++y) p[y] /= total;
  }
  return {states, horizon, std::move(p), std::move(q)};
}

OwnedModels MarkovPair::start_target(std::size_t nodes) const {
  return start_models(target_, {}, nodes);
}

OwnedModels MarkovPair::start(std::size_t nodes) const {
  const LanguageModel* const drafts[] = {&draft_};
  return start_models(target_, drafts, nodes);
}

}  // namespace spectr::lab

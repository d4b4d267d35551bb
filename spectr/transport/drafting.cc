#include "spectr/transport/drafting.h"

#include "spectr/base/recycled.h"

namespace spectr {

RecycledVector<Token> draw_without_replacement(const Distribution& p, std::size_t k, Choices& choices) {
  RecycledVector<double> weights(p.probabilities().begin(), p.probabilities().end());
  std::size_t positive = 0;
  for (double w : weights) positive += w > 0.0;
  RecycledVector<Token> drawn;
  while (drawn.size() < k && drawn.size() < positive) {
    const std::size_t i = choices.draw(weights);
    drawn.push_back(p.token(i));
    weights[i] = 0.0;
  }
  return drawn;
}

}  // namespace spectr

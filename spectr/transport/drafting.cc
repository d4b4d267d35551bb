#include "spectr/transport/drafting.h"

namespace spectr {

std::vector<Token> draw_without_replacement(const Distribution& p, std::size_t k, Choices& choices) {
  std::vector<double> weights(p.probabilities().begin(), p.probabilities().end());
  std::size_t positive = 0;
  for (double w : weights) positive += w > 0.0;
  std::vector<Token> drawn;
  while (drawn.size() < k && drawn.size() < positive) {
    const std::size_t i = choices.draw(weights);
    drawn.push_back(p.token(i));
    weights[i] = 0.0;
  }
  return drawn;
}

}  // namespace spectr

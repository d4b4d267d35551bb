#include "spectr/transport/drafting.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "spectr/base/recycled.h"

namespace spectr {

RecycledVector<Token> draw_without_replacement(const Distribution& p, std::size_t k, Choices& choices) {
  RecycledVector<Token> drawn;
  for (std::size_t i : choices.draw_different(p.probabilities(), k)) drawn.push_back(p.token(i));
  return drawn;
}

RecycledVector<Token> draw_likeliest_and_one(const Distribution& p, std::size_t k, Choices& choices) {
  RecycledVector<double> others(p.probabilities().begin(), p.probabilities().end());
  RecycledVector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t likeliest = std::min(k - 1, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(likeliest), {},
                            [&](std::size_t i) { return std::pair(-others[i], i); });
  RecycledVector<Token> tokens;
  for (std::size_t t = 0; t < likeliest && p.probabilities()[order[t]] > 0.0; ++t) {
    tokens.push_back(p.token(order[t]));
    others[order[t]] = 0.0;
  }
  const bool has_others = std::ranges::any_of(others, [](double p_x) { return p_x > 0.0; });
  if (has_others) tokens.push_back(p.token(choices.draw(others)));
  return tokens;
}

}  // namespace spectr

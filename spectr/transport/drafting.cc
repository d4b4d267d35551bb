#include "spectr/transport/drafting.h"

#include "spectr/base/recycled.h"

namespace spectr {

RecycledVector<Token> draw_without_replacement(const Distribution& p, std::size_t k, Choices& choices) {
  RecycledVector<Token> drawn;
  for (std::size_t i : choices.draw_different(p.probabilities(), k)) drawn.push_back(p.token(i));
  return drawn;
}

}  // namespace spectr

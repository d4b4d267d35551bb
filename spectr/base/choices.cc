#include "spectr/base/choices.h"

#include <algorithm>

#include "spectr/base/recycled.h"

namespace spectr {

RecycledVector<std::size_t> Choices::draw_different(std::span<const double> weights, std::size_t k) {
  RecycledVector<double> left(weights.begin(), weights.end());
  const auto positive = std::ranges::count_if(left, [](double w) { return w > 0.0; });
  RecycledVector<std::size_t> drawn;
  while (drawn.size() < std::min(k, static_cast<std::size_t>(positive))) {
    drawn.push_back(draw(left));
    left[drawn.back()] = 0.0;
  }
  return drawn;
}

RecycledVector<std::size_t> Choices::draw_set(std::span<const double> weights, std::size_t k) {
  RecycledVector<std::size_t> drawn = draw_different(weights, k);
  std::ranges::sort(drawn);
  return drawn;
}

}  // namespace spectr

#include "spectr/backend/cpu/host_logits.h"

namespace spectr {

HostLogits& HostLogitsPool::take(std::size_t rows) {
  // Use the smallest free one that is large enough; otherwise replace the largest free one.
  std::unique_ptr<HostLogits>*best = nullptr, *largest = nullptr;
  for (std::unique_ptr<HostLogits>& one : all_) {
    if (one != nullptr && one->is_held()) continue;
    const std::size_t size = one == nullptr ? 0 : one->max_rows();
    if (size >= rows && (best == nullptr || size < (*best)->max_rows())) best = &one;
    if (largest == nullptr || size >= (*largest == nullptr ? 0 : (*largest)->max_rows())) largest = &one;
  }
  if (best != nullptr) return **best;
  if (largest == nullptr) largest = &all_.emplace_back();
  largest->reset();  // free the old memory before allocating
  *largest = std::make_unique<HostLogits>(rows, vocabulary_, feature_width_);
  return **largest;
}

}  // namespace spectr

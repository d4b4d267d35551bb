#include "spectr/backend/cpu/logit_rows.h"

#include <mutex>
#include <vector>

#include "spectr/base/recycled.h"

namespace spectr {

class LogitRowPool::HostLogits final : public PassLogits {
 public:
  HostLogits(std::size_t rows, std::size_t vocabulary)
      : rows_(rows),
        vocabulary_(vocabulary),
        numbers_(std::make_unique_for_overwrite<float[]>(rows * vocabulary)) {}

  Logits row(std::size_t i) const override {
    return std::span<const float>(numbers_.get() + i * vocabulary_, vocabulary_);
  }
  std::size_t rows() const { return rows_; }
  float* numbers() { return numbers_.get(); }

 private:
  std::size_t rows_, vocabulary_;
  std::unique_ptr<float[]> numbers_;
};

struct LogitRowPool::State {
  const std::size_t vocabulary;
  std::mutex mutex = {};
  std::vector<std::unique_ptr<HostLogits>> free = {};
  std::size_t lent = 0;
};

LogitRowPool::LogitRowPool(std::size_t vocabulary) : state_(std::make_shared<State>(vocabulary)) {}

LogitRowPool::Rows LogitRowPool::take(std::size_t rows) {
  State& state = *state_;
  std::unique_ptr<HostLogits> memory;
  {
    const std::lock_guard lock(state.mutex);
    // The smallest that will do; what is too small makes way for a larger one.
    auto best = state.free.end();
    for (auto one = state.free.begin(); one != state.free.end(); ++one) {
      const bool better =
          best == state.free.end() ||
          ((*one)->rows() >= rows ? (*best)->rows() < rows || (*one)->rows() < (*best)->rows()
                                  : (*best)->rows() < rows && (*one)->rows() > (*best)->rows());
      if (better) best = one;
    }
    if (best != state.free.end()) {
      memory = std::move(*best);
      state.free.erase(best);
    }
    state.free.reserve(++state.lent + state.free.size());  // giving back takes no memory
  }
  const auto give_back = [state = state_](HostLogits* one) {
    const std::lock_guard lock(state->mutex);
    --state->lent;
    if (one != nullptr) state->free.emplace_back(one);
  };
  try {
    if (memory == nullptr || memory->rows() < rows) {
      memory.reset();
      memory = std::make_unique<HostLogits>(rows, state.vocabulary);
    }
  } catch (...) {
    give_back(nullptr);
    throw;
  }
  const Span2d<float> numbers(memory->numbers(), rows, state.vocabulary);
  return {numbers, std::shared_ptr<const PassLogits>(std::shared_ptr<HostLogits>(
                       memory.release(), give_back, RecyclingAllocator<HostLogits>()))};
}

}  // namespace spectr

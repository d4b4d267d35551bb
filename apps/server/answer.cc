#include "apps/server/answer.h"

#include <utility>

namespace spectr::server {

void Answer::add(std::size_t choice, Chunk chunk) {
  {
    const std::lock_guard lock(mutex_);
    choices_[choice].chunk.append(std::move(chunk));
    choices_[choice].taken = false;
  }
  news_();
}

void Answer::finish(std::size_t choice, Outcome outcome) {
  {
    const std::lock_guard lock(mutex_);
    choices_[choice].outcome = std::move(outcome);
  }
  news_();
}

Chunk Answer::take(std::size_t choice) {
  const std::lock_guard lock(mutex_);
  choices_[choice].taken = true;
  return std::exchange(choices_[choice].chunk, {});
}

std::optional<Outcome> Answer::outcome(std::size_t choice) {
  const std::lock_guard lock(mutex_);
  return choices_[choice].taken ? choices_[choice].outcome : std::nullopt;
}

}  // namespace spectr::server

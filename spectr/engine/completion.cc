#include "spectr/engine/completion.h"

#include <algorithm>
#include <iterator>

namespace spectr {

std::string_view name(FinishReason reason) {
  switch (reason) {
    case FinishReason::eos:
      return "eos";
    case FinishReason::limit:
      return "limit";
    case FinishReason::context:
      return "context";
    case FinishReason::word:
      return "word";
    case FinishReason::timeout:
      return "timeout";
    case FinishReason::cancelled:
    case FinishReason::not_started:
      return "cancelled";
    case FinishReason::failed:
      return "failed";
  }
  return "";
}

void CompletionEvent::append(CompletionEvent later) {
  delta.append(std::move(later.delta));
  std::ranges::move(later.progress, std::back_inserter(progress));
  if (later.expectation) expectation = later.expectation;
  if (later.result) result = std::move(later.result);
}

void Completion::add(std::size_t choice, CompletionEvent event) {
  const bool is_last = event.result.has_value();
  {
    const std::lock_guard lock(mutex_);
    choices_[choice].event.append(std::move(event));
    choices_[choice].has_news = true;
    changed_.notify_all();
  }
  if (listener_) listener_(*this);
  if (!is_last) return;
  const std::lock_guard lock(mutex_);
  if (--left_ > 0) return;
  changed_.notify_all();
  ended_.notify_all();
}

void Completion::finish(std::size_t choice, CompletionResult result) {
  CompletionEvent last;
  last.result = std::move(result);
  add(choice, std::move(last));
}

CompletionEvent Completion::take(std::size_t choice) {
  const std::lock_guard lock(mutex_);
  choices_[choice].has_news = false;
  return std::exchange(choices_[choice].event, {});
}

std::optional<std::pair<std::size_t, CompletionEvent>> Completion::next(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto find = [this] { return std::ranges::find(choices_, true, &Choice::has_news); };
  changed_.wait_for(lock, timeout, [&] { return left_ == 0 || find() != choices_.end(); });
  const auto found = find();
  if (found == choices_.end()) return std::nullopt;
  found->has_news = false;
  return std::pair(static_cast<std::size_t>(found - choices_.begin()), std::exchange(found->event, {}));
}

bool Completion::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, timeout, [this] { return left_ == 0; });
}

void Completion::cancel(FinishReason why) {
  FinishReason none = FinishReason::eos;
  why_.compare_exchange_strong(none, why);
  stop_.request_stop();
}

}  // namespace spectr

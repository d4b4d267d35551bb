#include "apps/server/slots.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace spectr::server {
namespace {

/// Cheapest first: a text that drafts does so before all come to the target.
std::vector<const LanguageModel*> drafts_then_target(const ModelSet& models) {
  std::vector<const LanguageModel*> order;
  for (const auto& draft : models.drafts) order.push_back(draft.get());
  order.push_back(models.target.get());
  return order;
}

PassPolicy policy_of(const Transformer& target, const SlotOptions& options) {
  const std::size_t pieces = target.caps().backend == "cpu" ? 1 : 8;
  return {.max_rows = options.max_rows > 0 ? options.max_rows : pieces * target.piece()};
}

}  // namespace

Result<std::unique_ptr<Slots>> Slots::start(const ModelSet& models, SlotOptions options) {
  const std::size_t own = models.target->context();
  if (options.context > own) {
    return error("{}: the context of {} tokens exceeds the model's {}", models.name, options.context, own);
  }
  if (options.context == 0) options.context = own;
  try {
    return std::unique_ptr<Slots>(new Slots(models, options));
  } catch (const std::bad_alloc&) {
    return error(
        "{}: there is no memory for {} texts of {} tokens; give a smaller context (-c) or fewer (-np)",
        models.name, options.slots, options.context);
  } catch (const std::system_error& failure) {
    return error("{}: there are no threads for {} texts: {}; give fewer (-np)", models.name, options.slots,
                 failure.what());
  }
}

Slots::Slots(const ModelSet& models, SlotOptions options)
    : models_(models),
      options_(options),
      batcher_(drafts_then_target(models), options.slots, max_nodes, policy_of(*models.target, options)),
      places_(options.slots) {
  SPECTR_CHECK(options.slots >= 1);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i].slot = std::make_unique<Slot>(i, models, options_.context, batcher_, totals_);
  }
  try {
    for (Place& place : places_) threads_.emplace_back([this, &place] { work(place); });
  } catch (...) {
    cancel_all();  // those that run end
    throw;
  }
}

Slots::~Slots() {
  cancel_all();
  threads_.clear();
}

void Slots::cancel_all() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const auto& job : queue_) job->answer->cancel();
  for (const Place& place : places_) {
    if (place.job) place.job->answer->cancel();
  }
  drop_unwanted();
  changed_.notify_all();
}

bool Slots::submit(std::vector<Task> tasks, std::shared_ptr<Answer> answer) {
  SPECTR_CHECK(tasks.size() == answer->choices());
  const std::lock_guard lock(mutex_);
  drop_unwanted();
  const auto free = std::ranges::count_if(places_, [](const Place& place) { return !place.job; });
  if (stopping_ || queue_.size() + tasks.size() > options_.queue + static_cast<std::size_t>(free))
    return false;
  ++requests_;
  const auto now = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].request = requests_;
    tasks[i].asked = now;
    queue_.push_back(std::make_unique<Job>(Job{std::move(tasks[i]), answer, i}));
  }
  assign();
  return true;
}

/// Takes the texts that nobody waits for out of the queue.
void Slots::drop_unwanted() {
  std::erase_if(queue_, [this](const std::unique_ptr<Job>& job) {
    if (!job->answer->cancelled()) return false;
    Outcome outcome;
    outcome.reason = FinishReason::not_started;
    totals_.count(outcome);
    job->answer->finish(job->choice, outcome);
    return true;
  });
}

/// The idle slot that loses least: of its own text what is not the prompt's beginning; what it lacks of that
/// is copied from another slot, which costs little, or has to be computed in any of them. So an empty or
/// short one goes before a long conversation; of equals the one that was idle longest.
Slots::Place* Slots::choose(std::span<const Token> prompt) {
  constexpr std::size_t copied_for_one = 32;  // tokens are copied at the price of one that is lost, or less
  Place* best = nullptr;
  std::size_t least = 0;
  for (Place& place : places_) {
    if (place.job) continue;
    const std::size_t common = place.slot->remembers(prompt);
    const std::size_t loss = copied_for_one * (place.slot->length() - common) + (prompt.size() - common);
    const bool better =
        best == nullptr || loss < least || (loss == least && place.last_used < best->last_used);
    if (!better) continue;
    best = &place;
    least = loss;
  }
  return best;
}

/// Gives the first of the queue to idle slots.
void Slots::assign() {
  drop_unwanted();
  while (!queue_.empty()) {
    Place* place = choose(queue_.front()->task.prompt);
    if (place == nullptr) return;
    place->job = std::move(queue_.front());
    place->last_used = ++jobs_;
    queue_.pop_front();
    changed_.notify_all();
  }
}

void Slots::work(Place& place) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return place.job || stopping_; });
    if (!place.job) return;
    Job& job = *place.job;
    lock.unlock();
    Outcome outcome = place.slot->run(job.task, *job.answer, job.choice);
    totals_.count(outcome);
    lock.lock();
    const std::unique_ptr<Job> done = std::move(place.job);
    if (!stopping_) assign();
    lock.unlock();
    done->answer->finish(done->choice, std::move(outcome));
    lock.lock();
  }
}

std::size_t Slots::reserved_bytes() const {
  const auto of_slot = [this](const Transformer& model) {
    return model.session_bytes(std::min(options_.context, model.context()), max_nodes);
  };
  std::size_t bytes = of_slot(*models_.target);
  for (const auto& draft : models_.drafts) bytes += of_slot(*draft);
  return options_.slots * bytes;
}

std::vector<SlotState> Slots::states() const {
  const std::lock_guard lock(mutex_);
  std::vector<SlotState> states;
  for (const Place& place : places_) {
    SlotState state;
    if (place.job) state = {true, place.job->task.prompt.size(), place.job->task.method};
    states.push_back(state);
  }
  return states;
}

std::size_t Slots::unfinished() const {
  const std::lock_guard lock(mutex_);
  const auto busy = std::ranges::count_if(places_, [](const Place& place) { return place.job != nullptr; });
  return queue_.size() + static_cast<std::size_t>(busy);
}

std::size_t Slots::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

}  // namespace spectr::server

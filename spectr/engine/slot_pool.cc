#include "spectr/engine/slot_pool.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

/// Returns the models, cheapest first: completions draft before all of them meet at the target.
std::vector<const LanguageModel*> drafts_then_target(const EngineModels& models) {
  std::vector<const LanguageModel*> order;
  for (const auto& draft : models.drafts) order.push_back(draft.get());
  order.push_back(models.target.get());
  return order;
}

/// Maximum seconds of a pass that reads prompts next to other completions. These get tokens five times a
/// second, or at their usual rate if that is lower.
constexpr double max_pass_seconds = 0.2;

/// Idle time of a slot's thread after which it releases the memory of selection.
constexpr std::chrono::seconds idle_time{2};

/// Returns the maximum rows of passes that read prompts, if their costs are unknown.
std::size_t max_rows_of(const Transformer& target) {
  return (target.caps().backend == "cpu" ? 1 : 8) * target.piece();
}

}  // namespace

std::size_t max_rows_by_cost(const CostCurve& passes, std::size_t limit) {
  constexpr std::size_t step = 16;     // the rows of a tile of matrix units
  constexpr double enough = 0.98;      // of the highest throughput
  constexpr double max_seconds = 1.0;  // for which new and cancelled requests wait
  const auto seconds = [&](std::size_t rows) { return passes.seconds(static_cast<double>(rows)); };
  const auto throughput = [&](std::size_t rows) { return static_cast<double>(rows) / seconds(rows); };
  double highest = throughput(step);
  for (std::size_t rows = 2 * step; rows <= limit && seconds(rows) <= max_seconds; rows += step)
    highest = std::max(highest, throughput(rows));
  std::size_t rows = step;
  while (throughput(rows) < enough * highest) rows += step;
  return rows;
}

SlotPool::SlotPool(const EngineModels& models, SlotOptions options, std::span<PassProfile> profiles)
    : models_(models),
      options_(options),
      batcher_(drafts_then_target(models), options.slots,
               {.max_rows = options.max_rows > 0 ? options.max_rows : max_rows_of(*models.target),
                .max_seconds = max_pass_seconds}),
      prefixes_(options.prefix_bytes),
      workers_(options.slots) {
  SPECTR_CHECK(options.slots >= 1 && (profiles.empty() || options.slots == 1));
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].slot = std::make_unique<CompletionSlot>(i, models, options.max_nodes, batcher_, prefixes_,
                                                        counters_, profiles);
  }
}

Result<void> SlotPool::start() {
  try {
    if (options_.max_nodes) {
      for (Worker& worker : workers_) SPECTR_TRY_VOID(worker.slot->open());
    }
    for (Worker& worker : workers_) threads_.emplace_back([this, &worker] { work(worker); });
  } catch (const std::bad_alloc&) {
    return error(ErrorCode::out_of_memory, "there is no memory for {} slots of {} tokens", options_.slots,
                 models_.context);
  } catch (const std::system_error& failure) {
    return error(ErrorCode::out_of_memory, "there are no threads for {} slots: {}", options_.slots,
                 failure.what());
  }
  return {};
}

SlotPool::~SlotPool() {
  cancel_all();
  threads_.clear();
}

void SlotPool::adapt_to(const Costs& costs) {
  if (options_.max_rows > 0 || options_.slots == 1) return;
  batcher_.set_max_rows(max_rows_by_cost(costs.target, max_rows_of(*models_.target)));
}

void SlotPool::cancel_all() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  for (const auto& job : queue_) job->completion->cancel();
  for (const Worker& worker : workers_) {
    if (worker.job) worker.job->completion->cancel();
  }
  const Jobs cancelled = take_cancelled();
  changed_.notify_all();
  lock.unlock();
  drop(cancelled);
}

Result<CompletionSlot::Sequence> SlotPool::with_idle(std::size_t slot, const Action& action) {
  std::unique_lock lock(mutex_);
  if (slot >= workers_.size())
    return error("slot {} does not exist, there are {}: 0 to {}", slot, workers_.size(), workers_.size() - 1);
  Worker& worker = workers_[slot];
  if (!worker.is_idle()) return error("slot {} is decoding", slot);
  worker.is_reserved = true;
  lock.unlock();
  Result<CompletionSlot::Sequence> result = error(ErrorCode::out_of_memory, "out of memory");
  try {
    result = action(*worker.slot);
  } catch (const std::bad_alloc&) {
    // The original error is returned.
  }
  lock.lock();
  worker.is_reserved = false;
  const Jobs cancelled = take_cancelled();
  if (!stopping_) assign();
  lock.unlock();
  drop(cancelled);
  return result;
}

Result<CompletionSlot::Sequence> SlotPool::save(std::size_t slot, const std::filesystem::path& path) {
  return with_idle(slot, [&](const CompletionSlot& idle) { return idle.save(path); });
}

Result<CompletionSlot::Sequence> SlotPool::restore(std::size_t slot, const std::filesystem::path& path) {
  return with_idle(slot, [&](CompletionSlot& idle) { return idle.restore(path); });
}

Result<CompletionSlot::Sequence> SlotPool::erase(std::size_t slot) {
  return with_idle(slot, [](CompletionSlot& idle) { return idle.erase(); });
}

std::shared_ptr<Completion> SlotPool::submit(std::shared_ptr<const PreparedRequest> request,
                                             Completion::Listener listener) {
  const std::size_t completions = request->completions();
  std::shared_ptr<Completion> completion;
  std::unique_lock lock(mutex_);
  const Jobs cancelled = take_cancelled();
  const auto idle = std::ranges::count_if(workers_, [](const Worker& worker) { return !worker.job; });
  if (!stopping_ && queue_.size() + completions <= options_.queue + static_cast<std::size_t>(idle)) {
    completion = std::make_shared<Completion>(completions, std::move(listener));
    ++requests_;
    const auto now = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < completions; ++i)
      queue_.push_back(std::make_unique<CompletionJob>(CompletionJob{request, completion, i, requests_, now}));
    assign();
  }
  lock.unlock();
  drop(cancelled);
  return completion;
}

/// Removes the cancelled jobs from the queue and returns them.
SlotPool::Jobs SlotPool::take_cancelled() {
  const auto removed =
      std::ranges::stable_partition(queue_, [](const auto& job) { return !job->completion->cancelled(); });
  Jobs cancelled(std::make_move_iterator(removed.begin()), std::make_move_iterator(removed.end()));
  queue_.erase(removed.begin(), removed.end());
  return cancelled;
}

/// Ends jobs that no slot has started. Must be called without the lock, because their listeners may call the
/// pool.
void SlotPool::drop(const Jobs& jobs) {
  for (const auto& job : jobs) {
    CompletionResult result;
    result.reason = FinishReason::not_started;
    counters_.count(result);
    job->completion->finish(job->choice, std::move(result));
  }
}

/// Returns the idle worker with the smallest loss. It loses the part of its own sequence that is not a prefix
/// of the prompt. What it lacks of the prompt is copied from another slot, which costs little, or computed in
/// any case. So empty or short sequences go before a long conversation; ties go to the worker idle longest.
SlotPool::Worker* SlotPool::choose(std::span<const Token> prompt) {
  constexpr std::size_t copied_for_one = 32;  // copying this many tokens costs as much as losing one
  Worker* best = nullptr;
  std::size_t least = 0;
  for (Worker& worker : workers_) {
    if (!worker.is_idle()) continue;
    const std::size_t common = worker.slot->reusable_prefix(prompt);
    const std::size_t loss = copied_for_one * (worker.slot->length() - common) + (prompt.size() - common);
    const bool better =
        best == nullptr || loss < least || (loss == least && worker.last_used < best->last_used);
    if (!better) continue;
    best = &worker;
    least = loss;
  }
  return best;
}

/// Assigns the first jobs of the queue to idle workers.
void SlotPool::assign() {
  while (!queue_.empty()) {
    const CompletionJob& first = *queue_.front();
    Worker* worker = choose(first.request->prompt_of(first.choice));
    if (worker == nullptr) return;
    worker->job = std::move(queue_.front());
    worker->last_used = ++jobs_;
    queue_.pop_front();
    changed_.notify_all();
  }
}

void SlotPool::work(Worker& worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto is_wanted = [&] { return worker.job || stopping_; };
    if (!changed_.wait_for(lock, idle_time, is_wanted)) {
      lock.unlock();
      recycled::trim();
      lock.lock();
      changed_.wait(lock, is_wanted);
    }
    if (!worker.job) return;
    const CompletionJob& job = *worker.job;
    lock.unlock();
    CompletionResult result = worker.slot->run(job);
    counters_.count(result);
    lock.lock();
    {
      const std::unique_ptr<CompletionJob> done = std::move(worker.job);
      const Jobs cancelled = take_cancelled();
      if (!stopping_) assign();
      lock.unlock();
      drop(cancelled);
      done->completion->finish(done->choice, std::move(result));
    }
    lock.lock();
  }
}

std::size_t SlotPool::reserved_bytes() const {
  SPECTR_CHECK(options_.max_nodes);
  const auto of_slot = [this](const Transformer& model) {
    return model.session_bytes(std::min(models_.context, model.context()), *options_.max_nodes);
  };
  std::size_t bytes = of_slot(*models_.target);
  for (const auto& draft : models_.drafts) bytes += of_slot(*draft);
  return options_.slots * bytes;
}

std::vector<SlotState> SlotPool::states() const {
  const std::lock_guard lock(mutex_);
  std::vector<SlotState> states;
  for (const Worker& worker : workers_) {
    SlotState state;
    if (worker.job) {
      const PreparedRequest& request = *worker.job->request;
      state = {true, request.prompt_of(worker.job->choice).size(), request.decoding.method};
    }
    states.push_back(state);
  }
  return states;
}

std::size_t SlotPool::unfinished() const {
  const std::lock_guard lock(mutex_);
  const auto busy =
      std::ranges::count_if(workers_, [](const Worker& worker) { return worker.job != nullptr; });
  return queue_.size() + static_cast<std::size_t>(busy);
}

std::size_t SlotPool::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

}  // namespace spectr

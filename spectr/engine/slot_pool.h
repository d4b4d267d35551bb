#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "spectr/decode/costs/cost_model.h"
#include "spectr/engine/completion_slot.h"

namespace spectr {

/// How many completions an engine decodes concurrently, and how many it queues.
struct SlotOptions {
  std::size_t slots = 1;
  std::size_t queue = 64;
  std::size_t max_rows = 0;  ///< PassPolicy::max_rows; 0: see SlotPool::adapt_to()
  /// Maximum bytes for sequences that no slot holds any more; 0: they are dropped.
  std::size_t prefix_bytes = 0;
  /// Maximum nodes of a token tree; the sessions of all slots are created for it at start(). None: no limit,
  /// and each request creates sessions for its own trees.
  std::optional<std::size_t> max_nodes = {};
};

/// Returns the maximum rows of passes that read prompts. The candidates are multiples of 16 rows up to
/// `limit` whose passes take at most one second, and 16 rows in any case. Returns the smallest one with at
/// least 98 % of the highest throughput of all candidates.
std::size_t max_rows_by_cost(const CostCurve& passes, std::size_t limit);

/// State of a slot.
struct SlotState {
  bool busy = false;
  std::size_t prompt = 0;  ///< tokens of its prompt
  const MethodRule* method = nullptr;
};

/// Slots that generate completions, each on its own thread, in shared passes, and a queue of waiting
/// completions. A completion depends only on its request, not on concurrent ones. Thread-safe.
class SlotPool {
 public:
  /// The models must outlive the pool. `profiles`: one per model, the target's first, or none.
  SlotPool(const EngineModels& models, SlotOptions options, std::span<PassProfile> profiles);
  ~SlotPool();
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  /// Creates the sessions and threads of all slots. Fails if there are not enough memory or threads.
  Result<void> start();

  /// Chooses PassPolicy::max_rows by the costs of the target's passes if the options leave it open and there
  /// are several slots: max_rows_by_cost() with the limit that holds without costs, one prompt chunk or, on
  /// devices, eight.
  void adapt_to(const Costs& costs);

  /// Queues all completions of a request. Returns null if the queue lacks room for all of them, or the pool
  /// is shutting down.
  std::shared_ptr<Completion> submit(std::shared_ptr<const PreparedRequest> request,
                                     Completion::Listener listener);

  /// Cancels all completions and accepts no more.
  void cancel_all();

  /// See the functions of CompletionSlot. They also fail if there is no such slot or it is decoding.
  Result<CompletionSlot::Sequence> save(std::size_t slot, const std::filesystem::path& path);
  Result<CompletionSlot::Sequence> restore(std::size_t slot, const std::filesystem::path& path);
  Result<CompletionSlot::Sequence> erase(std::size_t slot);

  /// Returns the maximum bytes of keys, values and states of all slots, in all models. Requires:
  /// SlotOptions::max_nodes is set.
  std::size_t reserved_bytes() const;
  std::vector<SlotState> states() const;
  std::size_t queued() const;
  /// Returns the number of running and queued completions.
  std::size_t unfinished() const;
  EngineCounts counts() const { return counters_.counts(); }
  /// Returns the sequences that no slot holds any more.
  const PrefixCache& prefixes() const { return prefixes_; }
  /// Returns statistics of passes: the draft models in order, then the target.
  std::vector<PassCounts> passes() const { return batcher_.counts(); }

 private:
  struct Worker {
    std::unique_ptr<CompletionSlot> slot;
    std::unique_ptr<CompletionJob> job;  // null: idle
    std::uint64_t last_used = 0;         // index of its last job
    bool is_reserved = false;            // for another action than a job
    bool is_idle() const { return !job && !is_reserved; }
  };

  using Action = std::function<Result<CompletionSlot::Sequence>(CompletionSlot&)>;
  /// Runs an action on an idle slot, which gets no job meanwhile.
  Result<CompletionSlot::Sequence> with_idle(std::size_t slot, const Action& action);
  void work(Worker& worker);
  using Jobs = std::vector<std::unique_ptr<CompletionJob>>;
  Jobs take_cancelled();
  void drop(const Jobs& jobs);
  void assign();
  Worker* choose(std::span<const Token> prompt);

  const EngineModels& models_;
  SlotOptions options_;
  EngineCounters counters_;
  Batcher batcher_;
  PrefixCache prefixes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Worker> workers_;
  std::deque<std::unique_ptr<CompletionJob>> queue_;
  std::uint64_t jobs_ = 0, requests_ = 0;  // total so far
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace spectr

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "apps/server/slot.h"

namespace spectr::server {

/// How many texts are decoded concurrently, and how many wait.
struct SlotOptions {
  std::size_t slots = 4;
  std::size_t queue = 64;
  std::size_t context = 0;   ///< tokens of prompt and text together; 0: the model's
  std::size_t max_rows = 0;  ///< PassPolicy::max_rows; 0: a piece of a prompt, on devices eight
};

/// What a slot does at the moment.
struct SlotState {
  bool busy = false;
  std::size_t prompt = 0;  ///< tokens of its task's prompt
  const MethodRule* method = nullptr;
};

/// The engine: slots that write texts, each on a thread of its own, in passes that they share; and the queue
/// of those that wait for a slot. A text depends on its task alone, not on its neighbours.
class Slots {
 public:
  /// The models must outlive it. Error: the context exceeds the model's, or there is no memory for so
  /// many texts of it.
  static Result<std::unique_ptr<Slots>> start(const ModelSet& models, SlotOptions options);
  ~Slots();

  /// Queues a text for each of the answer's choices, or none where there is no room for all of them.
  bool submit(std::vector<Task> tasks, std::shared_ptr<Answer> answer);

  /// Cancels every text, and takes no more.
  void cancel_all();

  std::size_t context() const { return options_.context; }
  /// Bytes of keys, values and states that all slots may come to, in all models.
  std::size_t reserved_bytes() const;
  std::vector<SlotState> states() const;
  std::size_t queued() const;
  /// Texts that are decoded or wait.
  std::size_t unfinished() const;
  std::size_t queue_limit() const { return options_.queue; }
  /// Most texts of one request: where all slots are idle there is room for so many.
  std::size_t room() const { return options_.slots + options_.queue; }
  Counts counts() const { return totals_.counts(); }
  /// Of the draft models in their order, then the target.
  std::vector<PassCounts> passes() const { return batcher_.counts(); }

 private:
  struct Job {
    Task task;
    std::shared_ptr<Answer> answer;
    std::size_t choice;
  };
  struct Place {
    std::unique_ptr<Slot> slot;
    std::unique_ptr<Job> job;     // none: idle
    std::uint64_t last_used = 0;  // by which job, in their order
  };

  Slots(const ModelSet& models, SlotOptions options);
  void work(Place& place);
  void drop_unwanted();
  void assign();
  Place* choose(std::span<const Token> prompt);

  const ModelSet& models_;
  SlotOptions options_;
  Totals totals_;
  Batcher batcher_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place> places_;
  std::deque<std::unique_ptr<Job>> queue_;
  std::uint64_t jobs_ = 0, requests_ = 0;  // so far
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace spectr::server

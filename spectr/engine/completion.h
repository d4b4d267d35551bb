#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/costs/cost_check.h"
#include "spectr/decode/drafter.h"
#include "spectr/decode/statistics.h"
#include "spectr/engine/completion_text.h"

namespace spectr {

/// Why a completion ended.
enum class FinishReason {
  eos,          ///< the model generated an end token
  limit,        ///< the request's token limit is reached
  context,      ///< the context is full
  word,         ///< a stop sequence is complete
  timeout,      ///< its time limit is over
  cancelled,    ///< the caller cancelled it, or the engine is shutting down
  not_started,  ///< cancelled before a slot started it
  failed,
};

std::string_view name(FinishReason reason);

/// The outcome of a completion.
struct CompletionResult {
  FinishReason reason = FinishReason::cancelled;
  std::string stop_word;
  Error failure;              ///< if the reason is `failed`
  bool has_new_line = false;  ///< the text has a new line
  Statistics statistics;
  std::chrono::steady_clock::time_point begun;  ///< time at which a slot started it
  std::size_t cached = 0;                       ///< prompt tokens that the target did not compute
  std::size_t computed = 0;                     ///< prompt tokens that the target computed
  DraftShape shape;  ///< K and L of the method; the largest of the sequence for `auto`
  std::size_t slot = 0;
  std::size_t reasoning_tokens = 0;  ///< tokens of the reasoning, if it is split from the content
  CostCheck cost_check;              ///< methods that read costs only
  std::vector<Learned> learned;      ///< for each draft model, by methods that learn
};

/// Progress of a prompt.
struct PromptProgress {
  std::size_t total = 0;      ///< tokens of the prompt
  std::size_t cached = 0;     ///< tokens taken from a cache
  std::size_t processed = 0;  ///< tokens available, including cached ones
  double seconds = 0.0;       ///< since a slot started the completion
};

/// Events of one completion, merged since they were last taken.
struct CompletionEvent {
  TextDelta delta;
  std::vector<PromptProgress> progress = {};    ///< in order of time, if the request asked for it
  std::optional<Expectation> expectation = {};  ///< of the last block, if the method has one
  std::optional<CompletionResult> result = {};  ///< set once, with the last event

  void append(CompletionEvent later);
};

/// The completions of one request (`choice` is their index), which the engine produces and the caller
/// consumes. Thread-safe.
class Completion {
 public:
  /// Called by the engine's threads after an event was added, for one event of a choice at a time; the
  /// completion waits until it returns.
  using Listener = std::function<void(Completion&)>;

  explicit Completion(std::size_t choices, Listener listener = {})
      : choices_(choices), left_(choices), listener_(std::move(listener)) {}

  std::size_t choices() const { return choices_.size(); }

  /// Returns all events of a choice since the last call, without waiting.
  CompletionEvent take(std::size_t choice);

  /// Waits until a choice has events, and takes them. Returns nothing on a timeout, or if all choices have
  /// ended and all of their events were taken.
  std::optional<std::pair<std::size_t, CompletionEvent>> next(std::chrono::milliseconds timeout);

  /// Waits until all choices have ended and their listeners have returned. Returns false on a timeout.
  bool wait(std::chrono::milliseconds timeout = std::chrono::hours(1 << 16));

  /// Ends the completions before their next pass. Their reason is that of the first call, `timeout` or
  /// `cancelled`.
  void cancel(FinishReason why = FinishReason::cancelled);
  bool cancelled() const { return stop_.stop_requested(); }

 private:
  friend class CompletionSlot;
  friend class SlotPool;

  void add(std::size_t choice, CompletionEvent event);
  /// Adds the last event of a choice.
  void finish(std::size_t choice, CompletionResult result);
  std::stop_token stop() const { return stop_.get_token(); }
  /// Requires: cancelled().
  FinishReason why() const { return why_; }

  struct Choice {
    CompletionEvent event;
    bool has_news = false;
  };
  mutable std::mutex mutex_;
  std::condition_variable changed_, ended_;
  std::vector<Choice> choices_;
  std::size_t left_;  // choices that have not ended, or whose listeners have not returned
  Listener listener_;
  std::stop_source stop_;
  std::atomic<FinishReason> why_ = FinishReason::eos;  // eos: not cancelled
};

}  // namespace spectr

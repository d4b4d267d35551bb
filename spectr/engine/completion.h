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
#include "spectr/decode/auto/cost_check.h"
#include "spectr/decode/drafter.h"
#include "spectr/decode/statistics.h"
#include "spectr/engine/completion_text.h"

namespace spectr {

/// Why a completion ended.
enum class FinishReason {
  eos,          ///< the model ended it
  limit,        ///< it has as many tokens as the request allows
  context,      ///< the context is full
  word,         ///< a stop sequence is complete
  timeout,      ///< its time is over
  cancelled,    ///< the caller cancelled it, or the engine is shutting down
  not_started,  ///< it was cancelled before a slot took it up
  failed,
};

std::string_view name(FinishReason reason);

/// The outcome of a completion.
struct CompletionResult {
  FinishReason reason = FinishReason::cancelled;
  std::string stop_word;
  Error failure;              ///< if the reason is `failed`
  bool has_new_line = false;  ///< in the text
  Statistics statistics;
  std::chrono::steady_clock::time_point begun;  ///< when a slot took it up
  std::size_t cached = 0;                       ///< prompt tokens that the target did not compute
  std::size_t computed = 0;                     ///< prompt tokens that it computed
  DraftShape shape;  ///< K and L of the method; of `auto` the largest of the sequence
  std::size_t slot = 0;
  CostCheck cost_check;          ///< of methods that read costs
  std::vector<Learned> learned;  ///< of the draft models, by methods that learn
};

/// Progress of a prompt.
struct PromptProgress {
  std::size_t total = 0;      ///< tokens of the prompt
  std::size_t cached = 0;     ///< those that came from a cache
  std::size_t processed = 0;  ///< those that are there, cached ones included
  double seconds = 0.0;       ///< since a slot took the completion up
};

/// News of one completion, merged since it was last taken.
struct CompletionEvent {
  TextDelta delta;
  std::vector<PromptProgress> progress = {};    ///< in order of time, if the request asked for it
  std::optional<Expectation> expectation = {};  ///< of the last block, if the method has one
  std::optional<CompletionResult> result = {};  ///< set once, with the last event

  void append(CompletionEvent later);
};

/// The completions of one request, of which it may ask for several (`choice` is their index), on their way
/// from the engine to the caller. Thread-safe.
class Completion {
 public:
  /// Called by the engine's threads after something was added, for one event at a time of a choice; the
  /// completion waits for its return.
  using Listener = std::function<void(Completion&)>;

  explicit Completion(std::size_t choices, Listener listener = {})
      : choices_(choices), left_(choices), listener_(std::move(listener)) {}

  std::size_t choices() const { return choices_.size(); }

  /// Returns what a choice has got since the last call, without waiting.
  CompletionEvent take(std::size_t choice);

  /// Waits until a choice has news, and takes them. None: the time is over, or all choices have ended and all
  /// of their news were taken.
  std::optional<std::pair<std::size_t, CompletionEvent>> next(std::chrono::milliseconds timeout);

  /// Waits until all choices have ended and their listener has returned. False: the time is over.
  bool wait(std::chrono::milliseconds timeout = std::chrono::hours(1 << 16));

  /// Ends the completions before their next pass. The first reason that is given, `timeout` or `cancelled`,
  /// becomes theirs.
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
  std::size_t left_;  // choices that have not ended, or whose listener has not returned
  Listener listener_;
  std::stop_source stop_;
  std::atomic<FinishReason> why_ = FinishReason::eos;  // eos: not cancelled
};

}  // namespace spectr

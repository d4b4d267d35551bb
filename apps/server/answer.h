#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "apps/server/text_output.h"
#include "spectr/decode/statistics.h"

namespace spectr::server {

/// Why a text ended.
enum class FinishReason {
  eos,          ///< the model ended it
  limit,        ///< as many tokens as were wanted
  context,      ///< no room for more
  word,         ///< a stop word
  timeout,      ///< its time was over
  cancelled,    ///< nobody wants it any more, or the server stops
  not_started,  ///< given up before it got a slot
  failed,
};

/// A finished text.
struct Outcome {
  FinishReason reason = FinishReason::cancelled;
  std::string stop_word;
  std::string failure;
  bool has_new_line = false;  ///< the text
  Statistics statistics;
  std::chrono::steady_clock::time_point begun;  ///< when a slot took it up
  std::size_t cached = 0;                       ///< prompt tokens that the target did not have to compute
  std::size_t computed = 0;                     ///< those that it computed
  std::size_t length = 0;                       ///< L of the method; of auto the largest that it chose
  std::size_t slot = 0;
};

/// The texts of one request on their way from the slots that write them to whoever asked for them.
class Answer {
 public:
  /// `news` is called by the slots' threads when something has been added. It must not take long.
  explicit Answer(
      std::size_t choices, std::function<void()> news = [] {})
      : choices_(choices), news_(std::move(news)) {}

  // The slots' side. Nothing is added to a choice after it has finished.
  void add(std::size_t choice, Chunk chunk);
  void finish(std::size_t choice, Outcome outcome);
  std::stop_token stop() const { return stop_.get_token(); }

  // The other side.
  /// What has come since the last call.
  Chunk take(std::size_t choice);
  /// The outcome of a choice that has finished and whose pieces have all been taken.
  std::optional<Outcome> outcome(std::size_t choice);
  /// Ends the texts before their next pass. The first reason is theirs: timeout, or cancelled.
  void cancel(FinishReason why = FinishReason::cancelled) {
    FinishReason none = FinishReason::eos;
    why_.compare_exchange_strong(none, why);
    stop_.request_stop();
  }
  bool cancelled() const { return stop_.stop_requested(); }
  /// Requires: cancelled().
  FinishReason why() const { return why_; }

  std::size_t choices() const { return choices_.size(); }

 private:
  struct Choice {
    Chunk chunk;
    bool taken = true;
    std::optional<Outcome> outcome;
  };
  mutable std::mutex mutex_;
  std::vector<Choice> choices_;
  std::function<void()> news_;
  std::stop_source stop_;
  std::atomic<FinishReason> why_ = FinishReason::eos;  // why they were cancelled; eos: they were not
};

}  // namespace spectr::server

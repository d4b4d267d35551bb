#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/server/answers/format.h"
#include "apps/server/models/served_models.h"
#include "apps/server/requests/generation_request.h"
#include "spectr/engine/completion.h"
#include "spectr/engine/request.h"
#include "spectr/text/chat/answer_calls.h"

namespace spectr::server {

/// New parts of one answer.
struct AnswerNews {
  AnswerDelta delta;
  std::vector<PromptProgress> progress = {};
  std::optional<CompletionResult> result = {};  ///< set once, in the last update
  bool called = false;                          ///< the answer contains tool calls
};

/// A request for completions with everything that its answer needs. Destroying it cancels
/// the completions.
struct ActiveRequest {
  ActiveRequest() = default;
  ~ActiveRequest() {
    if (completion) completion->cancel();
  }
  ActiveRequest(const ActiveRequest&) = delete;
  ActiveRequest& operator=(const ActiveRequest&) = delete;

  void cancel_if_late() {
    if (std::chrono::steady_clock::now() > deadline) completion->cancel(FinishReason::timeout);
  }

  /// Returns the parts of an answer that are new since the last call. Does not block.
  AnswerNews take(std::size_t choice);

  ModelLease model;
  GenerationRequest request;
  std::shared_ptr<const PreparedRequest> prepared;
  std::optional<AnswerHead> head;  ///< refers to `request` and `prepared`
  std::shared_ptr<Completion> completion;
  std::vector<AnswerCalls> parsers;  ///< of each answer, if tools are offered
  std::vector<std::size_t> calls;    ///< found so far in each answer
  std::chrono::steady_clock::time_point deadline;
};

}  // namespace spectr::server

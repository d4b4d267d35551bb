#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/server/answer.h"
#include "apps/server/format.h"

namespace spectr::server {

/// A request for texts and everything that its answer needs, for as long as it takes. Its end cancels what is
/// still being written.
struct ActiveRequest {
  ActiveRequest() = default;
  ~ActiveRequest() {
    if (answer) answer->cancel();
  }
  ActiveRequest(const ActiveRequest&) = delete;
  ActiveRequest& operator=(const ActiveRequest&) = delete;

  void cancel_if_late() {
    if (std::chrono::steady_clock::now() > deadline) answer->cancel(FinishReason::timeout);
  }

  std::uint64_t prompt_tokens() const { return prompt_tokens_of(tasks, request.n); }

  std::shared_ptr<void> handle;  ///< counts it in the service
  GenerationRequest request;
  std::vector<Task> tasks;
  std::optional<AnswerHead> head;  ///< refers to the two above
  std::shared_ptr<Answer> answer;
  std::chrono::steady_clock::time_point deadline;
};

}  // namespace spectr::server

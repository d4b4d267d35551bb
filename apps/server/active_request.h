#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "apps/server/answers/format.h"
#include "apps/server/requests/generation_request.h"
#include "spectr/engine/completion.h"
#include "spectr/engine/request.h"

namespace spectr::server {

/// A request for completions and everything that its answer needs, as long as it takes. Its end cancels the
/// completions.
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

  std::shared_ptr<void> handle;  ///< counts it in the service
  GenerationRequest request;
  std::shared_ptr<const PreparedRequest> prepared;
  std::optional<AnswerHead> head;  ///< refers to the two above
  std::shared_ptr<Completion> completion;
  std::chrono::steady_clock::time_point deadline;
};

}  // namespace spectr::server

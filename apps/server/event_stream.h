#pragma once

#include <httplib.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "apps/server/answer.h"
#include "apps/server/format.h"

namespace spectr::server {

/// A request for texts and everything that its answer needs, for as long as it takes.
struct ActiveRequest {
  std::shared_ptr<void> handle;  ///< counts it in the service
  GenerationRequest request;
  std::vector<Task> tasks;
  std::optional<AnswerHead> head;  ///< refers to the two above
  std::shared_ptr<Answer> answer;
  std::chrono::steady_clock::time_point deadline;
};

/// Answers with server-sent events, one per block of text as it comes.
void stream(std::shared_ptr<ActiveRequest> active, httplib::Response& response);

}  // namespace spectr::server

#include "apps/server/generation.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <random>
#include <utility>

#include "apps/server/answer.h"
#include "apps/server/api_error.h"
#include "apps/server/connection.h"
#include "apps/server/event_stream.h"
#include "apps/server/format.h"
#include "apps/server/tasks.h"

namespace spectr::server {
namespace {

std::string make_id(Api api) {
  static std::atomic<std::uint64_t> number = 0;
  static const std::uint32_t run = std::random_device{}();
  return fmt::format("{}-{:08x}{:08x}", api == Api::chat ? "chatcmpl" : "cmpl", run, ++number);
}

/// Cancels the texts when nobody waits for them any more.
void cancel_if_unwanted(Answer& answer, std::chrono::steady_clock::time_point deadline) {
  const Connection* connection = Connection::current();
  if (std::chrono::steady_clock::now() > deadline) answer.cancel(FinishReason::timeout);
  if (connection != nullptr && connection->gone()) answer.cancel();
}

/// All texts, when they are complete.
std::vector<FinishedText> wait_for(Answer& answer, std::chrono::steady_clock::time_point deadline) {
  std::vector<FinishedText> texts(answer.choices());
  std::vector<bool> done(answer.choices());
  for (std::size_t left = answer.choices(); left > 0;) {
    answer.wait(client_poll_interval);
    cancel_if_unwanted(answer, deadline);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (done[i]) continue;
      Chunk chunk = answer.take(i);
      texts[i].all.text += chunk.text;
      std::ranges::move(chunk.tokens, std::back_inserter(texts[i].all.tokens));
      if (auto outcome = answer.outcome(i)) {
        texts[i].outcome = *std::move(outcome);
        done[i] = true;
        --left;
      }
    }
  }
  return texts;
}

}  // namespace

void answer_generation(Service& service, Api api, const httplib::Request& request,
                       httplib::Response& response) {
  const auto deadline = std::chrono::steady_clock::now() + service.options().timeout;
  Slots& slots = service.open_slots();
  auto active = std::make_shared<ActiveRequest>();
  active->handle = service.begin_request();
  active->request = GenerationRequest::read(parse_body(request.body), api, service.options().defaults);
  Tasks tasks = make_tasks(active->request, service.models(), slots.context());
  if (tasks.tasks.size() > slots.room()) {
    throw ApiError::invalid(fmt::format("prompts × n ('n': {}) is {}, slots and queue have room for {}",
                                        active->request.n, tasks.tasks.size(), slots.room()));
  }
  active->tasks = tasks.tasks;
  active->head.emplace(AnswerHead{active->request, *service.models().tokenizer, active->tasks, make_id(api),
                                  std::time(nullptr), service.models().name, tasks.seed});
  active->answer = std::make_shared<Answer>(tasks.tasks.size());
  active->deadline = deadline;
  if (!slots.submit(std::move(tasks.tasks), active->answer)) {
    throw ApiError::queue_full(slots.queue_limit(), service.retry_after());
  }
  if (active->request.stream) return stream(std::move(active), response);

  const std::vector<FinishedText> texts = wait_for(*active->answer, deadline);
  for (const FinishedText& text : texts) {
    if (auto failure = failure_of(text.outcome)) throw *std::move(failure);
  }
  response.set_content(text_of(make_format(*active->head)->whole(texts)), "application/json; charset=utf-8");
}

}  // namespace spectr::server

#include "apps/server/generation.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <random>
#include <utility>

#include "apps/server/active_request.h"
#include "apps/server/api_error.h"
#include "apps/server/event_stream.h"
#include "apps/server/fields.h"
#include "apps/server/tasks.h"
#include "apps/server/whole_answer.h"

namespace spectr::server {
namespace {

std::string make_id(Api api) {
  static std::atomic<std::uint64_t> number = 0;
  static const std::uint32_t run = std::random_device{}();
  return fmt::format("{}-{:08x}{:08x}", api == Api::chat ? "chatcmpl" : "cmpl", run, ++number);
}

}  // namespace

std::unique_ptr<http::Reply> begin_generation(Service& service, Api api, const http::Request& request,
                                              const http::Wake& wake) {
  const auto deadline = std::chrono::steady_clock::now() + service.options().timeout;
  Slots& slots = service.open_slots();
  auto active = std::make_unique<ActiveRequest>();
  active->handle = service.begin_request();
  active->request = GenerationRequest::read(parse_body(request.body), api, service.options().defaults);
  Tasks tasks = make_tasks(active->request, service.models(),
                           {slots.context(), service.options().slots.slots, slots.unfinished()});
  if (tasks.tasks.size() > slots.room()) {
    throw ApiError::invalid(fmt::format("prompts × n ('n': {}) is {}, slots and queue have room for {}",
                                        active->request.n, tasks.tasks.size(), slots.room()));
  }
  active->tasks = tasks.tasks;
  active->head.emplace(AnswerHead{active->request, *service.models().tokenizer, active->tasks, make_id(api),
                                  std::time(nullptr), service.models().name, tasks.seed});
  active->answer = std::make_shared<Answer>(tasks.tasks.size(), wake);
  active->deadline = deadline;
  if (!slots.submit(std::move(tasks.tasks), active->answer)) {
    throw ApiError::queue_full(slots.queue_limit(), service.retry_after());
  }
  return active->request.stream ? event_stream(std::move(active)) : whole_answer(std::move(active));
}

}  // namespace spectr::server

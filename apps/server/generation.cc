#include "apps/server/generation.h"

#include <fmt/format.h>

#include <atomic>
#include <ctime>
#include <random>
#include <utility>

#include "apps/server/active_request.h"
#include "apps/server/answers/event_stream.h"
#include "apps/server/answers/ollama_information.h"
#include "apps/server/answers/responses.h"
#include "apps/server/answers/whole_answer.h"
#include "apps/server/api_error.h"
#include "apps/server/requests/engine_request.h"
#include "apps/server/requests/fields.h"
#include "spectr/engine/tools/call_finder.h"

namespace spectr::server {
namespace {

std::string make_id(Api api) {
  static std::atomic<std::uint64_t> number = 0;
  static const std::uint32_t run = std::random_device{}();
  const char* const kind = api == Api::chat        ? "chatcmpl-"
                           : api == Api::messages  ? "msg_"
                           : api == Api::responses ? "resp_"
                                                   : "cmpl-";
  return fmt::format("{}{:08x}{:08x}", kind, run, ++number);
}

}  // namespace

http::Answer begin_generation(const ModelRequest& asked, Api api) {
  Service& service = *asked.model;
  Engine& engine = service.open_engine();
  auto active = std::make_unique<ActiveRequest>();
  active->model = asked.model;
  active->request = GenerationRequest::read(parse_body(asked.request.body), api, service.options().defaults);
  if (active->request.only_loads) return response_of(loaded_json(service.name(), api));
  active->prepared = prepare(active->request, engine);
  active->head.emplace(AnswerHead{active->request, *engine.models().tokenizer, *active->prepared,
                                  make_id(api), std::time(nullptr), service.name(), asked.arrival,
                                  asked.waited});
  if (active->request.is_conversation()) {
    const std::size_t choices = active->prepared->completions();
    active->parsers = answer_calls(active->request.chat.tools, *engine.models().chat_template,
                                   active->prepared->request.constraint.has_value(), choices);
    active->calls.resize(choices);
  }
  active->deadline = asked.deadline();
  active->completion = engine.submit(active->prepared, [wake = asked.wake](Completion&) { wake(); });
  if (!active->completion) throw ApiError::queue_full(engine.slot_options().queue, service.retry_after());
  return active->request.stream ? event_stream(std::move(active)) : whole_answer(std::move(active));
}

}  // namespace spectr::server

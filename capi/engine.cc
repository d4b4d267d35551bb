#include "spectr/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "capi/guard.h"
#include "capi/request.h"
#include "spectr/decode/score_sequence.h"
#include "spectr/engine/statistics_json.h"
#include "spectr/engine/tools/call_finder.h"
#include "spectr/engine/usable_processors.h"

struct spectr_engine {
  std::shared_ptr<spectr::Engine> engine;
};

struct spectr_completion {
  std::shared_ptr<spectr::Engine> engine;  // must outlive the completions
  std::shared_ptr<const spectr::PreparedRequest> request;
  std::shared_ptr<spectr::Completion> completion;
  spectr::CallFinder calls;
  spectr::CompletionEvent event = {};             // event whose text the last spectr_event points to
  std::vector<spectr::Token> tokens = {};         // tokens of that event
  std::vector<spectr::ToolCall> called = {};      // calls of that event
  std::vector<spectr_tool_call> called_out = {};  // the same, for the caller
  std::string stop_reason = {};                   // stop reason of that event
  std::vector<std::string> statistics = {};       // by choice; empty until its last event
};

namespace {

using namespace spectr;
using namespace spectr::capi;

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

Result<EngineOptions> options_of(const spectr_engine_options& given) {
  SPECTR_TRY_VOID(need(given.model, "model"));
  SPECTR_TRY_VOID(need_list(given.drafts, given.draft_count, "drafts"));
  constexpr std::int32_t max_threads = 4096;
  if (given.threads < 0 || given.threads > max_threads)
    return error("threads must lie in [0, {}], got {}", max_threads, given.threads);
  constexpr std::size_t max_slots = 1024;
  if (given.slots < 1 || given.slots > max_slots)
    return error("slots must lie in [1, {}], got {}", max_slots, given.slots);
  EngineOptions options;
  options.models.target = given.model;
  for (std::size_t i = 0; i < given.draft_count; ++i) {
    SPECTR_TRY_VOID(need(given.drafts[i], "an entry of drafts"));
    options.models.drafts.emplace_back(given.drafts[i]);
  }
  options.models.threads = given.threads == 0 ? usable_processors() : given.threads;
  options.models.context = given.context;
  options.models.load.device = text_or_empty(given.device);
  options.models.load.draft_device = text_or_empty(given.draft_device);
  options.slots.slots = given.slots;
  CostFileOptions costs;
  if (given.log != nullptr)
    costs.tell = [log = given.log, user = given.user](const std::string& line) { log(user, line.c_str()); };
  if (given.progress != nullptr) {
    const auto report = [progress = given.progress, user = given.user](std::string_view what, double share) {
      progress(user, std::string(what).c_str(), share);
    };
    costs.progress = report;
    options.models.load.progress = [report](const std::filesystem::path& file, std::uint64_t done,
                                            std::uint64_t all) {
      report(file.native(), all == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(all));
    };
  }
  if (given.measure_costs) options.cost_file = CostFile(std::move(costs));
  return options;
}

/// Processes the next event and stores what `event` points to. Fails if the completion failed.
Result<void> take(spectr_completion& handle, std::pair<std::size_t, CompletionEvent> news,
                  spectr_event& event) {
  const std::size_t choice = news.first;
  handle.event = std::move(news.second);
  handle.called = handle.calls.take(choice, handle.event);
  handle.called_out.clear();
  for (const ToolCall& call : handle.called)
    handle.called_out.push_back({call.id.c_str(), call.name.c_str(), call.arguments.c_str()});
  const TextDelta& delta = handle.event.delta;
  handle.tokens.clear();
  for (const TokenReport& token : delta.tokens) handle.tokens.push_back(token.token);
  event = {.choice = choice,
           .text = delta.text.c_str(),
           .text_size = delta.text.size(),
           .reasoning = delta.reasoning.c_str(),
           .reasoning_size = delta.reasoning.size(),
           .tokens = handle.tokens.data(),
           .token_count = handle.tokens.size(),
           .ended = false,
           .stop_reason = nullptr,
           .tool_calls = handle.called_out.data(),
           .tool_call_count = handle.called_out.size()};
  const auto& result = handle.event.result;
  if (!result) return {};
  handle.statistics[choice] = statistics_json(*result, handle.request->decoding);
  handle.stop_reason = name(result->reason);
  event.ended = true;
  event.stop_reason = handle.stop_reason.c_str();
  if (result->reason == FinishReason::failed) return std::unexpected(result->failure);
  return {};
}

/// Returns the tokens of a caller. Fails if the engine or the tokens are missing.
Result<std::span<const Token>> token_list(const spectr_engine* engine, const std::int32_t* tokens,
                                          std::size_t count) {
  SPECTR_TRY_VOID(need(engine, "engine"));
  if (count > 0) SPECTR_TRY_VOID(need(tokens, "tokens"));
  return std::span(tokens, count);
}

}  // namespace

spectr_engine_options spectr_engine_defaults() {
  return {.model = nullptr,
          .drafts = nullptr,
          .draft_count = 0,
          .threads = 0,
          .context = 0,
          .slots = 1,
          .device = nullptr,
          .draft_device = nullptr,
          .measure_costs = false,
          .progress = nullptr,
          .log = nullptr,
          .user = nullptr};
}

spectr_request spectr_request_defaults() {
  const WarpOptions sampling;
  spectr_request request{};
  request.n = 1;
  request.temperature = sampling.temperature;
  request.top_p = sampling.top_p;
  request.min_p = sampling.min_p;
  request.repeat_penalty = sampling.repeat_penalty;
  request.top_k = sampling.top_k;
  return request;
}

spectr_status spectr_engine_load(const spectr_engine_options* options, spectr_engine** engine,
                                 spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(engine, "engine"));
    *engine = nullptr;
    SPECTR_TRY_VOID(need(options, "options"));
    SPECTR_TRY(EngineOptions chosen, options_of(*options));
    SPECTR_TRY(std::unique_ptr<Engine> loaded, Engine::load(std::move(chosen)));
    if (options->log != nullptr) {
      for (const std::string& warning : loaded->models().warnings)
        options->log(options->user, warning.c_str());
    }
    *engine = new spectr_engine{std::move(loaded)};
    return {};
  });
}

void spectr_engine_free(spectr_engine* engine) {
  delete engine;
}

spectr_status spectr_engine_submit(spectr_engine* engine, const spectr_request* request,
                                   spectr_completion** completion, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(completion, "completion"));
    *completion = nullptr;
    SPECTR_TRY_VOID(need(engine, "engine"));
    SPECTR_TRY_VOID(need(request, "request"));
    const EngineModels& models = engine->engine->models();
    SPECTR_TRY(const PromptInput prompt, prompt_of(*request));
    SPECTR_TRY(Request asked, request_of(*request));
    SPECTR_TRY_VOID(add_prompt(prompt, models, asked));
    SPECTR_TRY(auto prepared, engine->engine->prepare(std::move(asked)));
    auto handle = std::make_unique<spectr_completion>(
        spectr_completion{engine->engine, prepared, nullptr, CallFinder(prompt, models, prepared)});
    handle->statistics.resize(prepared->completions());
    Completion::Listener listener;
    if (request->listener != nullptr) {
      listener = [call = request->listener, user = request->user](Completion&) { call(user); };
    }
    handle->completion = engine->engine->submit(std::move(prepared), std::move(listener));
    if (!handle->completion) {
      return spectr::error(ErrorCode::cancelled, "queue full ({} waiting); retry later",
                           engine->engine->slot_options().queue);
    }
    *completion = handle.release();
    return {};
  });
}

spectr_status spectr_engine_tokenize(const spectr_engine* engine, const char* text, int32_t* tokens,
                                     size_t capacity, size_t* count, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(engine, "engine"));
    SPECTR_TRY_VOID(need(text, "text"));
    SPECTR_TRY_VOID(need(count, "count"));
    if (capacity > 0) SPECTR_TRY_VOID(need(tokens, "tokens"));
    const std::vector<Token> found = engine->engine->models().tokenizer->encode(text);
    *count = found.size();
    std::copy_n(found.begin(), std::min(capacity, found.size()), tokens);
    return {};
  });
}

size_t spectr_engine_vocabulary(const spectr_engine* engine) {
  return engine == nullptr ? 0 : engine->engine->models().target->vocabulary();
}

size_t spectr_engine_context(const spectr_engine* engine) {
  return engine == nullptr ? 0 : engine->engine->context();
}

spectr_status spectr_engine_detokenize(const spectr_engine* engine, const int32_t* tokens, size_t count,
                                       char* text, size_t capacity, size_t* size, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY(const std::span<const Token> list, token_list(engine, tokens, count));
    SPECTR_TRY_VOID(need(size, "size"));
    if (capacity > 0) SPECTR_TRY_VOID(need(text, "text"));
    SPECTR_TRY_VOID(check_tokens(list, spectr_engine_vocabulary(engine)));
    const std::string found = engine->engine->models().tokenizer->decode(list);
    *size = found.size();
    std::copy_n(found.data(), std::min(capacity, found.size()), text);
    return {};
  });
}

spectr_status spectr_engine_logits(const spectr_engine* engine, const int32_t* tokens, size_t count,
                                   size_t first, float* logits, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY(const std::span<const Token> list, token_list(engine, tokens, count));
    if (count == 0) return spectr::error("tokens is empty");
    if (first >= count) return spectr::error("first must be less than {}, got {}", count, first);
    SPECTR_TRY_VOID(need(logits, "logits"));
    const std::size_t V = spectr_engine_vocabulary(engine);
    return for_each_logits(*engine->engine->models().target, engine->engine->context(), list, first,
                           [&](std::size_t i, const Logits& row) {
                             std::visit(
                                 [&](const auto& values) {
                                   std::ranges::transform(values, logits + (i - first) * V, [](auto value) {
                                     return static_cast<float>(value);
                                   });
                                 },
                                 row.values());
                           });
  });
}

spectr_status spectr_engine_loss(const spectr_engine* engine, const int32_t* tokens, size_t count,
                                 double* loss, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY(const std::span<const Token> list, token_list(engine, tokens, count));
    SPECTR_TRY_VOID(need(loss, "loss"));
    SPECTR_TRY(*loss, sum_of_losses(*engine->engine->models().target, engine->engine->context(), list));
    return {};
  });
}

spectr_status spectr_completion_next(spectr_completion* completion, uint32_t timeout_ms, spectr_event* event,
                                     spectr_error* error) {
  bool timed_out = false, done = false;
  const spectr_status status = guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(completion, "completion"));
    SPECTR_TRY_VOID(need(event, "event"));
    *event = {};
    auto news = completion->completion->next(std::chrono::milliseconds(timeout_ms));
    if (news) return take(*completion, *std::move(news), *event);
    done = std::ranges::none_of(completion->statistics, &std::string::empty);
    timed_out = !done;
    return {};
  });
  if (status != SPECTR_OK) return status;
  if (timed_out) return fail(error, SPECTR_TIMEOUT, "no news in time");
  if (done) return fail(error, SPECTR_DONE, "all completions have ended");
  return SPECTR_OK;
}

spectr_status spectr_completion_wait(spectr_completion* completion, uint32_t timeout_ms,
                                     spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(completion, "completion"));
    if (!completion->completion->wait(std::chrono::milliseconds(timeout_ms)))
      return spectr::error(ErrorCode::timeout, "completions are running after {} ms", timeout_ms);
    return {};
  });
}

void spectr_completion_cancel(spectr_completion* completion) {
  if (completion != nullptr) completion->completion->cancel();
}

const char* spectr_completion_statistics(const spectr_completion* completion, size_t choice) {
  if (completion == nullptr || choice >= completion->statistics.size()) return nullptr;
  const std::string& json = completion->statistics[choice];
  return json.empty() ? nullptr : json.c_str();
}

void spectr_completion_free(spectr_completion* completion) {
  if (completion == nullptr) return;
  completion->completion->cancel();
  completion->completion->wait();
  delete completion;
}

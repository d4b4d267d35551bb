// Bindings of the engine: completions, logits, likelihoods.
#include "spectr/engine/engine.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "python/bindings.h"
#include "spectr/decode/score_sequence.h"
#include "spectr/engine/bundled_models.h"
#include "spectr/engine/prompt_input.h"
#include "spectr/engine/statistics_json.h"
#include "spectr/engine/tools/call_finder.h"
#include "spectr/engine/usable_processors.h"

namespace spectr::python {
namespace {

using Paths = std::vector<std::filesystem::path>;

struct PythonEngine {
  std::shared_ptr<Engine> engine;
};

/// A completion of one choice, and the engine that decodes it.
struct PythonCompletion {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<const PreparedRequest> request;
  std::shared_ptr<Completion> completion;
  CallFinder calls;

  PythonCompletion(std::shared_ptr<Engine> of, std::shared_ptr<const PreparedRequest> prepared,
                   std::shared_ptr<Completion> submitted, CallFinder finder)
      : engine(std::move(of)),
        request(std::move(prepared)),
        completion(std::move(submitted)),
        calls(std::move(finder)) {}
  PythonCompletion(const PythonCompletion&) = delete;
  PythonCompletion& operator=(const PythonCompletion&) = delete;
  ~PythonCompletion() {
    const nb::gil_scoped_release released;
    completion->cancel();
    completion->wait();
  }
};

PythonEngine load(const std::optional<std::filesystem::path>& model, const Paths& drafts, int threads,
                  std::size_t context, std::size_t slots, const std::string& device,
                  const std::string& draft_device, bool measure_costs) {
  const auto run = [&]() -> Result<std::unique_ptr<Engine>> {
    const nb::gil_scoped_release released;
    EngineOptions options;
    options.models.drafts = drafts;
    if (model) {
      options.models.target = *model;
    } else {
      SPECTR_TRY(const BundledModels bundled, bundled_models());
      options.models.target = bundled.target;
      if (drafts.empty()) options.models.drafts = {bundled.draft};
    }
    options.models.threads = threads == 0 ? usable_processors() : threads;
    options.models.context = context;
    options.models.load.device = device;
    options.models.load.draft_device = draft_device;
    options.slots.slots = slots;
    if (measure_costs) options.cost_file = CostFile();
    return Engine::load(std::move(options));
  };
  return {value_or_raise(run())};
}

std::vector<Token> tokenize(const PythonEngine& engine, const std::string& text) {
  return engine.engine->models().tokenizer->encode(text);
}

nb::object detokenize(const PythonEngine& engine, const std::vector<Token>& tokens) {
  value_or_raise(check_tokens(tokens, engine.engine->models().target->vocabulary()));
  const std::string text = engine.engine->models().tokenizer->decode(tokens);
  return nb::bytes(text.data(), text.size());
}

using Call = std::tuple<std::string, std::string, std::string>;  // id, name, arguments
using Message = std::tuple<std::string, std::string, std::vector<Call>, std::optional<std::string>>;

/// Returns the messages (role, content, calls, id of the call that it is the result of).
std::vector<ChatMessage> messages_of(const std::vector<Message>& given) {
  std::vector<ChatMessage> messages;
  for (const auto& [role, content, calls, call_id] : given) {
    ChatMessage message = ChatMessage::of(role, content);
    for (const auto& [id, name, arguments] : calls) message.calls.push_back({id, name, arguments});
    message.call_id = call_id;
    messages.push_back(std::move(message));
  }
  return messages;
}

/// Returns the prompt: text, tokens, or messages with their tools.
PromptInput prompt_of(const nb::object& prompt, const std::string& tools, const std::string& tool_choice) {
  const bool is_chat = nb::isinstance<nb::list>(prompt);
  if (!is_chat && !(tools.empty() && tool_choice.empty()))
    raise({"tools and tool_choice need messages", ErrorCode::bad_input});
  if (nb::isinstance<nb::str>(prompt)) return nb::cast<std::string>(prompt);
  if (!is_chat) return nb::cast<std::vector<Token>>(prompt);
  return ChatInput{messages_of(nb::cast<std::vector<Message>>(prompt)),
                   value_or_raise(read_tool_use(tools, tool_choice))};
}

/// Returns the constraint, of at most one of these sources; none if both are empty.
std::optional<Constraint> constraint_of(const std::string& json_schema, const std::string& grammar) {
  if (!json_schema.empty() && !grammar.empty())
    raise({"json_schema and grammar exclude each other", ErrorCode::bad_input});
  if (!json_schema.empty()) return Constraint{Constraint::Kind::json_schema, json_schema, "json_schema"};
  if (!grammar.empty()) return Constraint{Constraint::Kind::grammar, grammar, "grammar"};
  return std::nullopt;
}

void read_sampling(const nb::dict& sampling, WarpOptions& filters) {
  for (const auto& [key, value] : sampling) {
    const auto name = nb::cast<std::string>(key);
    if (name == "temperature") filters.temperature = nb::cast<double>(value);
    if (name == "top_k") filters.top_k = nb::cast<std::size_t>(value);
    if (name == "top_p") filters.top_p = nb::cast<double>(value);
    if (name == "min_p") filters.min_p = nb::cast<double>(value);
    if (name == "repeat_penalty") filters.repeat_penalty = nb::cast<double>(value);
  }
}

/// Submits a request. `prompt`: text, a tuple of tokens, or a list of messages. Empty strings: no constraint,
/// no tools, the tool choice "auto".
PythonCompletion* submit(const PythonEngine& engine, const nb::object& prompt, const nb::dict& sampling,
                         const nb::dict& settings, const std::optional<std::string>& method,
                         std::optional<std::size_t> limit, std::uint64_t seed,
                         const std::vector<std::string>& stop, bool ignore_eos,
                         const std::string& json_schema, const std::string& grammar, const std::string& tools,
                         const std::string& tool_choice) {
  Request request;
  const PromptInput input = prompt_of(prompt, tools, tool_choice);
  request.constraint = constraint_of(json_schema, grammar);
  request.method.method = method;
  request.method.others = method_options(settings);
  if (settings.contains("drafts")) request.method.drafts = request.method.others.drafts;
  if (settings.contains("length")) request.method.length = request.method.others.length;
  request.limit = limit;
  request.seed = seed;
  request.stop_words = stop;
  request.ignore_eos = ignore_eos;
  read_sampling(sampling, request.sampling);
  std::shared_ptr<const PreparedRequest> prepared;
  const auto run = [&]() -> Result<std::shared_ptr<Completion>> {
    const nb::gil_scoped_release released;
    SPECTR_TRY_VOID(add_prompt(input, engine.engine->models(), request));
    SPECTR_TRY(prepared, engine.engine->prepare(std::move(request)));
    auto completion = engine.engine->submit(prepared);
    if (!completion) {
      return error(ErrorCode::cancelled, "queue full ({} waiting); retry later",
                   engine.engine->slot_options().queue);
    }
    return completion;
  };
  auto completion = value_or_raise(run());
  CallFinder calls(input, engine.engine->models(), prepared);
  return new PythonCompletion(engine.engine, std::move(prepared), std::move(completion), std::move(calls));
}

/// Waits for the next event. Returns (text, reasoning, tokens, calls, statistics): calls are (id, name,
/// arguments), and statistics is JSON with the last event and None before. Returns None when all events were
/// taken. Ctrl-C interrupts the wait.
nb::object next(PythonCompletion& handle) {
  constexpr std::chrono::milliseconds interval(100), now(0);
  for (;;) {
    std::optional<std::pair<std::size_t, CompletionEvent>> news;
    bool ended = false;
    {
      const nb::gil_scoped_release released;
      news = handle.completion->next(interval);
      ended = !news && handle.completion->wait(now);
      if (ended) news = handle.completion->next(now);
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!news && ended) return nb::none();
    if (!news) continue;
    CompletionEvent& event = news->second;
    std::vector<Call> calls;
    for (const ToolCall& call : handle.calls.take(news->first, event))
      calls.emplace_back(call.id, call.name, call.arguments);
    std::vector<Token> tokens;
    for (const TokenReport& token : event.delta.tokens) tokens.push_back(token.token);
    std::optional<std::string> statistics;
    if (event.result) {
      if (event.result->reason == FinishReason::failed) raise(event.result->failure);
      statistics = statistics_json(*event.result, handle.request->decoding);
    }
    return nb::make_tuple(event.delta.text, event.delta.reasoning, tokens, calls, statistics);
  }
}

/// Returns the logits after every token, [n, V], or after the last, [1, V].
nb::object logits(const PythonEngine& engine, const std::vector<Token>& tokens, bool all) {
  const EngineModels& models = engine.engine->models();
  const std::size_t V = models.target->vocabulary();
  const std::size_t first = all || tokens.empty() ? 0 : tokens.size() - 1;
  std::vector<float> rows;
  const auto run = [&]() -> Result<void> {
    const nb::gil_scoped_release released;
    rows.reserve((tokens.size() - first) * V);
    return for_each_logits(
        *models.target, models.context, tokens, first, [&](std::size_t, const Logits& row) {
          std::visit([&](const auto& values) { rows.insert(rows.end(), values.begin(), values.end()); },
                     row.values());
        });
  };
  value_or_raise(run());
  return array_of<float>(rows, {rows.size() / V, V});
}

double loss_of(const PythonEngine& engine, const std::vector<Token>& tokens) {
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return sum_of_losses(*engine.engine->models().target, engine.engine->context(), tokens);
  };
  return value_or_raise(run());
}

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<PythonCompletion>(module, "Completion")
      .def("next", &next)
      .def("cancel", [](const PythonCompletion& handle) { handle.completion->cancel(); });
  nb::class_<PythonEngine>(module, "Engine")
      .def_prop_ro("vocab", [](const PythonEngine& e) { return e.engine->models().target->vocabulary(); })
      .def_prop_ro("context", [](const PythonEngine& e) { return e.engine->context(); })
      .def("submit", &submit, nb::rv_policy::take_ownership, nb::arg("prompt"), nb::arg("sampling"),
           nb::arg("settings"), nb::arg("method").none(), nb::arg("limit").none(), nb::arg("seed"),
           nb::arg("stop"), nb::arg("ignore_eos"), nb::arg("json_schema"), nb::arg("grammar"),
           nb::arg("tools"), nb::arg("tool_choice"))
      .def("tokenize", &tokenize)
      .def("detokenize", &detokenize)
      .def("logits", &logits)
      .def("sum_of_losses", &loss_of);
  module.def("load", &load, nb::arg("model").none(), nb::arg("drafts"), nb::arg("threads"),
             nb::arg("context"), nb::arg("slots"), nb::arg("device"), nb::arg("draft_device"),
             nb::arg("measure_costs"));
}

}  // namespace spectr::python

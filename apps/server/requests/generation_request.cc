#include "apps/server/requests/generation_request.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <variant>

#include "apps/server/api_error.h"
#include "apps/server/requests/constraint_request.h"
#include "apps/server/requests/foreign_fields.h"
#include "apps/server/requests/messages_request.h"
#include "apps/server/requests/ollama_request.h"
#include "apps/server/requests/prompt_fields.h"
#include "apps/server/requests/responses_request.h"
#include "apps/server/requests/sampling_fields.h"
#include "apps/support/json_input.h"
#include "spectr/decode/method_settings.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_stop_words = 32;
constexpr std::size_t max_stop_bytes = 256;

/// A whole number: the name of the field, its range and how it is stored.
struct Number {
  std::string_view name;
  std::int64_t min, max;
  void (*set)(GenerationRequest& request, std::size_t value);
};

/// Applies llama.cpp's n_max: a length, where 0 disables drafting.
void set_max_drafts(GenerationRequest& request, std::size_t tokens) {
  if (tokens > 0) {
    request.speculative.length = tokens;
  } else {
    request.speculative.method = "plain";
  }
}

constexpr Number numbers[] = {
    {"n", 1, 128, [](GenerationRequest& r, std::size_t v) { r.n = v; }},
    {"n_cmpl", 1, 128, [](GenerationRequest& r, std::size_t v) { r.n = v; }},
};

// -1 means no limit, like an absent field; so does -2 for n_predict (llama.cpp: until the context is full).
constexpr std::pair<std::string_view, std::int64_t> limits[] = {
    {"max_tokens", -1}, {"max_completion_tokens", -1}, {"n_predict", -2}};
constexpr std::string_view limit_names[] = {"max_tokens", "max_completion_tokens", "n_predict"};
constexpr std::string_view completions[] = {"n", "n_cmpl"};

constexpr std::string_view probabilities[] = {"logprobs", "n_probs"};
constexpr std::string_view methods[] = {"method", "type"};
constexpr std::string_view plans[] = {"plan", "verifier"};
constexpr std::string_view drafts[] = {"drafts", "n_drafts"};
constexpr std::string_view lengths[] = {"length", "n_max"};

constexpr Number speculation[] = {
    {"drafts", 1, 64, [](GenerationRequest& r, std::size_t v) { r.speculative.drafts = v; }},
    {"n_drafts", 1, 64, [](GenerationRequest& r, std::size_t v) { r.speculative.drafts = v; }},
    {"length", 1, 64, [](GenerationRequest& r, std::size_t v) { r.speculative.length = v; }},
    {"n_max", 0, 64, set_max_drafts},
    {"load", 1, 1024, [](GenerationRequest& r, std::size_t v) { r.speculative.load = v; }},
};

void read_numbers(Fields& fields, std::span<const Number> table, GenerationRequest& request) {
  for (const Number& number : table) {
    if (const auto value = fields.integer(number.name, number.min, number.max))
      number.set(request, static_cast<std::size_t>(*value));
  }
}

void read_flags(Fields& fields, GenerationRequest& request) {
  constexpr std::pair<std::string_view, bool GenerationRequest::*> flags[] = {
      {"stream", &GenerationRequest::stream},
      {"ignore_eos", &GenerationRequest::ignore_eos},
      {"return_tokens", &GenerationRequest::tokens},
      {"cache_prompt", &GenerationRequest::cache_prompt},
      {"token_details", &GenerationRequest::details},
      {"return_progress", &GenerationRequest::progress},
      {"post_sampling_probs", &GenerationRequest::sampled_alternatives},
  };
  for (const auto& [name, member] : flags) {
    if (const auto value = fields.boolean(name)) request.*member = *value;
  }
}

/// Reads the maximum number of tokens, for which any negative value means no limit.
void read_limit(Fields& fields, GenerationRequest& request) {
  for (const auto& [name, min] : limits) {
    if (const auto limit = fields.count(name, min))
      request.limit = *limit < 0 ? std::nullopt : std::optional<std::size_t>(*limit);
  }
  fields.agree(limit_names,
               [](const JsonInput& a, const JsonInput& b) { return a == b || (a < 0 && b < 0); });
}

/// Reads the factors of a tree.
std::vector<std::size_t> read_factors(const JsonInput& given, const MethodSetting& setting) {
  constexpr std::size_t max_factors = 64;
  const auto [min, max] = *setting.asked;
  std::vector<std::size_t> factors;
  if (!given.is_array() || given.size() > max_factors) {
    throw ApiError::invalid(fmt::format("'speculative.{}' must be a list of at most {} factors, got {}",
                                        setting.name, max_factors, shown(given)));
  }
  for (const JsonInput& factor : given) {
    if (!factor.is_number_unsigned() || factor > max || factor < min) {
      throw ApiError::invalid(
          fmt::format("the factors of 'speculative.{}' must be integers between {} and {}, got {}",
                      setting.name, min, max, shown(factor)));
    }
    factors.push_back(factor.get<std::size_t>());
  }
  return factors;
}

/// Returns true if the value is `auto`, of a setting that may have it. Throws ApiError for other texts.
bool is_automatic(const JsonInput& given, const MethodSetting& setting) {
  if (setting.automatic == nullptr || !given.is_string()) return false;
  if (given == "auto") return true;
  throw ApiError::invalid(
      fmt::format("'speculative.{}' must be an integer between {} and {}, or \"auto\", got {}", setting.name,
                  setting.asked->min, setting.asked->max, shown(given)));
}

/// Reads method settings that requests may have, by their names in the table.
void read_method_settings(Fields& fields, MethodRequest& request) {
  MethodOptions& options = request.others;
  for (const MethodSetting& setting : method_settings()) {
    if (!setting.asked) continue;
    const JsonInput* const given = fields.any(setting.name);
    if (given == nullptr) continue;
    const auto [min, max] = *setting.asked;
    if (is_automatic(*given, setting)) {
      request.*setting.automatic = true;
    } else if (const auto* flag = std::get_if<bool MethodOptions::*>(&setting.place)) {
      options.** flag = *fields.boolean(setting.name);
    } else if (const auto* number = std::get_if<double MethodOptions::*>(&setting.place)) {
      options.** number = *fields.number(setting.name, min, max);
    } else if (const auto* count = std::get_if<std::size_t MethodOptions::*>(&setting.place)) {
      options.** count = static_cast<std::size_t>(
          *fields.integer(setting.name, static_cast<std::int64_t>(min), static_cast<std::int64_t>(max)));
    } else if (const auto* list = std::get_if<std::vector<std::size_t> MethodOptions::*>(&setting.place)) {
      options.** list = read_factors(*given, setting);
    }
  }
}

/// Returns the speculation settings of a request: an object or llama.cpp's dotted fields. None if absent.
std::optional<JsonInput> speculative_object(Fields& fields) {
  const JsonInput* object = fields.object("speculative");
  std::optional<JsonInput> all;
  if (object != nullptr) all = *object;
  for (const std::string name : {"n_max", "n_min", "p_min"}) {
    const std::string beside = "speculative." + name;
    const JsonInput* value = fields.any(beside);
    if (value == nullptr) continue;
    if (!all) all = JsonInput::object();
    if (all->contains(name)) throw ApiError::invalid(fmt::format("'{}' is given twice", beside));
    (*all)[name] = *value;
  }
  return all;
}

/// Reads method, plan, drafts, … and llama.cpp's synonyms.
void read_speculation(Fields& fields, const MethodRequest& fallback, GenerationRequest& request) {
  const std::optional<JsonInput> object = speculative_object(fields);
  if (!object) return;
  Fields inner(*object, "speculative.");
  request.speculative = {};
  request.speculative.load = fallback.load;
  for (std::string_view name : methods) {
    if (auto method = inner.string(name)) request.speculative.method = *method;
  }
  for (std::string_view name : plans) {
    if (auto plan = inner.string(name)) request.speculative.others.plan = *plan;
  }
  read_numbers(inner, speculation, request);
  read_method_settings(inner, request.speculative);
  for (const auto& names : {std::span(methods), std::span(plans), std::span(drafts), std::span(lengths)}) {
    inner.agree(names);
  }
  if (request.speculative.auto_trunk && !request.speculative.others.tree.empty())
    throw ApiError::invalid("'speculative.trunk' \"auto\" goes with K and L, not with 'speculative.tree'");
  static const Neutral switches[] = {{"n_min", {0}}, {"p_min", {0}}};
  inner.neutral(switches);
  inner.ignore_others();
}

void read_stop_words(Fields& fields, GenerationRequest& request) {
  const JsonInput* stop = fields.any("stop");
  if (stop == nullptr) return;
  const JsonInput words = stop->is_array() ? *stop : JsonInput::array({*stop});
  if (words.size() > max_stop_words) {
    throw ApiError::invalid(fmt::format("'stop' may have {} words, got {}", max_stop_words, words.size()));
  }
  for (const JsonInput& word : words) {
    if (!word.is_string()) {
      throw ApiError::invalid(
          fmt::format("'stop' must be a string or a list of strings, got {}", shown(word)));
    }
    request.stop_words.push_back(word.get<std::string>());
    if (request.stop_words.back().size() > max_stop_bytes) {
      throw ApiError::invalid(fmt::format("a word of 'stop' may have {} bytes, got {}", max_stop_bytes,
                                          request.stop_words.back().size()));
    }
  }
}

constexpr std::int64_t max_alternatives = 20;

/// Reads the log-probability fields of the request's API.
void read_log_probabilities(Fields& fields, GenerationRequest& request) {
  static const Neutral no_logprobs[] = {{"logprobs", {false}}}, no_probs[] = {{"n_probs", {0}}};
  if (request.is_conversation()) {
    fields.neutral(no_probs);
    return read_top_logprobs(fields, request);
  }
  if (const JsonInput* given = fields.any("logprobs"); given != nullptr && given->is_boolean()) {
    fields.neutral(no_logprobs);
  } else if (const auto count = fields.integer("logprobs", 0, max_alternatives)) {
    request.alternatives = static_cast<std::size_t>(*count);
  }
  if (request.api == Api::completion) return fields.neutral(no_probs);
  fields.agree(probabilities);
  if (const auto count = fields.integer("n_probs", 0, max_alternatives); count && *count > 0) {
    request.alternatives = static_cast<std::size_t>(*count);
  }
}

/// Reads the reasoning budget. If absent, the server's applies; a negative budget means no limit.
void read_reasoning_limit(Fields& fields, GenerationRequest& request) {
  constexpr std::string_view budgets[] = {"reasoning_budget_tokens", "thinking_budget_tokens"};
  fields.agree(budgets);
  for (const std::string_view name : budgets) {
    const auto tokens = fields.count(name, std::numeric_limits<std::int64_t>::min());
    if (!tokens) continue;
    std::string message = request.reasoning_limit ? request.reasoning_limit->message : "";
    request.reasoning_limit.reset();
    if (*tokens >= 0) request.reasoning_limit = {static_cast<std::size_t>(*tokens), std::move(message)};
  }
  const auto message = fields.string("reasoning_budget_message");
  if (message && request.reasoning_limit) request.reasoning_limit->message = *message;
}

}  // namespace

void read_sampling(Fields& fields, GenerationRequest& request) {
  read_numbers(fields, numbers, request);
  fields.agree(completions);
  read_limit(fields, request);
  read_sampling_fields(fields, request.warp);
  if (const auto seed = fields.integer("seed", -1, std::numeric_limits<std::int64_t>::max()); seed) {
    request.seed = *seed < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(*seed));
  }
  if (const JsonInput* bias = fields.any("logit_bias")) request.logit_bias = *bias;
  read_stop_words(fields, request);
}

void read_top_logprobs(Fields& fields, GenerationRequest& request) {
  const auto count = fields.integer("top_logprobs", 0, max_alternatives);
  if (fields.boolean("logprobs").value_or(false)) {
    request.alternatives = static_cast<std::size_t>(count.value_or(0));
  } else if (count.value_or(0) > 0) {
    throw ApiError::invalid("'top_logprobs' needs 'logprobs': true");
  }
}

std::optional<bool> splits_reasoning(std::string_view format) {
  if (format == "none") return false;
  return format == "auto" || format == "deepseek" ? std::optional(true) : std::nullopt;
}

GenerationRequest GenerationRequest::of(Api api, const RequestDefaults& defaults) {
  GenerationRequest request;
  request.api = api;
  request.warp = defaults.sampling;
  request.limit = defaults.limit;
  request.seed = defaults.seed;
  request.splits_reasoning = defaults.splits_reasoning;
  request.reasoning_limit = defaults.reasoning_limit;
  request.suffix_first = defaults.suffix_first;
  request.speculative = defaults.speculative;
  return request;
}

GenerationRequest GenerationRequest::read(const JsonInput& body, Api api, const RequestDefaults& defaults) {
  if (api == Api::messages) return read_messages_request(body, defaults);
  if (api == Api::responses) return read_responses_request(body, defaults);
  if (is_ollama(api)) return read_ollama_request(body, api, defaults);
  const bool is_chat = api == Api::chat;
  GenerationRequest request = of(api, defaults);
  const JsonInput infill = api == Api::infill ? without_infill_sampler(body) : JsonInput();
  Fields fields(api == Api::infill ? infill : body);
  fields.string("model");  // may be any name
  if (is_chat) {
    request.chat = ChatRequest::read(fields);
  } else if (const JsonInput* prompt = fields.any("prompt")) {
    request.prompt = *prompt;
  }
  static const Neutral foreign_to_chat[] = {{"prompt", {}}},
                       foreign_to_prompts[] = {{"messages", {}},
                                               {"chat_template_kwargs", {JsonInput::object()}},
                                               {"reasoning_effort", {"none"}},
                                               {"reasoning_budget_tokens", {}, is_below_zero},
                                               {"thinking_budget_tokens", {}, is_below_zero},
                                               {"reasoning_budget_message", {""}},
                                               {"tools", {JsonInput::array()}},
                                               {"tool_choice", {"none", "auto"}},
                                               {"continue_final_message", {false}},
                                               {"add_generation_prompt", {true}}};
  fields.neutral(is_chat ? std::span<const Neutral>(foreign_to_chat) : foreign_to_prompts);
  fields.any("parallel_tool_calls");  // no effect if no tools are called
  read_sampling(fields, request);
  read_flags(fields, request);
  read_prompt_fields(fields, request);
  if (const JsonInput* options = fields.object("stream_options")) {
    Fields inner(*options, "stream_options.");
    request.stream_usage = inner.boolean("include_usage").value_or(false);
    inner.boolean("include_obfuscation");
    inner.ignore_others();
  }
  if (const auto format = fields.string("reasoning_format")) {
    const auto splits = server::splits_reasoning(*format);
    if (!splits) {
      throw ApiError::invalid(fmt::format("'reasoning_format' must be none, auto or deepseek, got {}",
                                          shown(JsonInput(*format))));
    }
    request.splits_reasoning = *splits;
  }
  if (is_chat) read_reasoning_limit(fields, request);
  request.constraint = read_constraint(fields);
  read_speculation(fields, defaults.speculative, request);
  read_log_probabilities(fields, request);
  if (request.echo && request.sampled_alternatives)
    throw ApiError::invalid("'echo' and 'post_sampling_probs' exclude each other");
  read_foreign_fields(fields);
  const Neutral best_of[] = {{"best_of", {request.n}}};
  fields.neutral(best_of);
  fields.ignore_others();
  return request;
}

}  // namespace spectr::server

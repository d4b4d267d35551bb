#include "apps/server/answers/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "apps/support/setting_json.h"
#include "spectr/base/numeric.h"
#include "spectr/base/utf8.h"

namespace spectr::server {
namespace {

/// A time interval in seconds since some epoch.
struct Stretch {
  double begin, end;
};

/// Returns the length of the union of the intervals in seconds.
double covered(std::vector<Stretch> stretches) {
  std::ranges::sort(stretches, {}, &Stretch::begin);
  double seconds = 0.0, until = -std::numeric_limits<double>::infinity();
  for (const auto& [begin, end] : stretches) {
    seconds += std::max(end - std::max(begin, until), 0.0);
    until = std::max(until, end);
  }
  return seconds;
}

/// Returns how many leading tokens of a prompt none of its completions had to compute.
std::size_t cached_by_all(std::span<const CompletionResult> texts) {
  std::optional<std::size_t> min;
  for (const CompletionResult& text : texts) {
    if (text.reason != FinishReason::not_started) min = std::min(text.cached, min.value_or(text.cached));
  }
  return min.value_or(0);
}

}  // namespace

void AnswerDelta::append(AnswerDelta later) {
  std::ranges::move(later.calls, std::back_inserter(calls));
  TextDelta::append(std::move(later));
}

std::size_t prompt_tokens_of(const PreparedRequest& request) {
  std::size_t tokens = 0;
  for (const std::vector<Token>& prompt : request.request.prompts) tokens += prompt.size();
  return tokens;
}

Json usage_of(const PreparedRequest& request, std::span<const CompletionResult> results) {
  const std::size_t prompt = prompt_tokens_of(request), n = request.request.n;
  std::size_t generated = 0, reasoning = 0, cached = 0;
  for (std::size_t i = 0; i < request.completions(); i += n) cached += cached_by_all(results.subspan(i, n));
  for (const CompletionResult& result : results) {
    generated += result.statistics.generated();
    reasoning += result.reasoning_tokens;
  }
  return {{"prompt_tokens", prompt},
          {"completion_tokens", generated},
          {"total_tokens", prompt + generated},
          {"prompt_tokens_details", {{"cached_tokens", cached}}},
          {"completion_tokens_details", {{"reasoning_tokens", reasoning}}}};
}

Json timings_of(const PreparedRequest& request, std::span<const CompletionResult> results,
                std::size_t first) {
  Statistics all;
  std::size_t cached = 0, computed = 0, before_last = 0;
  std::vector<Stretch> reading, writing;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const CompletionResult& result = results[i];
    const Statistics& s = result.statistics;
    all.add(s);
    cached += result.cached;
    computed += result.computed;
    before_last += std::min(result.computed, request.prompt_of(first + i).size() - 1 - result.cached);
    const double begin = std::chrono::duration<double>(result.begun - results.front().begun).count();
    reading.push_back({begin, begin + s.prompt_seconds});
    writing.push_back({begin + s.prompt_seconds, begin + s.total_seconds});
  }
  const double prompt = static_cast<double>(before_last), generated = static_cast<double>(all.generated());
  const double prompt_seconds = covered(std::move(reading)), seconds = covered(std::move(writing));
  Json timings = {{"cache_n", cached},
                  {"prompt_n", computed},
                  {"prompt_ms", 1e3 * prompt_seconds},
                  {"prompt_per_token_ms", ratio(1e3 * prompt_seconds, prompt)},
                  {"prompt_per_second", ratio(prompt, prompt_seconds)},
                  {"predicted_n", all.generated()},
                  {"predicted_ms", 1e3 * seconds},
                  {"predicted_per_token_ms", ratio(1e3 * seconds, generated)},
                  {"predicted_per_second", ratio(generated, seconds)}};
  if (all.drafted() > 0) {
    timings["draft_n"] = all.drafted();
    timings["draft_n_accepted"] = all.accepted();
  }
  return timings;
}

Json speculation_of(const DecodingSettings& decoding, std::span<const CompletionResult> results) {
  const auto& [method, options, warp, load] = decoding;
  Statistics s;
  std::size_t length = 0;
  for (const CompletionResult& result : results) {
    s.add(result.statistics);
    length = std::max(length, result.shape.length);
  }
  const std::string plan = options.plan.value_or(std::string(method->plan));
  Json metrics = {{"method", method->name},
                  {"plan", plan.empty() ? Json(nullptr) : Json(plan)},
                  {"lossless", is_lossless(*method, options)},
                  {"mean_acceptance_length", s.block_efficiency()},
                  {"draft_acceptance_rate", s.drafted() > 0 ? Json(s.acceptance_rate()) : Json(nullptr)},
                  {"acceptance_histogram", s.acceptance_histogram()},
                  {"acceptance_per_position", s.acceptance_per_position()},
                  {"num_spec_steps", s.target_calls()},
                  {"num_accepted_draft_tokens", s.accepted()},
                  {"num_draft_tokens", s.drafted()},
                  {"num_spec_tokens", length},
                  {"bias_tv", s.bias_tv() ? Json(*s.bias_tv()) : Json(nullptr)}};
  if (options.costs) metrics["load"] = load;
  if (method->reads(Setting::costs)) metrics["costs_hash"] = fmt::format("{:016x}", options.costs->hash());
  return metrics;
}

Json sampling_of(const WarpOptions& sampling) {
  Json all;
  for (const SamplingSetting& setting : sampling_settings())
    all[std::string(setting.name)] = json_of(setting, sampling);
  Json& samplers = all["samplers"] = Json::array();
  for (const Sampler one :
       sampling.samplers.empty() ? std::span<const Sampler>(default_samplers) : sampling.samplers)
    samplers.push_back(name(one));
  return all;
}

Json probability_of(double log_probability, bool sampled) {
  if (sampled) return {{"prob", std::exp(log_probability)}};
  return {{"logprob", log_probability}};
}

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

Json bytes_of(const std::string& piece) {
  Json bytes = Json::array();
  for (const char byte : piece) bytes.push_back(static_cast<unsigned char>(byte));
  return bytes;
}

Json speculation_settings(const MethodRule& method, const MethodOptions& settings) {
  Json json = {{"method", method.name}};
  if (!method.plan.empty()) json["plan"] = settings.plan.value_or(std::string(method.plan));
  for (const MethodSetting& setting : method_settings()) {
    if (!setting.asked || !method.reads(setting.setting)) continue;
    Json value = json_of(setting, settings);
    const bool is_off = value == Json(false) || value.empty() || (value.is_number_integer() && value == 0);
    if (!is_off) json[std::string(setting.name)] = std::move(value);
  }
  if (method.reads(Setting::costs)) return json;
  if (const auto decoder = make_decoder(method, settings); decoder && decoder->shape().length > 0) {
    json["drafts"] = decoder->shape().drafts;
    json["length"] = decoder->shape().length;
  }
  return json;
}

Json tokens_of(const TextDelta& delta) {
  Json ids = Json::array();
  for (const TokenReport& report : delta.tokens) ids.push_back(report.token);
  return ids;
}

Json details_of(const TextDelta& delta) {
  Json tokens = Json::array();
  for (const TokenReport& report : delta.tokens) {
    Json token = {{"id", report.token}, {"text", report.piece}, {"source", name(report.source)}};
    if (!is_text(report.piece)) token["bytes"] = bytes_of(report.piece);
    token["target_probability"] = report.target ? Json(*report.target) : Json(nullptr);
    token["draft_probability"] = report.draft ? Json(*report.draft) : Json(nullptr);
    token["block"] = report.block;
    token["elapsed_ms"] = 1e3 * report.seconds;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::optional<ApiError> failure_of(const CompletionResult& result) {
  if (result.reason == FinishReason::failed) return ApiError::of(result.failure);
  if (result.reason == FinishReason::not_started)
    return ApiError::unavailable("no slot became free in time", 1);
  if (result.statistics.generated() > 0) return std::nullopt;
  if (result.reason == FinishReason::timeout)
    return ApiError::timeout("the time was over before the text began");
  if (result.reason == FinishReason::cancelled) return ApiError::unavailable("the text was cancelled", 1);
  return std::nullopt;
}

std::string_view finish_reason(const CompletionResult& result, bool called) {
  switch (result.reason) {
    case FinishReason::eos:
    case FinishReason::word:
      return called ? "tool_calls" : "stop";
    case FinishReason::timeout:
      return "timeout";
    case FinishReason::cancelled:
      return "cancelled";
    default:
      return "length";
  }
}

}  // namespace spectr::server

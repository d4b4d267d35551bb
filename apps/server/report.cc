#include "apps/server/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "spectr/base/utf8.h"

namespace spectr::server {
namespace {

double ratio(double a, double b) {
  return b > 0.0 ? a / b : 0.0;
}

/// Whether the bytes are whole characters.
bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace

Json usage_of(std::span<const Task> tasks, std::size_t n, std::span<const Outcome> outcomes) {
  std::size_t prompt = 0, generated = 0, cached = 0;
  for (std::size_t i = 0; i < tasks.size(); i += n) prompt += tasks[i].prompt.size();
  for (const Outcome& outcome : outcomes) {
    generated += outcome.statistics.generated();
    cached += outcome.cached;
  }
  return {{"prompt_tokens", prompt},
          {"completion_tokens", generated},
          {"total_tokens", prompt + generated},
          {"prompt_tokens_details", {{"cached_tokens", std::min(cached, prompt)}}}};
}

Json timings_of(const Task& task, const Outcome& outcome) {
  const Statistics& s = outcome.statistics;
  const std::size_t computed = task.prompt.size() - outcome.cached;
  const double prompt = static_cast<double>(computed), generated = static_cast<double>(s.generated());
  const double seconds = s.total_seconds - s.prompt_seconds;
  Json timings = {{"cache_n", outcome.cached},
                  {"prompt_n", computed},
                  {"prompt_ms", 1e3 * s.prompt_seconds},
                  {"prompt_per_token_ms", ratio(1e3 * s.prompt_seconds, prompt)},
                  {"prompt_per_second", ratio(prompt, s.prompt_seconds)},
                  {"predicted_n", s.generated()},
                  {"predicted_ms", 1e3 * seconds},
                  {"predicted_per_token_ms", ratio(1e3 * seconds, generated)},
                  {"predicted_per_second", ratio(generated, seconds)}};
  if (s.drafted() > 0) {
    timings["draft_n"] = s.drafted();
    timings["draft_n_accepted"] = s.accepted();
  }
  return timings;
}

Json speculation_of(const Task& task, const Outcome& outcome) {
  const Statistics& s = outcome.statistics;
  const std::string plan = task.settings.plan.value_or(std::string(task.method->plan));
  Json metrics = {{"method", task.method->name},
                  {"plan", plan.empty() ? Json(nullptr) : Json(plan)},
                  {"lossless", task.method->lossless},
                  {"mean_acceptance_length", s.block_efficiency()},
                  {"draft_acceptance_rate", s.drafted() > 0 ? Json(s.acceptance_rate()) : Json(nullptr)},
                  {"acceptance_histogram", outcome.histogram},
                  {"acceptance_per_position", s.acceptance_per_position()},
                  {"num_spec_steps", s.target_calls()},
                  {"num_accepted_draft_tokens", s.accepted()},
                  {"num_draft_tokens", s.drafted()},
                  {"num_spec_tokens", outcome.length}};
  if (task.method->measured) metrics["costs_hash"] = fmt::format("{:016x}", task.settings.costs->hash());
  return metrics;
}

Json bytes_of(const std::string& piece) {
  Json bytes = Json::array();
  for (const char byte : piece) bytes.push_back(static_cast<unsigned char>(byte));
  return bytes;
}

Json details_of(const Piece& piece) {
  Json tokens = Json::array();
  for (const TokenReport& report : piece.tokens) {
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

std::optional<ApiError> failure_of(const Outcome& outcome) {
  if (outcome.ending == Ending::failed) return ApiError::internal(outcome.failure);
  if (outcome.ending == Ending::not_begun) return ApiError::unavailable("no slot became free in time", 1);
  return std::nullopt;
}

std::string_view finish_reason(const Outcome& outcome) {
  return outcome.ending == Ending::eos || outcome.ending == Ending::word ? "stop" : "length";
}

}  // namespace spectr::server

#include "apps/server/requests/prompt_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"

namespace spectr::server {
namespace {

/// Reads limits on the lines of a completion, which editors use.
void read_line_limits(Fields& fields, GenerationRequest& request) {
  if (const auto indent = fields.count("n_indent", std::numeric_limits<std::int64_t>::min()))
    request.min_indent = static_cast<std::size_t>(std::max<std::int64_t>(*indent, 0));
  constexpr double max_milliseconds = 1e9;
  const auto time = fields.number("t_max_predict_ms", -max_milliseconds, max_milliseconds);
  if (time.value_or(0) > 0) request.line_time = std::chrono::milliseconds(std::llround(*time));
}

/// Reads `suffix` and `echo` of /v1/completions.
void read_surroundings(Fields& fields, GenerationRequest& request) {
  request.echo = fields.boolean("echo").value_or(false);
  auto suffix = fields.string("suffix");
  if (suffix && !suffix->empty()) request.infill = InfillRequest{.suffix = *std::move(suffix)};
  if (request.echo && request.infill) throw ApiError::invalid("'echo' and 'suffix' exclude each other");
}

/// Reads which parts of an answer /completion and /infill return.
void read_response_fields(Fields& fields, GenerationRequest& request) {
  constexpr std::size_t max_fields = 64;
  const JsonInput* list = fields.any("response_fields");
  if (list == nullptr) return;
  const auto is_path = [](const JsonInput& path) { return path.is_string(); };
  if (!list->is_array() || list->size() > max_fields || !std::ranges::all_of(*list, is_path)) {
    throw ApiError::invalid(fmt::format("'response_fields' must be a list of at most {} names, got {}",
                                        max_fields, shown(*list)));
  }
  request.response_fields = list->get<std::vector<std::string>>();
}

}  // namespace

void read_prompt_fields(Fields& fields, GenerationRequest& request) {
  read_line_limits(fields, request);
  const JsonInput none = JsonInput::array();
  const Neutral no_surroundings[] = {{"suffix", {""}}, {"echo", {false}}},
                no_inputs[] = {{"input_prefix", {""}}, {"input_suffix", {""}}, {"input_extra", {none}}},
                no_choice[] = {{"response_fields", {none}}};
  const bool completes = request.api == Api::completion || request.api == Api::both;
  if (completes) {
    read_surroundings(fields, request);
  } else {
    fields.neutral(no_surroundings);
  }
  if (request.api == Api::infill) {
    request.infill = InfillRequest::read(fields);
  } else {
    fields.neutral(no_inputs);
  }
  if (is_native(request.api)) {
    read_response_fields(fields, request);
  } else {
    fields.neutral(no_choice);
  }
}

}  // namespace spectr::server

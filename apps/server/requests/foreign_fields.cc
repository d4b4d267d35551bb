#include "apps/server/requests/foreign_fields.h"

#include <algorithm>
#include <optional>

namespace spectr::server {
namespace {

// Ranges of numbers that ask for nothing.
bool below_zero(const JsonInput& value) {
  return value.is_number() && value.get<double>() < 0;
}
bool at_most_zero(const JsonInput& value) {
  return value.is_number() && value.get<double>() <= 0;
}
bool at_most_one(const JsonInput& value) {
  return value.is_number() && value.get<double>() <= 1;
}
bool at_least_one(const JsonInput& value) {
  return value.is_number() && value.get<double>() >= 1;
}

/// Adapters of which none has a weight.
bool without_weight(const JsonInput& adapters) {
  return adapters.is_array() && std::ranges::all_of(adapters, [](const JsonInput& one) {
           return one.is_object() && one.contains("scale") && one["scale"] == 0;
         });
}

/// Every field with the values that ask for nothing, besides null.
std::span<const Neutral> switches() {
  static const JsonInput none = JsonInput::array();
  static const JsonInput text = {{"type", "text"}};
  static const Neutral table[] = {
      // OpenAI's
      {"functions", {none}},
      {"function_call", {"none", "auto"}},
      {"response_format", {text}},
      {"suffix", {""}},
      {"echo", {false}},
      {"modalities", {JsonInput::array({"text"})}},
      {"audio", {}},
      {"prediction", {}},
      {"web_search_options", {}},
      {"store", {false}},
      {"service_tier", {"auto", "default"}},
      {"verbosity", {"medium"}},
      {"prompt_cache_retention", {"in_memory", "in-memory"}},
      // llama.cpp's
      {"grammar", {""}},
      {"grammar_triggers", {none}},
      {"preserved_tokens", {none}},
      {"json_schema", {JsonInput::object()}},
      {"lora", {}, without_weight},
      {"image_data", {none}},
      {"multimodal_data", {none}},
      {"input_prefix", {""}},
      {"input_suffix", {""}},
      {"input_extra", {none}},
      {"verbose", {false}},
      {"api_key", {""}},
      {"reasoning_in_content", {false}},
      {"thinking_budget_tokens", {}, below_zero},
      {"reasoning_budget_tokens", {}, below_zero},
      {"mirostat", {0}},
      {"dry_multiplier", {}, at_most_zero},
      {"xtc_probability", {}, at_most_zero},
      {"dynatemp_range", {}, at_most_zero},
      {"typical_p", {}, at_least_one},
      {"typ_p", {}, at_least_one},
      {"tfs_z", {}, at_least_one},
      {"top_n_sigma", {}, at_most_zero},
      {"min_keep", {}, at_most_one},
      {"n_keep", {}, at_most_zero},
      {"n_discard", {}, at_most_zero},
      {"n_indent", {}, at_most_zero},
      {"t_max_predict_ms", {}, at_most_zero},
      {"t_max_prompt_ms", {}, at_most_zero},
      {"n_cache_reuse", {}, at_most_zero},
      {"adaptive_target", {}, below_zero},
      {"id_slot", {}, below_zero},
      {"logprob_start_len", {}, below_zero},
      {"slot_id", {}, below_zero},
      {"penalize_nl", {false}},
      {"response_fields", {none}},
      {"grammar_lazy", {false}},
      {"backend_sampling", {false}},
      {"parse_tool_calls", {false}},
      {"thinking_forced_open", {false}},
      // vLLM's
      {"use_beam_search", {false}},
      {"min_tokens", {}, at_most_zero},
      {"bad_words", {none}},
      {"stop_token_ids", {none}},
      {"include_stop_str_in_output", {false}},
      {"skip_special_tokens", {true}},
      {"spaces_between_special_tokens", {true}},
      {"add_special_tokens", {true}},
      {"truncate_prompt_tokens", {}},
      {"prompt_logprobs", {}},
      {"return_token_ids", {false}},
      {"guided_json", {}},
      {"structured_outputs", {}},
      {"priority", {0}},
  };
  return table;
}

/// What changes nothing: notes, and settings of what the table above keeps switched off.
constexpr std::string_view ignored[] = {
    "user",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
    "timings_per_token",
    "mirostat_tau",
    "mirostat_eta",
    "dry_base",
    "dry_allowed_length",
    "dry_penalty_last_n",
    "dry_sequence_breakers",
    "xtc_threshold",
    "dynatemp_exponent",
    "adaptive_decay",
    "length_penalty",
    "early_stopping",
};

/// Whether another field keeps a sampler off, whatever its own field says.
bool is_off_by_another(std::string_view name, Fields& fields) {
  const auto number = [&fields](std::string_view other) {
    const JsonInput* value = fields.any(other);
    return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
  };
  if (name == "xtc_probability") return number("xtc_threshold") > 0.5;
  if (name == "dry_multiplier")
    return number("dry_penalty_last_n") == 0.0 || number("dry_base").value_or(1.75) < 1;
  return false;
}

}  // namespace

void read_foreign_fields(Fields& fields) {
  for (const Neutral& one : switches()) {
    if (is_off_by_another(one.name, fields)) {
      fields.any(one.name);
    } else {
      fields.neutral({&one, 1});
    }
  }
  for (const std::string_view name : ignored) fields.any(name);
}

}  // namespace spectr::server

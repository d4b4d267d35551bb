#include "apps/server/foreign_fields.h"

namespace spectr::server {
namespace {

/// Every field with the values that ask for nothing, besides null.
std::span<const Neutral> switches() {
  static const JsonInput none = JsonInput::array();
  static const JsonInput text = {{"type", "text"}};
  static const Neutral table[] = {
      // OpenAI's
      {"tools", {none}},
      {"tool_choice", {"none", "auto"}},
      {"functions", {none}},
      {"function_call", {"none", "auto"}},
      {"response_format", {text}},
      {"suffix", {""}},
      {"echo", {false}},
      {"modalities", {JsonInput::array({"text"})}},
      {"audio", {}},
      {"prediction", {}},
      {"web_search_options", {}},
      {"reasoning_effort", {"none"}},
      {"store", {false}},
      {"service_tier", {"auto", "default"}},
      {"verbosity", {}},
      {"prompt_cache_retention", {}},
      // llama.cpp's
      {"grammar", {""}},
      {"json_schema", {}},
      {"lora", {none}},
      {"image_data", {none}},
      {"samplers", {none, ""}},
      {"reasoning_format", {"none"}},
      {"mirostat", {0}},
      {"dry_multiplier", {0}},
      {"xtc_probability", {0}},
      {"dynatemp_range", {0}},
      {"typical_p", {1}},
      {"typ_p", {1}},
      {"tfs_z", {1}},
      {"top_n_sigma", {-1, 0}},
      {"min_keep", {0, 1}},
      {"n_keep", {0, -1}},
      {"n_discard", {0}},
      {"n_indent", {0}},
      {"t_max_predict_ms", {0, -1}},
      {"id_slot", {-1}},
      {"return_progress", {false}},
      {"post_sampling_probs", {false}},
      {"logprob_start_len", {-1}},
      {"n_cmpl", {1}},
      {"slot_id", {-1}},
      {"penalize_nl", {false}},
      {"response_fields", {none}},
      {"grammar_lazy", {false}},
      {"backend_sampling", {false}},
      {"parse_tool_calls", {false}},
      {"thinking_forced_open", {false}},
      // vLLM's
      {"use_beam_search", {false}},
      {"length_penalty", {1}},
      {"min_tokens", {0}},
      {"bad_words", {none}},
      {"stop_token_ids", {none}},
      {"include_stop_str_in_output", {false}},
      {"skip_special_tokens", {true}},
      {"spaces_between_special_tokens", {true}},
      {"add_special_tokens", {true}},
      {"add_generation_prompt", {true}},
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
    "parallel_tool_calls",
    "timings_per_token",
    "mirostat_tau",
    "mirostat_eta",
    "dry_base",
    "dry_allowed_length",
    "dry_penalty_last_n",
    "dry_sequence_breakers",
    "xtc_threshold",
    "dynatemp_exponent",
};

}  // namespace

void read_foreign_fields(Fields& fields) {
  fields.neutral(switches());
  for (const std::string_view name : ignored) fields.any(name);
}

}  // namespace spectr::server

#include "apps/server/foreign_fields.h"

#include <algorithm>

#include "apps/json_input.h"
#include "apps/server/api_error.h"

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
      {"store", {false}},
      {"service_tier", {"auto", "default"}},
      {"verbosity", {}},
      {"prompt_cache_retention", {}},
      // llama.cpp's
      {"grammar", {""}},
      {"grammar_triggers", {none}},
      {"preserved_tokens", {none}},
      {"json_schema", {JsonInput::object()}},
      {"lora", {none}},
      {"image_data", {none}},
      {"multimodal_data", {none}},
      {"input_prefix", {""}},
      {"input_suffix", {""}},
      {"input_extra", {none}},
      {"verbose", {false}},
      {"api_key", {""}},
      {"reasoning_in_content", {false}},
      {"thinking_budget_tokens", {-1}},
      {"reasoning_budget_tokens", {-1}},
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
      {"t_max_prompt_ms", {0, -1}},
      {"n_cache_reuse", {0}},
      {"adaptive_target", {-1}},
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
    "adaptive_decay",
};

/// The order of llama.cpp's samplers that are on here, too: it is that of this engine.
constexpr std::string_view order[] = {"penalties", "top_k", "top_p", "min_p", "temperature"};
/// Samplers that are off here and there, in any place.
constexpr std::string_view off[] = {"dry", "top_n_sigma", "typ_p",     "typical_p",
                                    "xtc", "infill",      "adaptive_p"};

bool is_usual_order(const JsonInput& samplers) {
  // The letters of llama.cpp's default, or nothing.
  if (samplers.is_string()) return samplers == "" || samplers == "edskypmxt";
  if (!samplers.is_array()) return false;
  std::vector<std::string_view> on;
  for (const JsonInput& one : samplers) {
    if (!one.is_string()) return false;
    const std::string_view name = one.get_ref<const std::string&>();
    if (std::ranges::find(off, name) == std::end(off)) on.push_back(name);
  }
  return samplers.empty() || std::ranges::equal(on, order);
}

}  // namespace

void read_foreign_fields(Fields& fields) {
  fields.neutral(switches());
  if (const JsonInput* samplers = fields.any("samplers"); samplers != nullptr && !is_usual_order(*samplers)) {
    throw ApiError::invalid(
        fmt::format("'samplers' is not supported in this order, got {}", shown(*samplers)));
  }
  for (const std::string_view name : ignored) fields.any(name);
}

}  // namespace spectr::server

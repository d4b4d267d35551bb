#include "apps/server/requests/foreign_fields.h"

#include <algorithm>

namespace spectr::server {
namespace {

// Ranges of neutral numbers.
bool at_most_zero(const JsonInput& value) {
  return value.is_number() && value.get<double>() <= 0;
}
bool at_most_one(const JsonInput& value) {
  return value.is_number() && value.get<double>() <= 1;
}
bool at_least_one(const JsonInput& value) {
  return value.is_number() && value.get<double>() >= 1;
}

/// Returns true if all adapters have the weight 0.
bool without_weight(const JsonInput& adapters) {
  return adapters.is_array() && std::ranges::all_of(adapters, [](const JsonInput& one) {
           return one.is_object() && one.contains("scale") && one["scale"] == 0;
         });
}

/// Returns unsupported fields with the values that request nothing, besides null.
std::span<const Neutral> switches() {
  static const JsonInput none = JsonInput::array();
  static const Neutral table[] = {
      // OpenAI
      {"functions", {none}},
      {"function_call", {"none", "auto"}},
      {"modalities", {JsonInput::array({"text"})}},
      {"audio", {}},
      {"prediction", {}},
      {"web_search_options", {}},
      {"store", {false}},
      {"service_tier", {"auto", "default"}},
      {"verbosity", {"medium"}},
      {"prompt_cache_retention", {"in_memory", "in-memory"}},
      // llama.cpp
      {"preserved_tokens", {none}},
      {"lora", {}, without_weight},
      {"image_data", {none}},
      {"multimodal_data", {none}},
      {"verbose", {false}},
      {"api_key", {""}},
      {"reasoning_in_content", {false}},
      {"tfs_z", {}, at_least_one},
      {"min_keep", {}, at_most_one},
      {"n_keep", {}, at_most_zero},
      {"n_discard", {}, at_most_zero},
      {"n_cache_reuse", {}, at_most_zero},
      {"logprob_start_len", {}, is_below_zero},
      {"penalize_nl", {false}},
      {"backend_sampling", {false}},
      {"parse_tool_calls", {false}},
      {"thinking_forced_open", {false}},
      // vLLM
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

/// Fields without effect: annotations, and settings of features that the table above excludes.
constexpr std::string_view ignored[] = {
    "user",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
    "timings_per_token",
    "id_slot",  // the slot with the longest common prefix is used
    "slot_id",
    "t_max_prompt_ms",  // no effect in llama.cpp either
    "length_penalty",
    "early_stopping",
};

}  // namespace

void read_foreign_fields(Fields& fields) {
  fields.neutral(switches());
  for (const std::string_view name : ignored) fields.any(name);
}

}  // namespace spectr::server

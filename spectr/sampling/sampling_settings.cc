#include "spectr/sampling/sampling_settings.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace spectr {
namespace {

using W = WarpOptions;
using D = DryOptions;
using SamplingRange = SamplingSetting::Range;

constexpr SamplingRange at_least_0 = {.min = 0}, at_most_1 = {.max = 1}, unit = {0, 1};
constexpr double max_asked = 1e6;

constexpr auto sampling_table = std::to_array<SamplingSetting>({
    {.name = "temperature",
     .flags = "--temp,--temperature",
     .variable = "LLAMA_ARG_TEMPERATURE",
     .summary = "temperature; 0 takes the likeliest token",
     .label = "temperature",
     .place = &W::temperature,
     .range = at_least_0,
     .basic = true},
    {.name = "top_k",
     .flags = "--top-k",
     .variable = "LLAMA_ARG_TOP_K",
     .summary = "keep the N likeliest tokens; 0 or -1: all",
     .place = &W::top_k,
     .range = at_least_0,
     .asked = SamplingRange{},
     .all = 0,
     .basic = true},
    {.name = "top_p",
     .flags = "--top-p",
     .variable = "LLAMA_ARG_TOP_P",
     .summary = "keep the likeliest tokens of mass P; 1: all",
     .place = &W::top_p,
     .range = unit,
     .asked = SamplingRange{0, max_asked},
     .basic = true},
    {.name = "min_p",
     .flags = "--min-p",
     .variable = "LLAMA_ARG_MIN_P",
     .summary = "keep tokens at least P times as likely as the likeliest; 0: all",
     .place = &W::min_p,
     .range = unit,
     .asked = SamplingRange{-max_asked, 1},
     .basic = true},
    {.name = "repeat_penalty",
     .synonym = "repetition_penalty",
     .flags = "--repeat-penalty",
     .variable = "LLAMA_ARG_REPEAT_PENALTY",
     .summary = "divide logits of recent tokens; 1: off",
     .place = &W::repeat_penalty,
     .asked = SamplingRange{0.01, max_asked},
     .basic = true},
    {.name = "repeat_last_n",
     .flags = "--repeat-last-n",
     .summary = "how many tokens are recent; -1: all",
     .place = &W::repeat_last_n,
     .range = at_least_0,
     .asked = SamplingRange{.min = -1},
     .all = all_tokens,
     .basic = true},
    {.name = "presence_penalty",
     .flags = "--presence-penalty",
     .variable = "LLAMA_ARG_PRESENCE_PENALTY",
     .summary = "subtracted from logits of recent tokens",
     .label = "presence penalty",
     .place = &W::presence_penalty,
     .basic = true},
    {.name = "frequency_penalty",
     .flags = "--frequency-penalty",
     .variable = "LLAMA_ARG_FREQUENCY_PENALTY",
     .summary = "the same, times the number of occurrences",
     .label = "frequency penalty",
     .place = &W::frequency_penalty,
     .basic = true},
    {.name = "top_n_sigma",
     .flags = "--top-n-sigma,--top-nsigma",
     .summary = "keep logits within N standard deviations of the largest; 0 or less: all",
     .place = &W::top_n_sigma},
    {.name = "typical_p",
     .synonym = "typ_p",
     .flags = "--typical,--typical-p",
     .summary = "keep the tokens of mass P whose surprise is nearest to the entropy; 1: all",
     .label = "typical-p",
     .place = &W::typical_p,
     .range = at_least_0},
    {.name = "xtc_probability",
     .flags = "--xtc-probability",
     .summary = "probability of excluding all top choices but the least likely; 0: off",
     .place = &W::xtc_probability,
     .range = at_most_1},
    {.name = "xtc_threshold",
     .flags = "--xtc-threshold",
     .summary = "probability of a top choice; above 0.5: off",
     .place = &W::xtc_threshold,
     .range = unit},
    {.name = "dynatemp_range",
     .flags = "--dynatemp-range",
     .summary = "vary the temperature by ± N with the entropy; 0: off",
     .place = &W::dynatemp_range},
    {.name = "dynatemp_exponent",
     .flags = "--dynatemp-exp",
     .summary = "exponent of the entropy in that",
     .place = &W::dynatemp_exponent,
     .range = at_least_0},
    {.name = "dry_multiplier",
     .flags = "--dry-multiplier",
     .summary =
         "penalty of tokens that lengthen a repetition by one: N · base^(length - allowed length); 0: off",
     .place = &D::multiplier},
    {.name = "dry_base", .flags = "--dry-base", .summary = "base of that", .place = &D::base},
    {.name = "dry_allowed_length",
     .flags = "--dry-allowed-length",
     .summary = "length of repetitions without penalty",
     .place = &D::allowed_length,
     .range = {0, all_tokens}},
    {.name = "dry_penalty_last_n",
     .flags = "--dry-penalty-last-n",
     .summary = "how many tokens are searched for repetitions; -1: all",
     .place = &D::penalty_last_n,
     .range = {0, all_tokens},
     .asked = SamplingRange{.min = -1},
     .all = all_tokens},
    {.name = "dry_sequence_breakers",
     .flags = "--dry-sequence-breaker",
     .summary = "text that ends repetitions, instead of the default ones (\\n : \" *); none: there is none; "
                "repeatable",
     .place = &D::sequence_breakers},
    {.name = "mirostat",
     .flags = "--mirostat",
     .summary = "1 or 2: Mirostat, instead of the other samplers but temperature; 0: off",
     .place = &W::mirostat,
     .range = {0, 2}},
    {.name = "mirostat_tau",
     .flags = "--mirostat-ent",
     .summary = "wanted surprise of a token in bits",
     .place = &W::mirostat_tau,
     .range = at_least_0},
    {.name = "mirostat_eta",
     .flags = "--mirostat-lr",
     .summary = "learning rate of Mirostat",
     .place = &W::mirostat_eta,
     .range = at_least_0},
    {.name = "adaptive_target",
     .flags = "--adaptive-target",
     .summary = "prefer tokens of about this probability, with adaptive_p in --samplers; below 0: off",
     .place = &W::adaptive_target,
     .range = at_most_1},
    {.name = "adaptive_decay",
     .flags = "--adaptive-decay",
     .summary = "how long earlier tokens count for that, from 0 to 0.99",
     .place = &W::adaptive_decay,
     .range = {0, 0.99}},
});

}  // namespace

SamplingSetting::Range SamplingSetting::asked_range() const {
  return asked.value_or(Range{std::max(range.min, -max_asked), std::min(range.max, max_asked)});
}

Result<void> SamplingSetting::check(const WarpOptions& options) const {
  return visit(options, [this]<class T>(const T& value) -> Result<void> {
    if constexpr (std::is_arithmetic_v<T>) {
      const auto [min, max] = range;
      const auto number = static_cast<double>(value);
      if (number >= min && number <= max && std::isfinite(number)) return {};
      const std::string_view subject = label.empty() ? flags.substr(0, flags.find(',')).substr(2) : label;
      const bool has_min = std::isfinite(min), has_max = std::isfinite(max);
      if (has_min && has_max) return error("{} must lie in [{}, {}], got {}", subject, min, max, number);
      if (has_max) return error("{} must be finite and at most {}, got {}", subject, max, number);
      if (has_min) return error("{} must be finite and at least {}, got {}", subject, min, number);
      return error("{} must be finite, got {}", subject, number);
    }
    return {};
  });
}

std::span<const SamplingSetting> sampling_settings() {
  return sampling_table;
}

}  // namespace spectr

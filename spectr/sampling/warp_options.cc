#include "spectr/sampling/warp_options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spectr/sampling/sampling_settings.h"

namespace spectr {
namespace {

Result<void> check_options(const WarpOptions& o) {
  if (!(o.repeat_penalty > 0.0) || !std::isfinite(o.repeat_penalty))
    return error("repeat penalty must be finite and positive, got {}", o.repeat_penalty);
  for (const SamplingSetting& setting : sampling_settings()) SPECTR_TRY_VOID(setting.check(o));
  if (o.dry.multiplier > 0.0 && o.dry.base < 1.0)
    return error("dry-base must be finite and at least 1, got {}", o.dry.base);
  for (const auto& [token, bias] : o.logit_bias) {
    if (token < 0) return error("logit bias: {} is not a token", token);
    if (std::isnan(bias) || bias == std::numeric_limits<double>::infinity())
      return error("logit bias of token {} is {}", token, bias);
  }
  const bool is_listed = std::ranges::find(o.samplers, Sampler::adaptive_p) != o.samplers.end();
  if (o.adaptive_target >= 0.0 && o.mirostat == 0 && !is_listed)
    return error("adaptive-target {} needs adaptive_p among the samplers", o.adaptive_target);
  return {};
}

bool is_on(Sampler sampler, const WarpOptions& o) {
  switch (sampler) {
    case Sampler::penalties:
      return o.has_penalties();
    case Sampler::dry:
      return o.dry.is_on();
    case Sampler::top_n_sigma:
      return o.top_n_sigma > 0.0;
    case Sampler::top_k:
      return o.top_k > 0;
    case Sampler::typ_p:
      return o.typical_p < 1.0;
    case Sampler::top_p:
      return o.top_p < 1.0;
    case Sampler::min_p:
      return o.min_p > 0.0;
    case Sampler::xtc:
      return o.has_xtc();
    case Sampler::temperature:
      return o.temperature != 1.0 || o.dynatemp_range > 0.0;
    case Sampler::adaptive_p:
      return o.adaptive_target >= 0.0;
  }
  return false;
}

void switch_off(Sampler sampler, WarpOptions& o) {
  switch (sampler) {
    case Sampler::penalties:
      o.repeat_penalty = 1.0;
      o.presence_penalty = o.frequency_penalty = 0.0;
      break;
    case Sampler::dry:
      o.dry.multiplier = 0.0;
      break;
    case Sampler::top_n_sigma:
      o.top_n_sigma = -1.0;
      break;
    case Sampler::top_k:
      o.top_k = 0;
      break;
    case Sampler::typ_p:
      o.typical_p = 1.0;
      break;
    case Sampler::top_p:
      o.top_p = 1.0;
      break;
    case Sampler::min_p:
      o.min_p = 0.0;
      break;
    case Sampler::xtc:
      o.xtc_probability = 0.0;
      break;
    case Sampler::temperature:
      o.temperature = 1.0;
      o.dynatemp_range = 0.0;
      break;
    case Sampler::adaptive_p:
      o.adaptive_target = -1.0;
      break;
  }
}

}  // namespace

WarpOptions WarpOptions::none() {
  return {.temperature = 1.0, .top_k = 0, .top_p = 1.0, .min_p = 0.0, .logit_bias = {}};
}

Result<WarpOptions> checked_options(WarpOptions options) {
  SPECTR_TRY_VOID(check_options(options));
  const bool is_mirostat = options.mirostat != 0;
  if (is_mirostat) options.dynatemp_range = 0.0;
  if (!is_mirostat && options.samplers.empty()) return options;
  for (const Sampler sampler : all_samplers) {
    const bool is_applied = is_mirostat
                                ? sampler == Sampler::temperature
                                : std::ranges::find(options.samplers, sampler) != options.samplers.end();
    if (!is_applied) switch_off(sampler, options);
  }
  return options;
}

RecycledVector<Sampler> active_samplers(const WarpOptions& options) {
  RecycledVector<Sampler> active;
  const bool is_default = options.samplers.empty() || options.mirostat != 0;
  for (const Sampler sampler : is_default ? std::span<const Sampler>(default_samplers) : options.samplers)
    if (sampler != Sampler::adaptive_p && is_on(sampler, options)) active.push_back(sampler);
  return active;
}

}  // namespace spectr

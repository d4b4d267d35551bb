#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr {

/// A step from logits to the distribution that is sampled. The names are llama.cpp's.
enum class Sampler {
  penalties,
  dry,
  top_n_sigma,
  top_k,
  typ_p,
  top_p,
  min_p,
  xtc,
  temperature,
  adaptive_p,  ///< always the last step, regardless of its position in a list
};

/// All samplers. Without adaptive_p, this is the default order of application.
inline constexpr std::array all_samplers = {
    Sampler::penalties, Sampler::dry,   Sampler::top_n_sigma, Sampler::top_k,       Sampler::typ_p,
    Sampler::top_p,     Sampler::min_p, Sampler::xtc,         Sampler::temperature, Sampler::adaptive_p};
inline constexpr std::span default_samplers = std::span(all_samplers).first<all_samplers.size() - 1>();

/// Returns the sampler's name, such as "top_k".
std::string_view name(Sampler sampler);

/// Parses a list of sampler names, in any case and with '-' or nothing in place of '_'. Fails if a name is
/// unknown or if a sampler is named twice.
Result<std::vector<Sampler>> read_samplers(std::span<const std::string> names);

/// Parses llama.cpp's sampler letters: "edskypmxt" is the default order. Fails like read_samplers().
Result<std::vector<Sampler>> read_sampler_letters(std::string_view letters);

}  // namespace spectr

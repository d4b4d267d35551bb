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
  adaptive_p,  ///< the last step, whatever its place in a list
};

/// Every sampler. Without adaptive_p this is the order in which samplers are applied by default.
inline constexpr std::array all_samplers = {
    Sampler::penalties, Sampler::dry,   Sampler::top_n_sigma, Sampler::top_k,       Sampler::typ_p,
    Sampler::top_p,     Sampler::min_p, Sampler::xtc,         Sampler::temperature, Sampler::adaptive_p};
inline constexpr std::span default_samplers = std::span(all_samplers).first<all_samplers.size() - 1>();

/// The sampler's name: "top_k".
std::string_view name(Sampler sampler);

/// Reads a list of samplers by name, in any case and with '-' or nothing for '_'. Fails for an unknown name,
/// and for a sampler that is named twice.
Result<std::vector<Sampler>> read_samplers(std::span<const std::string> names);

/// Reads a list of samplers by llama.cpp's letters: "edskypmxt" is the default order. Fails as above.
Result<std::vector<Sampler>> read_sampler_letters(std::string_view letters);

}  // namespace spectr

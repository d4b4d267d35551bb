#include "apps/server/answers/sampler_chain.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"

namespace spectr::server {
namespace {

/// In Warp's order; then those that other fields keep off.
enum class Sampler { penalties, top_k, top_p, min_p, temperature, absent };

struct Name {
  std::string_view name;
  char letter;
  Sampler sampler;
};

constexpr Name names[] = {
    {"penalties", 'e', Sampler::penalties},
    {"top_k", 'k', Sampler::top_k},
    {"top_p", 'p', Sampler::top_p},
    {"min_p", 'm', Sampler::min_p},
    {"temperature", 't', Sampler::temperature},
    {"dry", 'd', Sampler::absent},
    {"top_n_sigma", 's', Sampler::absent},
    {"typ_p", 'y', Sampler::absent},
    {"typical_p", 'y', Sampler::absent},
    {"xtc", 'x', Sampler::absent},
    {"infill", 'i', Sampler::absent},
    {"adaptive_p", 'a', Sampler::absent},
    // Other spellings that llama.cpp reads.
    {"top-k", 'k', Sampler::top_k},
    {"top-p", 'p', Sampler::top_p},
    {"nucleus", 'p', Sampler::top_p},
    {"min-p", 'm', Sampler::min_p},
    {"temp", 't', Sampler::temperature},
    {"typical-p", 'y', Sampler::absent},
    {"typical", 'y', Sampler::absent},
    {"typ-p", 'y', Sampler::absent},
    {"typ", 'y', Sampler::absent},
    {"top-n-sigma", 's', Sampler::absent},
};

[[noreturn]] void refuse(const JsonInput& samplers, std::string_view why) {
  throw ApiError::invalid(fmt::format("'samplers' is not supported: {}, got {}", why, shown(samplers)));
}

std::vector<Sampler> read(const JsonInput& samplers) {
  std::vector<Sampler> chain;
  const auto add = [&](const auto* found) {
    if (found == std::end(names)) refuse(samplers, "it names an unknown sampler");
    if (found->sampler != Sampler::absent) chain.push_back(found->sampler);
  };
  if (samplers.is_string()) {
    for (const char letter : samplers.get_ref<const std::string&>())
      add(std::ranges::find(names, letter, &Name::letter));
    return chain;
  }
  if (!samplers.is_array()) refuse(samplers, "it must be a list of names or a text of letters");
  for (const JsonInput& one : samplers) {
    if (!one.is_string()) refuse(samplers, "it must be a list of names or a text of letters");
    add(std::ranges::find(names, std::string_view(one.get_ref<const std::string&>()), &Name::name));
  }
  return chain;
}

void switch_off(Sampler sampler, WarpOptions& options) {
  switch (sampler) {
    case Sampler::penalties:
      options.repeat_penalty = 1.0;
      options.presence_penalty = options.frequency_penalty = 0.0;
      break;
    case Sampler::top_k:
      options.top_k = 0;
      break;
    case Sampler::top_p:
      options.top_p = 1.0;
      break;
    case Sampler::min_p:
      options.min_p = 0.0;
      break;
    case Sampler::temperature:
      options.temperature = 1.0;
      break;
    case Sampler::absent:
      break;
  }
}

bool is_on(Sampler sampler, const WarpOptions& options) {
  switch (sampler) {
    case Sampler::penalties:
      return options.repeat_penalty != 1.0 || options.presence_penalty != 0.0 ||
             options.frequency_penalty != 0.0;
    case Sampler::top_k:
      return options.top_k > 0;
    case Sampler::top_p:
      return options.top_p < 1.0;
    case Sampler::min_p:
      return options.min_p > 0.0;
    case Sampler::temperature:
      return options.temperature != 1.0;
    case Sampler::absent:
      break;
  }
  return false;
}

/// Whether two samplers give the same distribution in either order. Top-k keeps the same tokens whatever the
/// temperature, and min-p goes by the likeliest token, which top-k keeps.
bool commute(Sampler a, Sampler b) {
  if (a > b) std::swap(a, b);
  return a == Sampler::top_k && (b == Sampler::min_p || b == Sampler::temperature);
}

}  // namespace

void apply_samplers(const JsonInput& samplers, WarpOptions& options) {
  if (samplers.is_null() || samplers == "" || samplers == JsonInput::array()) return;
  std::vector<Sampler> chain = read(samplers);
  for (const Sampler one :
       {Sampler::penalties, Sampler::top_k, Sampler::top_p, Sampler::min_p, Sampler::temperature}) {
    if (std::ranges::find(chain, one) == chain.end()) switch_off(one, options);
  }
  std::erase_if(chain, [&](Sampler one) { return !is_on(one, options); });
  const bool is_greedy = options.temperature == 0.0;  // then nothing but penalties matters
  for (std::size_t i = 0; i < chain.size(); ++i) {
    for (std::size_t j = i + 1; j < chain.size(); ++j) {
      if (chain[i] == chain[j]) refuse(samplers, "it names a sampler twice");
      const bool matters = !is_greedy || chain[j] == Sampler::penalties;
      if (chain[i] > chain[j] && matters && !commute(chain[i], chain[j]))
        refuse(samplers, "the order is penalties, top_k, top_p, min_p, temperature");
    }
  }
}

}  // namespace spectr::server

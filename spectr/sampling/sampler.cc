#include "spectr/sampling/sampler.h"

#include <algorithm>
#include <iterator>

#include "spectr/base/names.h"

namespace spectr {
namespace {

struct SamplerName {
  std::string_view name;
  char letter;
};

/// Names and letters, in the order of the enumeration.
constexpr SamplerName sampler_names[] = {
    {"penalties", 'e'}, {"dry", 'd'},   {"top_n_sigma", 's'}, {"top_k", 'k'},       {"typ_p", 'y'},
    {"top_p", 'p'},     {"min_p", 'm'}, {"xtc", 'x'},         {"temperature", 't'}, {"adaptive_p", 'a'},
};
static_assert(std::size(sampler_names) == all_samplers.size());

/// Aliases that llama.cpp accepts.
constexpr std::pair<std::string_view, Sampler> sampler_aliases[] = {{"nucleus", Sampler::top_p},
                                                                    {"temp", Sampler::temperature},
                                                                    {"typ", Sampler::typ_p},
                                                                    {"typical", Sampler::typ_p},
                                                                    {"typicalp", Sampler::typ_p}};

/// Returns a name in lower case, without '_' and '-'.
std::string squeezed(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c == '_' || c == '-') continue;
    letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return letters;
}

Result<Sampler> find_sampler(std::string_view given) {
  const std::string wanted = squeezed(given);
  for (const Sampler sampler : all_samplers)
    if (squeezed(name(sampler)) == wanted) return sampler;
  const auto alias = std::ranges::find(sampler_aliases, wanted, &std::pair<std::string_view, Sampler>::first);
  if (alias != std::end(sampler_aliases)) return alias->second;
  return error("there is no sampler '{}'; the samplers are {}", escape(given, 40),
               names_of(sampler_names, ", "));
}

Result<void> add_sampler(Sampler sampler, std::vector<Sampler>& samplers) {
  if (std::ranges::find(samplers, sampler) != samplers.end())
    return error("sampler {} is named twice", name(sampler));
  samplers.push_back(sampler);
  return {};
}

}  // namespace

std::string_view name(Sampler sampler) {
  return sampler_names[static_cast<std::size_t>(sampler)].name;
}

Result<std::vector<Sampler>> read_samplers(std::span<const std::string> names) {
  std::vector<Sampler> samplers;
  for (const std::string& given : names) {
    SPECTR_TRY(const Sampler sampler, find_sampler(given));
    SPECTR_TRY_VOID(add_sampler(sampler, samplers));
  }
  return samplers;
}

Result<std::vector<Sampler>> read_sampler_letters(std::string_view letters) {
  std::vector<Sampler> samplers;
  for (const char letter : letters) {
    const auto found = std::ranges::find(sampler_names, letter, &SamplerName::letter);
    if (found == std::end(sampler_names)) {
      return error("'{}' has a letter of no sampler; the letters are edskypmxta, for {}", escape(letters, 40),
                   names_of(sampler_names, ", "));
    }
    SPECTR_TRY_VOID(add_sampler(all_samplers[static_cast<std::size_t>(found - sampler_names)], samplers));
  }
  return samplers;
}

}  // namespace spectr

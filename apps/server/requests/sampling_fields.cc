#include "apps/server/requests/sampling_fields.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"

namespace spectr::server {
namespace {

constexpr double unlimited = 1e6;

/// A numeric field: its range and how it is stored.
struct SamplerNumber {
  std::string_view name;
  double min, max;
  void (*set)(WarpOptions& options, double value);
};

/// Sets the base of DRY. Values below 1 mean the default, as in llama.cpp's server.
void set_dry_base(WarpOptions& options, double base) {
  if (base >= 1.0) options.dry.base = base;
}

constexpr SamplerNumber sampler_numbers[] = {
    {"top_n_sigma", -unlimited, unlimited, [](WarpOptions& o, double v) { o.top_n_sigma = v; }},
    {"typical_p", 0, unlimited, [](WarpOptions& o, double v) { o.typical_p = v; }},
    {"typ_p", 0, unlimited, [](WarpOptions& o, double v) { o.typical_p = v; }},
    {"xtc_probability", -unlimited, 1, [](WarpOptions& o, double v) { o.xtc_probability = v; }},
    {"xtc_threshold", 0, 1, [](WarpOptions& o, double v) { o.xtc_threshold = v; }},
    {"dynatemp_range", -unlimited, unlimited, [](WarpOptions& o, double v) { o.dynatemp_range = v; }},
    {"dynatemp_exponent", 0, unlimited, [](WarpOptions& o, double v) { o.dynatemp_exponent = v; }},
    {"dry_multiplier", -unlimited, unlimited, [](WarpOptions& o, double v) { o.dry.multiplier = v; }},
    {"dry_base", -unlimited, unlimited, set_dry_base},
    {"mirostat_tau", 0, unlimited, [](WarpOptions& o, double v) { o.mirostat_tau = v; }},
    {"mirostat_eta", 0, unlimited, [](WarpOptions& o, double v) { o.mirostat_eta = v; }},
    {"adaptive_target", -unlimited, 1, [](WarpOptions& o, double v) { o.adaptive_target = v; }},
    {"adaptive_decay", 0, 0.99, [](WarpOptions& o, double v) { o.adaptive_decay = v; }},
};
constexpr std::string_view typical_names[] = {"typical_p", "typ_p"};

std::vector<std::string> read_strings(const JsonInput& list, std::string_view field) {
  std::vector<std::string> strings;
  const auto is_string = [](const JsonInput& one) { return one.is_string(); };
  if (!list.is_array() || !std::ranges::all_of(list, is_string))
    throw ApiError::invalid(fmt::format("'{}' must be a list of strings, got {}", field, shown(list)));
  for (const JsonInput& one : list) strings.push_back(one.get<std::string>());
  return strings;
}

void read_order(Fields& fields, WarpOptions& options) {
  const JsonInput* given = fields.any("samplers");
  if (given == nullptr || *given == "" || *given == JsonInput::array()) return;
  auto read = given->is_string() ? read_sampler_letters(given->get_ref<const std::string&>())
                                 : read_samplers(read_strings(*given, "samplers"));
  if (!read) throw ApiError::invalid(fmt::format("'samplers': {}", read.error().message));
  options.samplers = *std::move(read);
}

}  // namespace

void read_sampling_fields(Fields& fields, WarpOptions& options) {
  for (const SamplerNumber& number : sampler_numbers)
    if (const auto value = fields.number(number.name, number.min, number.max)) number.set(options, *value);
  fields.agree(typical_names);
  constexpr std::int64_t all = std::numeric_limits<std::int32_t>::max();
  if (const auto length = fields.count("dry_allowed_length", 0))
    options.dry.allowed_length = static_cast<std::size_t>(std::min(*length, all));
  if (const auto n = fields.count("dry_penalty_last_n", -1))
    options.dry.penalty_last_n = static_cast<std::size_t>(*n < 0 ? all : std::min(*n, all));
  if (const JsonInput* breakers = fields.any("dry_sequence_breakers"))
    options.dry.sequence_breakers = read_strings(*breakers, "dry_sequence_breakers");
  if (const auto version = fields.integer("mirostat", 0, 2)) options.mirostat = static_cast<int>(*version);
  read_order(fields, options);
  const bool adapts = std::ranges::find(options.samplers, Sampler::adaptive_p) != options.samplers.end();
  if (options.adaptive_target >= 0.0 && options.mirostat == 0 && !adapts)
    throw ApiError::invalid(R"('adaptive_target' needs "adaptive_p" among 'samplers')");
}

}  // namespace spectr::server

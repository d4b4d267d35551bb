#include "apps/server/requests/sampling_fields.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"
#include "spectr/sampling/sampling_settings.h"

namespace spectr::server {
namespace {

std::vector<std::string> read_strings(const JsonInput& list, std::string_view field) {
  std::vector<std::string> strings;
  const auto is_string = [](const JsonInput& one) { return one.is_string(); };
  if (!list.is_array() || !std::ranges::all_of(list, is_string))
    throw ApiError::invalid(fmt::format("'{}' must be a list of strings, got {}", field, shown(list)));
  for (const JsonInput& one : list) strings.push_back(one.get<std::string>());
  return strings;
}

/// Reads the field `name` of a setting. A number beyond the setting's range means its nearest end.
void read_setting(Fields& fields, const SamplingSetting& setting, std::string_view name,
                  WarpOptions& options) {
  const auto [min, max] = setting.asked_range();
  const auto [lowest, highest] = setting.range;
  setting.visit(options, [&]<class T>(T& value) {
    if constexpr (std::is_same_v<T, double>) {
      if (const auto given = fields.number(name, min, max)) value = std::clamp(*given, lowest, highest);
    } else if constexpr (std::is_same_v<T, int>) {
      const auto given = fields.integer(name, static_cast<int>(min), static_cast<int>(max));
      if (given) value = static_cast<int>(*given);
    } else if constexpr (std::is_same_v<T, std::size_t>) {
      constexpr std::int64_t any = std::numeric_limits<std::int64_t>::min();
      if (const auto given = fields.count(name, std::isfinite(min) ? static_cast<std::int64_t>(min) : any)) {
        const bool is_all = *given < 0 || static_cast<std::size_t>(*given) >= all_tokens;
        value = is_all ? setting.all.value_or(all_tokens) : static_cast<std::size_t>(*given);
      }
    } else if (const JsonInput* given = fields.any(name)) {
      value = read_strings(*given, name);
    }
  });
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
  const double base = options.dry.base;
  for (const SamplingSetting& setting : sampling_settings()) {
    read_setting(fields, setting, setting.name, options);
    if (setting.synonym.empty()) continue;
    read_setting(fields, setting, setting.synonym, options);
    const std::string_view names[] = {setting.name, setting.synonym};
    fields.agree(names);
  }
  if (options.dry.base < 1.0) options.dry.base = base;  // means the default, as in llama.cpp's server
  read_order(fields, options);
  const bool adapts = std::ranges::find(options.samplers, Sampler::adaptive_p) != options.samplers.end();
  if (options.adaptive_target >= 0.0 && options.mirostat == 0 && !adapts)
    throw ApiError::invalid(R"('adaptive_target' needs "adaptive_p" among 'samplers')");
}

}  // namespace spectr::server

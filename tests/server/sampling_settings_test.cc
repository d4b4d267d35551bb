// Requests accept all settings of the table of settings of sampling, within their ranges, and answers report
// them.
#include "spectr/sampling/sampling_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/server/answers/report.h"
#include "apps/server/api_error.h"
#include "apps/server/requests/generation_request.h"
#include "apps/support/setting_json.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

/// Returns the options of a request with all samplers and this field.
WarpOptions read_sampling_field(std::string_view name, const JsonInput& value,
                                const WarpOptions& fallback = {}) {
  RequestDefaults defaults;
  defaults.sampling = fallback;
  JsonInput body = JsonInput::object();
  body["samplers"] = "edskypmxta";
  body[std::string(name)] = value;
  return GenerationRequest::read(body, Api::native, defaults).warp;
}

/// Returns why a value is refused; empty if it is not.
std::string refusal_of(std::string_view name, const JsonInput& value) {
  try {
    (void)read_sampling_field(name, value);
    return "";
  } catch (const ApiError& failure) {
    return failure.what();
  }
}

/// Returns true if values of the setting have this type.
template <class T>
bool holds(const SamplingSetting& setting) {
  const WarpOptions defaults;
  return setting.visit(defaults, []<class Member>(const Member&) { return std::is_same_v<Member, T>; });
}

/// Returns a value that is not the default. A base of DRY below 1 would mean the default.
JsonInput other_field(const SamplingSetting& setting) {
  if (holds<SamplingSetting::Texts>(setting)) return JsonInput::array({"x"});
  if (!holds<double>(setting)) return 2;
  return setting.asked_range().max > 1.0 ? 1.5 : 0.5;
}

std::vector<std::string_view> names_of_field(const SamplingSetting& setting) {
  if (setting.synonym.empty()) return {setting.name};
  return {setting.name, setting.synonym};
}

TEST(RequestedSamplingSettings, AreTakenByTheirNames) {
  for (const SamplingSetting& given : sampling_settings()) {
    for (const std::string_view name : names_of_field(given)) {
      WarpOptions fallback;
      fallback.dry.allowed_length = 3;  // the value 2 of other_field() is the default
      const WarpOptions options = read_sampling_field(name, other_field(given), fallback);
      for (const SamplingSetting& setting : sampling_settings()) {
        EXPECT_EQ(json_of(setting, options) != json_of(setting, fallback), setting.name == given.name)
            << setting.name << " by " << name;
      }
    }
  }
}

TEST(RequestedSamplingSettings, AreRefusedBeyondTheirRangeByNameAndValue) {
  for (const SamplingSetting& setting : sampling_settings()) {
    const auto [min, max] = setting.asked_range();
    std::vector<JsonInput> refused = {"x"};
    if (holds<SamplingSetting::Texts>(setting)) {
      refused.push_back(JsonInput::array({1}));
    } else {
      if (std::isfinite(min)) refused.push_back(min - 1.0);
      if (!holds<std::size_t>(setting)) refused.push_back(max + 1.0);
    }
    for (const std::string_view name : names_of_field(setting)) {
      for (const JsonInput& value : refused) {
        EXPECT_THAT(refusal_of(name, value), HasSubstr("'" + std::string(name) + "' must ")) << value;
        EXPECT_THAT(refusal_of(name, value), HasSubstr("got " + value.dump()));
      }
    }
  }
}

TEST(RequestedSamplingSettings, HaveTheNearestValidValueWithinTheirRange) {
  for (const SamplingSetting& setting : sampling_settings()) {
    if (!holds<double>(setting) || setting.name == "dry_base") continue;
    for (const double number : {setting.asked_range().min, setting.asked_range().max}) {
      const Json read = json_of(setting, read_sampling_field(setting.name, number));
      EXPECT_EQ(read.get<double>(), std::clamp(number, setting.range.min, setting.range.max)) << setting.name;
    }
  }
}

TEST(RequestedSamplingSettings, TakeHugeCountsForAllTokens) {
  for (const SamplingSetting& setting : sampling_settings()) {
    if (!holds<std::size_t>(setting)) continue;
    const std::size_t all = setting.all.value_or(all_tokens);
    EXPECT_EQ(json_of(setting, read_sampling_field(setting.name, all_tokens)), all) << setting.name;
    EXPECT_EQ(json_of(setting, read_sampling_field(setting.name, 1e300)), all) << setting.name;
    if (setting.all) {
      EXPECT_EQ(json_of(setting, read_sampling_field(setting.name, -1)), all) << setting.name;
    }
  }
}

TEST(RequestedSamplingSettings, AreReported) {
  WarpOptions options;
  options.typical_p = 0.25;
  const Json report = sampling_of(options);
  for (const SamplingSetting& setting : sampling_settings())
    EXPECT_EQ(report.at(std::string(setting.name)), json_of(setting, options));
  EXPECT_EQ(report.size(), sampling_settings().size() + 1) << "the settings, and the order of samplers";
}

}  // namespace
}  // namespace spectr::server

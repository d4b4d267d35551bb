// Requests accept all settings of the table of method settings, within their bounds.
#include "spectr/decode/method_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/server/api_error.h"
#include "apps/server/requests/generation_request.h"

namespace spectr::server {
namespace {

MethodOptions read(const MethodSetting& setting, const JsonInput& value) {
  JsonInput body = JsonInput::object();
  body["speculative"] = JsonInput::object();
  body["speculative"][std::string(setting.name)] = value;
  return GenerationRequest::read(body, Api::native, {}).speculative.others;
}

/// Returns a value within the bounds that is not the default.
JsonInput other_value(const MethodSetting& setting) {
  if (std::holds_alternative<bool MethodOptions::*>(setting.place)) return true;
  if (std::holds_alternative<double MethodOptions::*>(setting.place)) return 0.5;
  if (std::holds_alternative<std::vector<std::size_t> MethodOptions::*>(setting.place))
    return JsonInput::array({7});
  return 7;
}

TEST(RequestedMethodSettings, AreTakenByTheirNames) {
  for (const MethodSetting& setting : method_settings()) {
    if (!setting.asked) continue;
    const MethodOptions options = read(setting, other_value(setting));
    for (const MethodSetting& other : method_settings())
      EXPECT_EQ(other.is_changed(options), other.setting == setting.setting)
          << other.name << " by " << setting.name;
  }
}

TEST(RequestedMethodSettings, AreRefusedBeyondTheirBounds) {
  for (const MethodSetting& setting : method_settings()) {
    if (!setting.asked || std::holds_alternative<bool MethodOptions::*>(setting.place)) continue;
    for (const double value : {setting.asked->min - 1.0, setting.asked->max + 1.0}) {
      try {
        (void)read(setting, static_cast<std::int64_t>(value));
        ADD_FAILURE() << setting.name << " takes " << value;
      } catch (const ApiError& failure) {
        EXPECT_THAT(failure.what(), testing::HasSubstr("speculative." + std::string(setting.name)));
      }
    }
  }
}

TEST(RequestedTrunk, IsANumberOrLeftOpen) {
  const auto read = [](const std::string& speculative) {
    const JsonInput body = JsonInput::parse("{\"speculative\": {" + speculative + "}}");
    return GenerationRequest::read(body, Api::native, {}).speculative;
  };
  EXPECT_EQ(read(R"("trunk": 2)").others.trunk, 2U);
  EXPECT_FALSE(read(R"("trunk": 2)").auto_trunk);
  EXPECT_TRUE(read(R"("trunk": "auto")").auto_trunk);
  const std::pair<const char*, const char*> refused[] = {
      {R"("trunk": "some")", "must be an integer between 0 and 63, or \"auto\", got"},
      {R"("trunk": 64)", "speculative.trunk"},
      {R"("trunk": "auto", "tree": [2, 2])", "goes with K and L"}};
  for (const auto& [speculative, reason] : refused) {
    try {
      (void)read(speculative);
      ADD_FAILURE() << speculative;
    } catch (const ApiError& failure) {
      EXPECT_THAT(failure.what(), testing::HasSubstr(reason));
    }
  }
}

TEST(RequestedMethodSettings, AreNotTakenIfTheTableHasNoBounds) {
  for (const MethodSetting& setting : method_settings()) {
    if (!setting.asked) {
      EXPECT_FALSE(setting.is_changed(read(setting, 7))) << setting.name;
    }
  }
}

}  // namespace
}  // namespace spectr::server

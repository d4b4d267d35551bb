// Flags, help and documentation contain every setting of the table of method settings.
#include "spectr/decode/method_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/flags/method_flags.h"
#include "tests/support/data.h"

namespace spectr::cli {
namespace {

/// The flags of a decoding command.
struct Flags {
  Flags() { method.add(app); }

  CLI::App app;
  MethodFlags method;
};

/// Returns a value of a flag that is not its default; empty if the flag is a switch.
std::vector<std::string> other_value(const MethodSetting& setting) {
  if (const auto* choice = std::get_if<MethodSetting::Choice>(&setting.place))
    return {std::string(choice->words[1])};
  if (std::holds_alternative<bool MethodOptions::*>(setting.place)) return {};
  if (std::holds_alternative<double MethodOptions::*>(setting.place)) return {"0.5"};
  return {"7"};
}

std::string all_documents() {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() / "docs")) {
    if (entry.path().extension() != ".md") continue;
    std::ifstream file(entry.path());
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

TEST(MethodSettings, HaveAFlagWithTheirSummary) {
  const Flags flags;
  for (const MethodSetting& setting : method_settings()) {
    const CLI::Option* const option = flags.app.get_option_no_throw("--" + setting.flag());
    ASSERT_NE(option, nullptr) << setting.name;
    EXPECT_EQ(option->get_description(), setting.summary);
  }
}

TEST(MethodSettings, AreUnchangedByTheDefaultThatTheHelpStates) {
  for (const MethodSetting& setting : method_settings()) {
    Flags flags;
    const std::string flag = "--" + setting.flag(), usual = flags.app.get_option(flag)->get_default_str();
    EXPECT_FALSE(setting.is_changed(flags.method.request.others));
    if (usual.empty()) continue;
    flags.app.parse({usual, flag});  // in reverse order, as CLI11 expects
    EXPECT_FALSE(setting.is_changed(flags.method.request.others)) << flag << " " << usual;
  }
}

TEST(MethodSettings, AreChangedByTheirOwnFlagAlone) {
  for (const MethodSetting& given : method_settings()) {
    Flags flags;
    std::vector<std::string> arguments = other_value(given);
    arguments.push_back("--" + given.flag());
    flags.app.parse(std::move(arguments));
    for (const MethodSetting& setting : method_settings()) {
      EXPECT_EQ(setting.is_changed(flags.method.request.others), setting.setting == given.setting)
          << setting.name << " by --" << given.flag();
    }
  }
}

TEST(MethodSettings, AreReadByAMethodOrAPlan) {
  for (const MethodSetting& setting : method_settings()) {
    if (setting.setting == Setting::rounds) continue;  // a plan's setting
    EXPECT_TRUE(std::ranges::any_of(method_rules(), [&](const MethodRule& rule) {
      return rule.reads(setting.setting);
    })) << setting.name;
  }
}

TEST(MethodSettings, AreDocumented) {
  const std::string documents = all_documents();
  for (const MethodSetting& setting : method_settings()) {
    EXPECT_THAT(documents, testing::ContainsRegex("--" + setting.flag() + "[^a-z-]"));
    if (setting.asked) {
      EXPECT_THAT(documents, testing::HasSubstr("`" + std::string(setting.name) + "`"));
    }
  }
}

}  // namespace
}  // namespace spectr::cli

// Flags, help and documentation contain every setting of the table of method settings.
#include "spectr/decode/method_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/commands/bench_methods_plan.h"
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

/// Returns the default as the help states it; empty if it states none.
std::string stated_default(const MethodSetting& setting) {
  const Flags flags;
  return flags.app.get_option("--" + setting.flag())->get_default_str();
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
    const std::string flag = "--" + setting.flag(), usual = stated_default(setting);
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

TEST(MethodSettings, HaveTheDefaultsThatTablesOfTheDocumentsState) {
  std::istringstream documents(all_documents());
  const std::regex row("\\| `--([a-z-]+)( [A-Z]+)?` \\| ([0-9.]+) \\| .*");
  std::vector<std::string> stated;
  for (std::string line; std::getline(documents, line);) {
    std::smatch cells;
    if (!line.starts_with("| `--") || !std::regex_match(line, cells, row)) continue;
    const auto setting = std::ranges::find(method_settings(), cells[1].str(), &MethodSetting::flag);
    if (setting == method_settings().end()) continue;
    EXPECT_EQ(cells[3].str(), stated_default(*setting)) << line;
    stated.emplace_back(setting->name);
  }
  EXPECT_THAT(stated, testing::IsSupersetOf({"bild_fallback", "bild_rollback", "suffix_reach"}));
}

TEST(MethodSettings, HaveTheirDefaultsInTheHelpOfBenchMethods) {
  CLI::App app;
  MethodsPlan plan;
  plan.add(app);
  for (const MethodSetting& setting : method_settings()) {
    const bool is_number = std::holds_alternative<std::size_t MethodOptions::*>(setting.place) ||
                           std::holds_alternative<double MethodOptions::*>(setting.place);
    if (!is_number) continue;
    const CLI::Option* const option = app.get_option("--" + setting.flag());
    const std::string usual = stated_default(setting);
    if (option->get_default_str() != usual) {
      EXPECT_THAT(option->get_description(), testing::EndsWith("(default: " + usual + ")"));
    }
  }
}

TEST(MethodSettings, OfRequestsAreTheMembersOfSpeculativeInTheServersDocument) {
  std::ifstream file(source_folder() / "docs/server.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t begin = text.find("Its members are `method`");
  ASSERT_NE(begin, std::string::npos);
  const std::string sentence = text.substr(begin, text.find('.', begin) - begin);
  const std::regex word("`([a-z_]+)`");
  std::vector<std::string> members;
  for (std::sregex_iterator match(sentence.begin(), sentence.end(), word), end; match != end; ++match)
    members.push_back((*match)[1]);
  std::vector<std::string> expected = {"method", "plan", "drafts", "length", "load"};
  for (const MethodSetting& setting : method_settings())
    if (setting.asked) expected.emplace_back(setting.name);
  EXPECT_THAT(members, testing::UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace spectr::cli

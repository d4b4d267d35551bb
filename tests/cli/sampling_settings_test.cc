// Flags, help and documentation contain every setting of the table of settings of sampling, and no other.
#include "spectr/sampling/sampling_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/cli/flags/sampling_flags.h"
#include "apps/support/setting_json.h"
#include "tests/support/data.h"

namespace spectr::cli {
namespace {

using testing::HasSubstr;
using Strings = std::vector<std::string>;

/// The flags of a command that samples.
struct SamplingParser {
  SamplingParser() {
    sampling.add(app);
    sampling.add_samplers(app);
  }
  bool is_changed(const SamplingSetting& setting) const {
    return json_of(setting, sampling.options) != json_of(setting, WarpOptions());
  }

  CLI::App app;
  SamplingFlags sampling;
};

/// Returns the parts of a text between separators.
Strings parts_of(std::string text, const std::string& separator) {
  Strings parts;
  for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.erase(0, end + separator.size());
  }
  parts.push_back(text);
  return parts;
}

Strings flags_of(const SamplingSetting& setting) {
  return parts_of(std::string(setting.flags), ",");
}

/// Returns the default as the help states it; empty for texts.
std::string usual_value(const SamplingSetting& setting) {
  const WarpOptions defaults;
  return setting.visit(defaults, []<class T>(const T& value) -> std::string {
    if constexpr (std::is_same_v<T, SamplingSetting::Texts>) {
      return "";
    } else {
      return fmt::format("{}", value);
    }
  });
}

/// Returns a value that is not the default.
std::string other_value(const SamplingSetting& setting) {
  const WarpOptions defaults;
  return setting.visit(defaults, []<class T>(const T&) -> std::string {
    if constexpr (std::is_same_v<T, SamplingSetting::Texts>) return "x";
    return std::is_same_v<T, double> ? "0.5" : "2147483647";
  });
}

std::string document(const char* name) {
  std::ifstream file(source_folder() / "docs" / name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A row of the table of docs/sampling.md.
struct DocumentedSampler {
  Strings flags, fields, defaults;
};

/// Returns the words in backquotes.
Strings quoted_words(const std::string& cell) {
  const Strings parts = parts_of(cell, "`");
  Strings words;
  for (std::size_t i = 1; i < parts.size(); i += 2) words.push_back(parts[i]);
  return words;
}

std::vector<DocumentedSampler> documented_samplers() {
  const std::string text = document("sampling.md");
  const Strings lines = parts_of(text, "\n");
  auto line = std::ranges::find(lines, "| name, letter | flags | JSON fields | default | |");
  std::vector<DocumentedSampler> rows;
  while (line != lines.end() && line->starts_with('|')) {
    const Strings cells = parts_of(*line++, " | ");
    if (cells.size() == 5 && cells[1] != "flags")
      rows.push_back({quoted_words(cells[1]), quoted_words(cells[2]), parts_of(cells[3], ", ")});
  }
  return rows;
}

/// Returns the default as docs/sampling.md states it.
std::string documented_default(const SamplingSetting& setting) {
  std::string text = usual_value(setting);
  if (text.starts_with('-')) text.replace(0, 1, "−");
  if (!text.empty()) return text;
  for (const std::string& breaker : default_sequence_breakers())
    text += (text.empty() ? "`" : " `") + (breaker == "\n" ? "\\n" : breaker) + "`";
  return text;
}

TEST(SamplingSettings, HaveFlagsWithTheirSummaryDefaultAndVariable) {
  const SamplingParser parser;
  for (const SamplingSetting& setting : sampling_settings()) {
    for (const std::string& flag : flags_of(setting)) {
      const CLI::Option* const option = parser.app.get_option_no_throw(flag);
      ASSERT_NE(option, nullptr) << flag;
      EXPECT_EQ(option->get_description(), setting.summary);
      EXPECT_EQ(option->get_default_str(), usual_value(setting)) << flag;
      EXPECT_EQ(option->get_envname(), setting.variable);
    }
  }
}

TEST(SamplingSettings, AreUnchangedByTheDefaultThatTheHelpStates) {
  for (const SamplingSetting& setting : sampling_settings()) {
    SamplingParser parser;
    const std::string usual = usual_value(setting), flag = flags_of(setting).front();
    if (!usual.empty()) parser.app.parse({usual, flag});  // in reverse order, as CLI11 expects
    EXPECT_FALSE(parser.is_changed(setting)) << flag << " " << usual;
  }
}

TEST(SamplingSettings, AreChangedByTheirOwnFlagsAlone) {
  for (const SamplingSetting& given : sampling_settings()) {
    if (given.range.max == 2.0) continue;  // Mirostat's versions
    for (const std::string& flag : flags_of(given)) {
      SamplingParser parser;
      parser.app.parse({other_value(given), flag});
      for (const SamplingSetting& setting : sampling_settings())
        EXPECT_EQ(parser.is_changed(setting), setting.name == given.name) << setting.name << " by " << flag;
    }
  }
}

TEST(SamplingSettings, AreDocumentedWithFlagsFieldsAndDefaults) {
  Strings documented;
  for (const DocumentedSampler& row : documented_samplers()) {
    ASSERT_EQ(row.flags.size(), row.defaults.size()) << testing::PrintToString(row.flags);
    Strings fields;
    for (std::size_t i = 0; i < row.flags.size(); ++i) {
      const auto setting = std::ranges::find_if(
          sampling_settings(), [&](const auto& one) { return flags_of(one).front() == row.flags[i]; });
      ASSERT_NE(setting, sampling_settings().end()) << row.flags[i];
      EXPECT_EQ(row.defaults[i], documented_default(*setting)) << row.flags[i];
      documented.emplace_back(setting->name);
      fields.emplace_back(setting->name);
      if (!setting->synonym.empty()) fields.emplace_back(setting->synonym);
    }
    EXPECT_EQ(row.fields, fields);
  }
  Strings names;
  for (const SamplingSetting& setting : sampling_settings()) names.emplace_back(setting.name);
  EXPECT_THAT(documented, testing::UnorderedElementsAreArray(names));
}

TEST(SamplingSettings, AreInTheServersTables) {
  const std::string text = document("server.md");
  std::string basic_flags;
  for (const SamplingSetting& setting : sampling_settings()) {
    for (const std::string_view name : {setting.name, setting.synonym}) {
      if (!name.empty()) {
        EXPECT_THAT(text, HasSubstr("| `" + std::string(name) + "` | all | served | "));
      }
    }
    if (setting.basic) basic_flags += (basic_flags.empty() ? "| `" : ", `") + flags_of(setting).front() + "`";
  }
  EXPECT_THAT(text, HasSubstr("\n" + basic_flags + " | "));
  const auto default_of = [](std::string_view name) {
    return usual_value(*std::ranges::find(sampling_settings(), name, &SamplingSetting::name));
  };
  EXPECT_THAT(text, HasSubstr("\n| `temperature` | 0 … 10⁶ | " + default_of("temperature") + " |\n"));
  const std::size_t filters = text.find("\n| `top_k`, `top_p`, `min_p` | ");
  ASSERT_NE(filters, std::string::npos);
  EXPECT_THAT(text.substr(filters, text.find('\n', filters + 1) - filters),
              testing::EndsWith(" | " + default_of("top_k") + ", " + default_of("top_p") + ", " +
                                default_of("min_p") + " |"));
}

}  // namespace
}  // namespace spectr::cli

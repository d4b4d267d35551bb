#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spectr/decode/methods.h"

namespace spectr {

/// A setting that some methods read in addition to plan, K and L, as flags, HTTP requests and reports
/// describe it.
struct MethodSetting {
  /// A choice between two named values; the first is the default.
  struct Choice {
    std::array<std::string_view, 2> words;
    std::size_t (*get)(const MethodOptions& options);
    void (*set)(MethodOptions& options, std::size_t which);
  };
  using Place = std::variant<std::size_t MethodOptions::*, int MethodOptions::*, double MethodOptions::*,
                             bool MethodOptions::*, std::vector<std::size_t> MethodOptions::*, Choice>;
  struct Range {
    double min, max;
  };

  Setting setting;
  std::string_view name;     ///< name of the JSON field
  std::string_view summary;  ///< one-line description
  Place place;
  Range range;                      ///< for whole numbers given by flag; methods check other types
  std::optional<Range> asked = {};  ///< range of the JSON field `speculative.NAME`; nullopt: not in requests
  bool MethodRequest::* automatic = nullptr;  ///< set by the value `auto`; null: there is no such value

  /// Returns the name of the flag without dashes: the field's name with '-' for '_'.
  std::string flag() const;
  /// Returns true if the value differs from that in MethodOptions().
  bool is_changed(const MethodOptions& options) const;
};

/// Returns all settings, in the order of the help.
std::span<const MethodSetting> method_settings();

/// Returns the row of a setting. Requires: the table has it.
const MethodSetting& method_setting(Setting setting);

}  // namespace spectr

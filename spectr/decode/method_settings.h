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

/// A setting that some methods read besides plan, K, L and the shape of a tree: what flags, requests over
/// HTTP and reports need to know of it.
struct MethodSetting {
  /// One of two values, by their words; the first is the default.
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
  std::string_view name;     ///< of the JSON field
  std::string_view summary;  ///< for people
  Place place;
  Range range;                      ///< of a flag's whole numbers; methods check the others
  std::optional<Range> asked = {};  ///< range of the JSON field `speculative.NAME`; none: requests have none

  /// The name of the flag without its dashes: the field's with '-' for '_'.
  std::string flag() const;
  /// Whether the options have another value than MethodOptions().
  bool is_changed(const MethodOptions& options) const;
};

/// Every such setting, in the order of the help.
std::span<const MethodSetting> method_settings();

/// The row of a setting. Requires: the table has it.
const MethodSetting& method_setting(Setting setting);

}  // namespace spectr

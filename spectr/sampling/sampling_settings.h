#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/sampling/warp_options.h"

namespace spectr {

/// A number of tokens that no sequence exceeds.
inline constexpr std::size_t all_tokens = std::numeric_limits<std::int32_t>::max();

/// A setting of sampling, as flags, HTTP requests and reports describe it. Its default is that of
/// WarpOptions.
struct SamplingSetting {
  using Texts = std::optional<std::vector<std::string>>;
  using Place = std::variant<double WarpOptions::*, std::size_t WarpOptions::*, int WarpOptions::*,
                             double DryOptions::*, std::size_t DryOptions::*, Texts DryOptions::*>;
  struct Range {
    double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
  };

  std::string_view name;           ///< name of the JSON field
  std::string_view synonym = {};   ///< another name of the JSON field
  std::string_view flags;          ///< names of the flag, comma-separated
  std::string_view variable = {};  ///< environment variable
  std::string_view summary;        ///< one-line description
  std::string_view label = {};     ///< name in errors of check(); empty: the flag's without dashes
  Place place;
  Range range = {};                     ///< valid numbers, which must also be finite
  std::optional<Range> asked = {};      ///< range of the JSON field; nullopt: `range` within ±10⁶
  std::optional<std::size_t> all = {};  ///< the count for "all tokens", which −1 stands for
  bool basic = false;  ///< a setting of every command that samples, and of cells of the benchmark

  /// Calls `use` with the value in `options`, a WarpOptions that may be const, and returns the result.
  template <class Options, class Use>
  decltype(auto) visit(Options& options, const Use& use) const {
    const auto use_member = [&]<class Owner, class T>(T Owner::* member) -> decltype(auto) {
      if constexpr (std::is_same_v<Owner, DryOptions>) {
        return use(options.dry.*member);
      } else {
        return use(options.*member);
      }
    };
    return std::visit(use_member, place);
  }

  /// Returns the range of the JSON field. Numbers beyond `range` mean its nearest end.
  Range asked_range() const;
  /// Fails if the number in `options` is not valid, naming the setting and the number.
  Result<void> check(const WarpOptions& options) const;
};

/// Returns all settings, in the order of the help.
std::span<const SamplingSetting> sampling_settings();

}  // namespace spectr

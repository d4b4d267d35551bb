#pragma once

#include <string>
#include <type_traits>
#include <variant>

#include "apps/support/json.h"
#include "spectr/decode/method_settings.h"

namespace spectr {

/// Returns the value of a setting in `options`: a number, a boolean, a list of numbers, or the
/// name of a choice.
inline Json json_of(const MethodSetting& setting, const MethodOptions& options) {
  return std::visit(
      [&]<class Place>(const Place& place) -> Json {
        if constexpr (std::is_same_v<Place, MethodSetting::Choice>) {
          return std::string(place.words[place.get(options)]);
        } else {
          return options.*place;
        }
      },
      setting.place);
}

}  // namespace spectr

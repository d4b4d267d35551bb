#pragma once

#include <string>
#include <type_traits>
#include <variant>

#include "apps/support/json.h"
#include "spectr/decode/method_settings.h"
#include "spectr/sampling/sampling_settings.h"

namespace spectr {

/// Returns the value of a setting in `options`: a number, a boolean, a list of numbers, or the
/// name of a choice.
inline Json json_of(const MethodSetting& setting, const MethodOptions& options) {
  return std::visit(
      [&]<class Member>(const Member& member) -> Json {
        if constexpr (std::is_same_v<Member, MethodSetting::Choice>) {
          return std::string(member.words[member.get(options)]);
        } else {
          return options.*member;
        }
      },
      setting.place);
}

/// Returns the value of a setting in `options`: a number, or a list of texts.
inline Json json_of(const SamplingSetting& setting, const WarpOptions& options) {
  return setting.visit(options, []<class T>(const T& value) -> Json {
    if constexpr (std::is_same_v<T, SamplingSetting::Texts>) {
      return value.value_or(default_sequence_breakers());
    } else {
      return value;
    }
  });
}

/// Returns the values of the basic settings of sampling.
inline Json basic_sampling(const WarpOptions& options) {
  Json all;
  for (const SamplingSetting& setting : sampling_settings())
    if (setting.basic) all[std::string(setting.name)] = json_of(setting, options);
  return all;
}

}  // namespace spectr

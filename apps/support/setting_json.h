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
      [&]<class Member>(const Member& member) -> Json {
        if constexpr (std::is_same_v<Member, MethodSetting::Choice>) {
          return std::string(member.words[member.get(options)]);
        } else {
          return options.*member;
        }
      },
      setting.place);
}

}  // namespace spectr

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "spectr/base/result.h"
#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// Converts a nlohmann::basic_json of any map type. With `quoted`, its strings, including member names, are
/// marked as quoted. Error: an integer that is too large.
template <class Json>
Result<Value> from_json(const Json& json, bool quoted) {
  if (json.is_null()) return Value(None{});
  if (json.is_boolean()) return Value(json.template get<bool>());
  if (json.is_number_unsigned() &&
      json.template get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return error("{} is too large an integer", json.template get<std::uint64_t>());
  if (json.is_number_integer()) return Value(json.template get<std::int64_t>());
  if (json.is_number()) return Value(json.template get<double>());
  if (json.is_string()) return Value(MarkedText(json.template get<std::string>(), quoted));
  if (json.is_array()) {
    List list;
    for (const auto& member : json) {
      SPECTR_TRY(Value value, from_json(member, quoted));
      list.push_back(std::move(value));
    }
    return Value(std::move(list));
  }
  Dict dict;  // names are unique, as in JSON objects
  for (const auto& [name, member] : json.items()) {
    SPECTR_TRY(Value value, from_json(member, quoted));
    dict.members.emplace_back(MarkedText(name, quoted), std::move(value));
  }
  return Value(std::move(dict));
}

}  // namespace spectr::jinja

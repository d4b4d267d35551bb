#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "spectr/base/result.h"

// JSON that somebody else wrote: as long, as deep and as wrong as it likes.
namespace spectr {

/// Lists and objects in each other that are read; every level costs stack when they are copied or printed.
constexpr int most_json_depth = 32;

/// The beginning of a text, for messages.
inline std::string shorten(std::string text, std::size_t most = 40) {
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

/// A value in a message.
template <class Json>
std::string shown(const Json& value) {
  return shorten(value.dump(-1, ' ', true, Json::error_handler_t::replace));
}

/// The value that a text is. Error: it is no JSON, deeper than `most_json_depth`, or an object in it has a
/// name twice, of which others may take another one; says so without a subject.
template <class Json>
Result<Json> parse_json(const std::string& text) {
  using Event = typename Json::parse_event_t;
  bool too_deep = false;
  std::optional<std::string> twice;
  std::array<std::set<std::string>, most_json_depth + 1> names;  // [d]: of the open object d deep
  const auto limit = [&](int depth, Event event, Json& value) {
    if (depth > most_json_depth) too_deep = true;
    if (too_deep) return false;  // what is deeper is dropped at once
    const auto d = static_cast<std::size_t>(depth);
    if (event == Event::object_start) names[d].clear();
    if (event == Event::key && !names[d - 1].insert(value.template get<std::string>()).second) {
      twice = value.template get<std::string>();
    }
    return true;
  };
  try {
    Json value = Json::parse(text, limit);
    if (too_deep) return error("is nested more than {} deep", most_json_depth);
    if (twice) return error("names '{}' twice", shorten(*twice));
    return value;
  } catch (const typename Json::exception& failure) {
    return error("is not JSON: {}", shorten(failure.what(), 200));
  }
}

}  // namespace spectr

#pragma once

#include <cstddef>
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

/// The value that a text is. Error: it is no JSON, or deeper than `most_json_depth`; says so without a
/// subject.
template <class Json>
Result<Json> parse_json(const std::string& text) {
  bool too_deep = false;
  const auto limit = [&too_deep](int depth, typename Json::parse_event_t, Json&) {
    if (depth > most_json_depth) too_deep = true;
    return !too_deep;  // what is deeper is dropped at once
  };
  try {
    Json value = Json::parse(text, limit);
    if (too_deep) return error("is nested more than {} deep", most_json_depth);
    return value;
  } catch (const typename Json::exception& failure) {
    return error("is not JSON: {}", shorten(failure.what(), 200));
  }
}

}  // namespace spectr

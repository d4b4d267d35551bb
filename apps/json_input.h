#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "spectr/base/quote.h"
#include "spectr/base/result.h"

// JSON that somebody else wrote: as long, as deep and as wrong as it likes.
namespace spectr {

/// Lists and objects in each other that are read; every level costs stack when they are copied or printed.
constexpr int most_json_depth = 32;

/// Bytes of what strangers wrote that stand in a message.
constexpr std::size_t most_shown = 40;

/// A value in a message.
template <class Json>
std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most_shown) text.replace(most_shown, std::string::npos, "…");
  return text;
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
    if (twice) return error("names '{}' twice", escape(*twice, most_shown));
    return value;
  } catch (const typename Json::exception& failure) {
    // Without the parser's own number and place: "[json.exception…] parse error at line 1, column 2: …".
    std::string_view reason = failure.what();
    const auto* at = dynamic_cast<const typename Json::parse_error*>(&failure);
    reason.remove_prefix(reason.find(at != nullptr ? ": " : "] ") + 2);
    return error("is not JSON{}: {}", at != nullptr ? fmt::format(" (byte {})", at->byte) : "",
                 escape(reason, 200));
  }
}

}  // namespace spectr

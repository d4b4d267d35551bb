#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/support/indexed_map.h"

namespace spectr {

/// JSON that the program writes, with members in insertion order.
using Json = nlohmann::ordered_json;
/// JSON from untrusted input, with members in insertion order; many members cost linear time.
using JsonInput = nlohmann::basic_json<IndexedMap>;

/// Serializes on one line. Bytes that are not UTF-8 become U+FFFD.
inline std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spectr

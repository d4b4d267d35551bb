#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/support/indexed_map.h"

namespace spectr {

/// What is told: members in the order in which they were put in.
using Json = nlohmann::ordered_json;
/// What strangers send, members in that order, too; one with very many members costs no more than its length.
using JsonInput = nlohmann::basic_json<IndexedMap>;

/// On one line. Bytes that are not UTF-8 become U+FFFD.
inline std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spectr

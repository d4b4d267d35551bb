#pragma once

#include <nlohmann/json.hpp>

namespace spectr::cli {

/// Keys in the order in which they are written down.
using Json = nlohmann::ordered_json;

/// One line on stdout. Bytes that are no UTF-8 become replacement characters.
void print_json(const Json& value);

}  // namespace spectr::cli

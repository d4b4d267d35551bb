#pragma once

#include <nlohmann/json.hpp>

namespace spectr::bench {

/// What is measured is handed on as JSON objects, one per row: the command prints them, keeps them in a file,
/// and tables and pictures are made of them. Keys stay in order.
using Json = nlohmann::ordered_json;

}  // namespace spectr::bench

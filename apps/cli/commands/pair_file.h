#pragma once

#include <string>

#include "spectr/base/result.h"
#include "spectr/lm/prefix_table_model.h"

namespace spectr::cli {

/// A draft model p and a target q, given by rows per prefix.
struct TablePair {
  PrefixTableModel p, q;
};

/// Reads a pair from a JSON file {"vocab": V, "p": {"": […], "0": […], "0,1": […]}, "q": {…}}, which has rows
/// of V probabilities by prefix (comma-separated token ids). The row of "" is required; see PrefixTableModel
/// for missing ones. Fails if the file cannot be read or has other members, if a prefix has invalid tokens,
/// or if a row has the wrong length, a negative number, or a sum that is not 1 within 1e-6.
Result<TablePair> read_pair(const std::string& path);

}  // namespace spectr::cli

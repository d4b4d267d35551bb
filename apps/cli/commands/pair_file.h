#pragma once

#include <string>

#include "spectr/base/result.h"
#include "spectr/lm/prefix_table_model.h"

namespace spectr::cli {

/// A draft model p and a target q, given by rows for prefixes.
struct TablePair {
  PrefixTableModel p, q;
};

/// Reads a pair from a JSON file {"vocab": V, "p": {"": […], "0": […], "0,1": […]}, "q": {…}}: rows of V
/// probabilities by prefix, token ids between commas. The row of "" must be given; see PrefixTableModel for
/// others that are not. Fails if the file cannot be read, has other members, a prefix of other tokens, a row
/// of another length or a negative number, or if a row does not sum to 1 within 1e-6.
Result<TablePair> read_pair(const std::string& path);

}  // namespace spectr::cli

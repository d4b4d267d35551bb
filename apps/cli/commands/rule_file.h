#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/verify/rule_walk.h"

namespace spectr::cli {

/// Reads the rules of `rows` contexts from a JSON file {"b": [[…], …], "P": [[…], …]}, whose rows have one
/// number per token. Fails if the file cannot be read or has a different structure, a wrong number of rows or
/// tokens, a b outside [0, 1], a P below 0, or a row of P whose sum is not 1 within 1e-6. A row of P may be
/// all 0 if its row of b is all 1.
Result<std::vector<RejectionRule>> read_rules(const std::string& path, std::size_t rows,
                                              std::size_t vocabulary);

}  // namespace spectr::cli

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/verify/rule_walk.h"

namespace spectr::cli {

/// Reads a rule for every one of `rows` contexts from a JSON file {"b": [[…], …], "P": [[…], …]}, each row
/// with a number per token. Error: the file cannot be read, is no such object, has other numbers of rows or
/// tokens, a b outside [0, 1], a P below 0, or a P whose sum is not 1 within 1e-6. A row of P may be all 0
/// where its row of b is all 1.
Result<std::vector<RejectionRule>> read_rules(const std::string& path, std::size_t rows,
                                              std::size_t vocabulary);

}  // namespace spectr::cli

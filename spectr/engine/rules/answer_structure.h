#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr {

/// Checks the JSON schemas in a result of call_structure(). Fails, with the name of the field, if one is
/// malformed, has more than `max_bytes`, or has a keyword that could only be enforced in part.
Result<void> check_structure(const std::string& structure, std::string_view field, std::size_t max_bytes);

/// Thrown for a JSON schema in a structure that xgrammar does not support, and names it.
struct StructureError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the structural tag that xgrammar compiles. Its JSON schemas become grammars, which respect the
/// schemas' additional properties and allow at most `max_blanks` blanks between two tokens. Throws
/// StructureError. Requires: check_structure() succeeds.
std::string structural_tag(const std::string& structure, int max_blanks);

}  // namespace spectr

#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr {

/// Checks the JSON schemas of a structure as call_structure() returns it. Fails, by the name of the field,
/// if one is malformed, has more than `max_bytes`, or has a keyword that would be kept in part only.
Result<void> check_structure(const std::string& structure, std::string_view field, std::size_t max_bytes);

/// A JSON schema of a structure that xgrammar does not take; says which.
struct StructureError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the structural tag that xgrammar compiles. JSON schemas become grammars in it, which follow their
/// word on additional properties and have at most `max_blanks` blanks between two tokens. Throws
/// StructureError. Requires: check_structure() succeeds.
std::string structural_tag(const std::string& structure, int max_blanks);

}  // namespace spectr

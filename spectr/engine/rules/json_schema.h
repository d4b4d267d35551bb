#pragma once

#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr {

/// Checks that a grammar of this JSON schema can allow exactly what the schema does, up to the order of keys
/// and white space. Fails, with name and place, for keywords that would be ignored or enforced in part only,
/// and for schemas that are too deep or too large. `field` names the schema.
Result<void> check_json_schema(const std::string& schema, std::string_view field);

}  // namespace spectr

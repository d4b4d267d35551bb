#pragma once

#include <string_view>

#include "spectr/text/jinja/nodes.h"

namespace spectr::jinja {

/// Parses a template. Throws TemplateError that names the line if it is not Jinja, uses a feature outside
/// this subset, or is nested more deeply than allowed.
Block parse(std::string_view source, const Limits& limits);

}  // namespace spectr::jinja

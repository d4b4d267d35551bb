#pragma once

#include <string_view>

#include "spectr/text/jinja/nodes.h"

namespace spectr::jinja {

/// Reads a template. Throws TemplateError that names the line: what is no Jinja, what this subset has not,
/// what is nested more deeply than allowed.
Block parse(std::string_view source, const Limits& limits);

}  // namespace spectr::jinja

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "spectr/text/jinja/from_json.h"
#include "spectr/text/jinja/template.h"

namespace spectr::jinja {

/// Returns the output of a template, or the error after "PARSE " or "FAIL ".
inline std::string render(std::string_view source,
                          const nlohmann::json& variables = nlohmann::json::object()) {
  const auto parsed = Template::parse(source);
  if (!parsed) return "PARSE " + parsed.error().message;
  const auto text = parsed->render(*from_json(variables, true)->dict());
  return text ? text->bytes() : "FAIL " + text.error().message;
}

}  // namespace spectr::jinja

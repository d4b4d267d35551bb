// Any text must be a JSON schema with an exact equivalent, which is JSON, or be refused with an error. An
// equivalent must compile, or be refused, to a grammar that has a next token after every prefix.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "fuzz/walk_grammar.h"
#include "spectr/engine/rules/json_schema.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string source(reinterpret_cast<const char*>(data), size);
  for (const auto style : {spectr::SchemaStyle::json, spectr::SchemaStyle::tags}) {
    const auto exact = spectr::exact_json_schema(source, "schema", style);
    if (exact && !nlohmann::json::accept(*exact)) std::abort();
  }
  spectr::walk_grammar({.kind = spectr::Constraint::Kind::json_schema, .source = source}, source);
  return 0;
}

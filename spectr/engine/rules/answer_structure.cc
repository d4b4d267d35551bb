#include "spectr/engine/rules/answer_structure.h"

#include <fmt/format.h>
#include <xgrammar/xgrammar.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "spectr/engine/rules/json_schema.h"

namespace spectr {
namespace {

using Structure = nlohmann::ordered_json;

constexpr const char* schema_member = "json_schema";

bool is_schema_node(const Structure& node) {
  return node.is_object() && node.contains(schema_member);
}

SchemaStyle style_of(const Structure& node) {
  return node.contains("style") ? SchemaStyle::tags : SchemaStyle::json;
}

/// Calls `visit` with each node that holds a JSON schema.
template <class Node, class Visit>
Result<void> for_each_schema(Node& node, const Visit& visit) {
  if (is_schema_node(node)) return visit(node);
  if (!node.is_structured()) return {};
  for (auto& part : node) SPECTR_TRY_VOID(for_each_schema(part, visit));
  return {};
}

}  // namespace

Result<void> check_structure(const std::string& structure, std::string_view field, std::size_t max_bytes) {
  const auto parsed = Structure::parse(structure, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("format")) return error("'{}' is not a structure", field);
  const auto check = [&](const Structure& node) -> Result<void> {
    const std::string schema = node[schema_member].dump(), name = node.value("field", std::string(field));
    if (schema.size() > max_bytes)
      return error("'{}' may have {} bytes, got {}", name, max_bytes, schema.size());
    const auto exact = exact_json_schema(schema, name, style_of(node));
    return exact ? Result<void>() : std::unexpected(exact.error());
  };
  SPECTR_TRY_VOID(for_each_schema(parsed, check));
  if (const std::size_t size = parsed["format"].dump().size(); size > max_bytes)
    return error("'{}' may have schemas of {} bytes together, got {}", field, max_bytes, size);
  return {};
}

std::string structural_tag(const std::string& structure, int max_blanks) {
  auto parsed = Structure::parse(structure);
  const auto convert = [max_blanks](Structure& node) -> Result<void> {
    const std::string name = node.value("field", std::string());
    node.erase("field");
    try {
      SPECTR_TRY(const std::string schema,
                 exact_json_schema(node[schema_member].dump(), name, style_of(node)));
      const auto grammar =
          xgrammar::Grammar::FromJSONSchema(schema, true, std::nullopt, std::nullopt, false, max_blanks);
      // Other styles than JSON have no grammar of their own here.
      if (node.contains("style")) {
        node[schema_member] = Structure::parse(schema);
      } else {
        node = {{"type", "grammar"}, {"grammar", grammar.ToString()}};
      }
    } catch (const std::exception& failure) {
      return error("'{}': {}", name, failure.what());
    }
    return {};
  };
  if (const auto converted = for_each_schema(parsed["format"], convert); !converted)
    throw StructureError(converted.error().message);
  return Structure{{"type", "structural_tag"}, {"format", parsed["format"]}}.dump();
}

}  // namespace spectr

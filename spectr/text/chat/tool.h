#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr {

/// A tool that a model may call.
struct Tool {
  std::string name;
  /// JSON in OpenAI's form: {"type": "function", "function": {"name", "description", "parameters"}}.
  std::string definition;
  bool strict = false;     ///< arguments always fit the schema
  std::string field = {};  ///< name of its schema in errors

  /// Returns the JSON schema of its arguments; {} if the definition has none.
  std::string parameters() const;
};

/// The tools of a request, by name, with the schemas of their arguments.
class ToolSet {
 public:
  ToolSet() = default;
  /// Definitions that are not valid JSON become tools without a schema.
  explicit ToolSet(std::span<const Tool> tools);

  bool empty() const { return tools_.empty(); }
  bool has(std::string_view name) const { return tools_.contains(name); }
  /// Returns the longest name that `text` begins with, unless the word goes on there; else an empty string.
  std::string_view prefix_of(std::string_view text) const;
  /// Returns the kinds of values that a parameter may have (ValueKinds). None: the schema does not say.
  std::optional<unsigned> kinds_of(std::string_view tool, std::string_view parameter) const;
  /// Returns the schema of the arguments of a tool, as JSON.
  std::string_view parameters_of(std::string_view tool) const;

 private:
  struct Known {
    std::string schema;  // of the arguments
    std::map<std::string, unsigned, std::less<>> kinds;
  };
  std::map<std::string, Known, std::less<>> tools_;
};

}  // namespace spectr

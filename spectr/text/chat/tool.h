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

/// The tools of a request, by name, with what their schemas say about each parameter.
class ToolSet {
 public:
  ToolSet() = default;
  /// Definitions that are not valid JSON become tools without a schema.
  explicit ToolSet(std::span<const Tool> tools);

  bool empty() const { return tools_.empty(); }
  bool has(std::string_view name) const { return tools_.contains(name); }
  /// Returns the longest name that `text` begins with, unless the word goes on there; else an empty string.
  std::string_view prefix_of(std::string_view text) const;
  /// True if a string is a valid value of a parameter; nothing if the schema does not say.
  std::optional<bool> accepts_text(std::string_view tool, std::string_view parameter) const;

 private:
  using Parameters = std::map<std::string, bool, std::less<>>;  // values: true if it accepts a string
  std::map<std::string, Parameters, std::less<>> tools_;
};

}  // namespace spectr

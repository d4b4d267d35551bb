#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectr {

/// The syntax of tool calls in a family of models. The parser ignores white space around marks; constrained
/// answers have it as in the template.
struct ToolForm {
  enum class Kind {
    json,    ///< open {"name": …, "arguments": {…}} close, or a list of such objects
    named,   ///< open NAME name_end {…} close
    tagged,  ///< open NAME name_end (key_open KEY key_close VALUE value_close)… close
    gemma,   ///< open NAME{KEY:VALUE,…} close, with strings in <|"|> and optionally bare keys
    python,  ///< open [NAME(KEY=VALUE, …), …] close
    nested,  ///< open NAME name_end (key_open KEY key_close VALUE value_close KEY key_close)… close, where a
             ///< VALUE is text or such elements; those of lists have the key "item"
  };
  Kind kind = Kind::json;
  std::vector<std::string> opens = {};   ///< marks before a call, in order; the first begins all calls
  std::vector<std::string> closes = {};  ///< marks after a call, in order; the last ones end all calls
  std::string key_open = {}, key_close = {}, value_close = {};  ///< tagged only
  /// Complete calls as in the template: lead NAME middle ARGUMENTS (joint NAME middle ARGUMENTS)… tail.
  std::string lead = {}, middle = {}, joint = {}, tail = {};
  std::string middle_pattern = {};  ///< regular expression of alternatives to `middle`; empty: none
  std::string value_lead = {},
              value_tail = {};  ///< tagged only: the text around values, including white space
  std::string trigger = {};  ///< beginning of calls before the reasoning is split off; empty: that of `opens`
  bool parallel = true;      ///< an answer may have several calls
  bool cdata = false;        ///< of tagged: a value may stand between <![CDATA[ and ]]>
};

/// Returns what a text around strings is around other values: tags may say whether a value is a string
/// (DeepSeek V3.2) or which type it has (Kimi K3). Empty if the text is the same around all.
std::vector<std::string> around_other_values(std::string_view text);

/// The call that templates are asked to render; a second call has the other name.
struct ProbeCall {
  static constexpr std::string_view name = "probe_tool", other_name = "other_tool";
  static constexpr std::string_view keys[] = {"first_key", "second_key"};
  static constexpr std::string_view values[] = {"first_value", "second_value"};
  static constexpr std::string_view ids[] = {"spectr001", "spectr002"};

  /// Returns the arguments as a JSON object.
  static std::string arguments();
};

/// Derives the form from a template's output for an assistant's turn with one call and with two. `two` is
/// empty if the template renders only one call. Returns nothing if the call is missing or no form fits.
std::optional<ToolForm> tool_form_of(std::string_view one, std::string_view two);

/// Returns the form of a template that does not render calls, by the marks in its source, or
/// generic_tool_form() if there are none.
const ToolForm& known_tool_form(std::string_view source);

/// Returns the form of models without their own: JSON objects {"name", "arguments"}, without marks.
const ToolForm& generic_tool_form();

/// Returns the form for models with channels, by what ReasoningSplitter makes of their answers
/// (KeptMarks::calls).
const ToolForm& harmony_tool_form(std::string_view source = {});

/// Returns a regular expression that matches `text` and nothing else.
std::string escaped_pattern(std::string_view text);

/// Returns `text` without the prefix and suffix that it shares with `other`. Tags <…> are kept whole.
std::string_view difference(std::string_view text, std::string_view other);

}  // namespace spectr

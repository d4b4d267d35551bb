#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectr {

/// The syntax in which models of a family write calls of tools. The parser ignores white space around marks;
/// constrained answers have it as the template writes it.
struct ToolForm {
  enum class Kind {
    json,    ///< open {"name": …, "arguments": {…}} close, or a list of such objects
    named,   ///< open NAME name_end {…} close
    tagged,  ///< open NAME name_end (key_open KEY key_close VALUE value_close)… close
    gemma,   ///< open NAME{KEY:VALUE,…} close, with strings between <|"|> and keys that may be bare
    python,  ///< open [NAME(KEY=VALUE, …), …] close
    nested,  ///< open NAME name_end (key_open KEY key_close VALUE value_close KEY key_close)… close, where a
             ///< VALUE is text or such elements; those of lists have the key "item"
  };
  Kind kind = Kind::json;
  std::vector<std::string> opens = {};   ///< marks before a call, in order; the first begins all calls
  std::vector<std::string> closes = {};  ///< marks after a call, in order; the last ones end all calls
  std::string key_open = {}, key_close = {}, value_close = {};  ///< of tagged
  /// Whole calls as the template writes them: lead NAME middle ARGUMENTS (joint NAME middle ARGUMENTS)… tail.
  std::string lead = {}, middle = {}, joint = {}, tail = {};
  std::string middle_pattern = {};  ///< regular expression of what may stand for `middle`; empty: only that
  std::string value_lead = {},
              value_tail = {};  ///< of tagged: what stands around values, white space included
  std::string trigger = {};  ///< what calls begin with before an answer's reasoning is split; empty: `opens`
  bool parallel = true;      ///< an answer may have several calls
  bool cdata = false;        ///< of tagged: a value may stand between <![CDATA[ and ]]>
};

/// Returns what a text around strings is around other values: tags may say whether a value is a string
/// (DeepSeek V3.2) or which type it has (Kimi K3). Empty if the text is the same around all.
std::vector<std::string> around_other_values(std::string_view text);

/// The call that templates are asked to render; the second of two has the other name.
struct ProbeCall {
  static constexpr std::string_view name = "probe_tool", other_name = "other_tool";
  static constexpr std::string_view keys[] = {"first_key", "second_key"};
  static constexpr std::string_view values[] = {"first_value", "second_value"};
  static constexpr std::string_view ids[] = {"spectr001", "spectr002"};

  /// Returns the arguments as a JSON object.
  static std::string arguments();
};

/// Derives the form from what a template makes of an assistant's turn with one call and with two. `two` is
/// empty if the template renders one call only. None: the call is not there, or no form fits.
std::optional<ToolForm> tool_form_of(std::string_view one, std::string_view two);

/// Returns the form of a template that renders no calls, by the marks in its source; generic_tool_form() if
/// it has none.
const ToolForm& known_tool_form(std::string_view source);

/// Returns the form for models without one: JSON objects {"name", "arguments"}, without marks.
const ToolForm& generic_tool_form();

/// Returns the form for models with channels, by what ReasoningSplitter makes of their answers
/// (KeptMarks::calls).
const ToolForm& harmony_tool_form(std::string_view source = {});

/// Returns a regular expression that matches `text` and nothing else.
std::string escaped_pattern(std::string_view text);

/// Returns `text` without the beginning and the end that `other` has, too. Tags <…> stay whole.
std::string_view difference(std::string_view text, std::string_view other);

}  // namespace spectr

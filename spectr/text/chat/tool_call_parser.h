#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/json_extent.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_call_text.h"
#include "spectr/text/chat/tool_form.h"
#include "spectr/text/stop_words.h"

namespace spectr {

/// Splits the text of an answer into content and calls while it grows. A call is reported when it is
/// complete: it names a tool of the request, and its arguments are a JSON object. A call that is malformed or
/// has no end stays content. JSON objects on lines of their own and in fenced blocks are calls in every form,
/// if they have a name and arguments. White space before and after calls is dropped. Not thread-safe.
class ToolCallParser {
 public:
  struct Parts {
    std::string content;
    std::vector<ToolCall> calls;                   ///< without ids
    std::size_t before_calls = std::string::npos;  ///< bytes of the content before the first of the calls
  };

  /// Without `parallel` the answer ends after its first call. With `exact` a call begins with a mark of the
  /// form, or as the template begins calls if they have none: JSON elsewhere is content.
  ToolCallParser(ToolForm form, std::shared_ptr<const ToolSet> tools, bool parallel, bool exact = false);

  /// Takes more of the text. Cost: O(new text), and the length of each call when it is complete.
  Parts push(std::string_view text);
  /// Returns what was held back, at the end of the answer.
  Parts finish();
  /// Whether there has been a call.
  bool called() const { return called_; }

 private:
  enum class Place { content, call, after_call, ended };
  enum class Mark { form, bare, fence };
  struct Opening {
    std::size_t begin, size;
    Mark mark;
  };
  /// What is known of the call at hand.
  enum class Outcome { open, complete, invalid };

  bool step(Parts& parts, bool last);
  bool step_content(Parts& parts, bool last);
  bool step_call(Parts& parts, bool last);
  bool step_after(bool last);
  std::optional<Opening> find_opening() const;
  std::size_t certain() const;
  void release(std::size_t until, Parts& parts);
  Outcome look(bool last);
  Outcome look_at_json(std::size_t begin);
  Outcome look_at_named(std::size_t begin);
  Outcome look_at_marked(std::size_t begin);
  std::vector<ToolCall> calls_in(std::string_view text) const;
  /// Returns where the text of the call begins, after opening marks, or npos while one may be incomplete.
  std::size_t skip_opening(bool last) const;

  ToolForm form_;
  std::shared_ptr<const ToolSet> tools_;
  bool parallel_, exact_;
  StopWords marks_;
  Place place_ = Place::content;
  std::string pending_;  // not reported yet
  bool begins_ = true;   // nothing but white space was content since the beginning or the last call
  bool said_ = false;    // something was content
  bool called_ = false;
  Opening opening_ = {};
  JsonExtent extent_;
  std::size_t json_ = 0;     // where the JSON of the call begins; 0: not known yet
  std::size_t scanned_ = 0;  // bytes of `pending_` that the search for the end has seen
  std::size_t end_ = 0;      // of a complete call
  std::vector<ToolCall> calls_;
};

}  // namespace spectr

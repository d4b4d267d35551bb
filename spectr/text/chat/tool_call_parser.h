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

/// Splits the text of an answer into content and calls while it is generated. A call is reported once it is
/// complete: it names a tool of the request, and its arguments are a JSON object. A malformed or unterminated
/// call stays content. In every form, JSON objects on lines of their own and in fenced blocks are calls if
/// they have a name and arguments. White space around calls is dropped. Not thread-safe.
class ToolCallParser {
 public:
  struct Parts {
    std::string content;
    std::vector<ToolCall> calls;                   ///< without ids
    std::size_t before_calls = std::string::npos;  ///< bytes of the content before the first of the calls
  };

  /// Without `parallel`, the answer ends after its first call. With `exact`, a call begins with a mark of the
  /// form or, if it has none, as in the template; JSON elsewhere is content.
  ToolCallParser(ToolForm form, std::shared_ptr<const ToolSet> tools, bool parallel, bool exact = false);

  /// Adds text. Cost: O(new text), plus the length of each call when it is complete.
  Parts push(std::string_view text);
  /// Returns the text that was held back, at the end of the answer.
  Parts finish();
  /// True if there was a call.
  bool called() const { return called_; }

 private:
  enum class Phase { content, call, after_call, ended };
  enum class Mark { form, bare, fence };
  struct Opening {
    std::size_t begin, size;
    Mark mark;
  };
  /// State of the current call.
  enum class Outcome { open, complete, invalid };

  bool step(Parts& parts, bool last);
  bool step_content(Parts& parts, bool last);
  bool step_call(Parts& parts, bool last);
  bool step_after(bool last);
  std::optional<Opening> find_opening() const;
  std::size_t certain() const;
  void release(std::size_t until, Parts& parts);
  Outcome scan_call(bool last);
  Outcome scan_json(std::size_t begin);
  Outcome scan_named(std::size_t begin);
  Outcome scan_marked(std::size_t begin);
  std::vector<ToolCall> calls_in(std::string_view text) const;
  /// Returns the beginning of the call's text, after opening marks; npos while a mark may be incomplete.
  std::size_t skip_opening(bool last) const;

  ToolForm form_;
  std::shared_ptr<const ToolSet> tools_;
  bool parallel_, exact_;
  StopWords marks_;
  Phase phase_ = Phase::content;
  std::string pending_;       // not reported yet
  bool begins_ = true;        // only white space since the beginning or the last call
  bool has_content_ = false;  // there was content
  bool called_ = false;
  Opening opening_ = {};
  JsonExtent extent_;
  std::size_t json_ = 0;     // beginning of the call's JSON; 0: not known yet
  std::size_t scanned_ = 0;  // bytes of `pending_` that were searched for the end
  std::size_t end_ = 0;      // end of a complete call
  std::vector<ToolCall> calls_;
};

}  // namespace spectr

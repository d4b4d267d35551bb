#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/tool_call_parser.h"
#include "spectr/text/reasoning.h"

namespace spectr {

/// Finds calls in an answer that has been divided into thoughts and content. Some models call in the middle
/// of their thoughts and then end the answer: such a call counts, and what follows it is content. It is a
/// thought if the thoughts go on after it for more than `max_after_call` bytes, if they are closed, or if the
/// answer is cut off. Not thread-safe.
class AnswerCalls {
 public:
  static constexpr std::size_t max_after_call = 256;

  struct Parts {
    std::string reasoning, content;
    std::vector<ToolCall> calls;  ///< without ids
  };

  /// Arguments are those of ToolCallParser. With `exact`, thoughts have no calls: a constraint follows them.
  AnswerCalls(const ToolForm& form, const std::shared_ptr<const ToolSet>& tools, bool parallel, bool exact);

  /// Takes more of the answer. Thoughts that are kept in the content stay there.
  Parts push(const ReasoningSplitter::Parts& answer);
  /// Returns what was held back, at the end of the answer. `ended`: the model ended it; otherwise it was cut
  /// off by a limit, a stop sequence or a cancellation.
  Parts finish(bool ended);
  /// True if there has been a call.
  bool called() const { return content_.called() || ended_in_thoughts_; }

 private:
  static void add(ToolCallParser::Parts parts, Parts& all);
  void think(std::string_view text, Parts& all);
  std::string take_call(ToolCallParser::Parts parts);
  void end_in_thoughts(Parts& all);
  void close_thoughts(Parts& all);

  ToolCallParser content_;
  std::optional<ToolCallParser> fresh_, thoughts_;  // none: thoughts have no calls
  bool kept_ = false;                               // the latest thoughts are kept in the content
  std::string held_;                                // thoughts that have not been reported yet
  ToolCallParser::Parts called_;                    // the calls among them, and the text after these
  bool ended_in_thoughts_ = false;                  // with a call
  bool parallel_;
};

}  // namespace spectr

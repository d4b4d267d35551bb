#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/tool_call_parser.h"

namespace spectr {

/// Finds calls in an answer that has been divided into thoughts and content. Some models call in the middle
/// of their thoughts and then end the answer: such a call counts, and what follows it is content. If the
/// thoughts go on after it for more than `max_after_call` bytes, or are closed, it is a thought. Not
/// thread-safe.
class AnswerCalls {
 public:
  static constexpr std::size_t max_after_call = 256;

  struct Parts {
    std::string reasoning, content;
    std::vector<ToolCall> calls;  ///< without ids
  };

  /// Arguments are those of ToolCallParser. With `exact`, thoughts have no calls: a constraint follows them.
  AnswerCalls(const ToolForm& form, const std::shared_ptr<const ToolSet>& tools, bool parallel, bool exact);

  /// Takes more of the answer.
  Parts push(std::string_view reasoning, std::string_view content);
  /// Returns what was held back, at the end of the answer.
  Parts finish();
  /// True if there has been a call.
  bool called() const { return content_.called() || ended_in_thoughts_; }

 private:
  void think(std::string_view text, Parts& all);
  void close_thoughts(Parts& all);

  ToolCallParser content_;
  std::optional<ToolCallParser> fresh_, thoughts_;  // none: thoughts have no calls
  std::string held_;                                // thoughts that have not been reported yet
  ToolCallParser::Parts called_;                    // the calls among them, and the text after these
  bool ended_in_thoughts_ = false;                  // with a call
  bool parallel_;
};

}  // namespace spectr

#include "spectr/text/chat/answer_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "spectr/text/chat/call_space.h"

namespace spectr {
namespace {

/// Returns the form with calls that begin with a mark only.
ToolForm marked_form(ToolForm form) {
  form.lead.clear();
  return form;
}

}  // namespace

AnswerCalls::AnswerCalls(const ToolForm& form, const std::shared_ptr<const ToolSet>& tools, bool parallel,
                         bool exact)
    : content_(form, tools, parallel, exact), parallel_(parallel) {
  if (exact || form.opens.empty()) return;
  fresh_.emplace(marked_form(form), tools, true, true);
  thoughts_ = fresh_;
}

AnswerCalls::Parts AnswerCalls::push(std::string_view reasoning, std::string_view content) {
  Parts all;
  if (!reasoning.empty()) think(reasoning, all);
  if (content.empty()) return all;
  close_thoughts(all);
  ToolCallParser::Parts parts = content_.push(content);
  all.content = std::move(parts.content);
  all.calls = std::move(parts.calls);
  return all;
}

AnswerCalls::Parts AnswerCalls::finish() {
  Parts all;
  if (thoughts_ && !held_.empty()) {
    ToolCallParser::Parts last = thoughts_->finish();
    if (thoughts_->called()) {
      if (called_.calls.empty()) all.reasoning = last.content.substr(0, last.before_calls);
      called_.content += called_.calls.empty() && !last.calls.empty() ? last.content.substr(last.before_calls)
                                                                      : last.content;
      std::ranges::move(last.calls, std::back_inserter(called_.calls));
      all.calls = std::move(called_.calls);
      if (!parallel_) all.calls.erase(all.calls.begin() + 1, all.calls.end());
      all.content = called_.content.substr(after_space(called_.content));
      ended_in_thoughts_ = true;
      return all;
    }
  }
  close_thoughts(all);
  ToolCallParser::Parts parts = content_.finish();
  all.content += parts.content;
  all.calls = std::move(parts.calls);
  return all;
}

/// Reports thoughts up to the first call in them.
void AnswerCalls::think(std::string_view text, Parts& all) {
  if (!thoughts_) {
    all.reasoning = text;
    return;
  }
  held_ += text;
  ToolCallParser::Parts parts = thoughts_->push(text);
  std::string_view after = parts.content;
  if (called_.calls.empty()) {  // all that is content now stands before the call
    const std::string_view before = after.substr(0, std::min(parts.before_calls, after.size()));
    all.reasoning = before;
    held_.erase(0, before.size());
    after.remove_prefix(before.size());
  }
  called_.content += after;
  std::ranges::move(parts.calls, std::back_inserter(called_.calls));
  if (called_.content.size() > max_after_call) close_thoughts(all);
}

/// Reports the thoughts that were held back; calls in them are thoughts.
void AnswerCalls::close_thoughts(Parts& all) {
  if (!thoughts_) return;
  all.reasoning += std::exchange(held_, {});
  called_ = {};
  thoughts_ = fresh_;
}

}  // namespace spectr

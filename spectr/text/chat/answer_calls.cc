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

AnswerCalls::Parts AnswerCalls::push(const ReasoningSplitter::Parts& answer) {
  const std::string_view content = answer.content;
  Parts all;
  std::size_t said = 0;
  for (const ThoughtSpan& span : answer.thoughts) {
    const std::string_view part = span.kept ? content : std::string_view(answer.reasoning);
    if (span.kept) {  // the content before it comes first
      add(content_.push(content.substr(said, span.begin - said)), all);
      add(content_.finish(), all);
      said = span.begin + span.size;
    }
    kept_ = span.kept;
    think(part.substr(span.begin, span.size), all);
    if (span.closed) close_thoughts(all);
  }
  add(content_.push(content.substr(said)), all);
  return all;
}

AnswerCalls::Parts AnswerCalls::finish(bool ended) {
  Parts all;
  add(content_.finish(), all);
  if (thoughts_ && ended && (parallel_ || !content_.called())) end_in_thoughts(all);
  close_thoughts(all);
  return all;
}

void AnswerCalls::add(ToolCallParser::Parts parts, Parts& all) {
  all.content += parts.content;
  std::ranges::move(parts.calls, std::back_inserter(all.calls));
}

/// Reports thoughts up to the first call in them.
void AnswerCalls::think(std::string_view text, Parts& all) {
  std::string& out = kept_ ? all.content : all.reasoning;
  if (!thoughts_) {
    out += text;
    return;
  }
  held_ += text;
  ToolCallParser::Parts parts = thoughts_->push(text);
  out += take_call(std::move(parts));
  if (called_.content.size() > max_after_call) close_thoughts(all);
}

/// Divides what the parser of thoughts has found at the first call. Returns the thoughts before it.
std::string AnswerCalls::take_call(ToolCallParser::Parts parts) {
  std::string before;
  if (called_.calls.empty()) {
    before = parts.content.substr(0, parts.before_calls);
    parts.content.erase(0, before.size());
    held_.erase(0, before.size());
  }
  called_.content += parts.content;
  std::ranges::move(parts.calls, std::back_inserter(called_.calls));
  return before;
}

/// Reports the calls in thoughts with which the answer ends, if there are any.
void AnswerCalls::end_in_thoughts(Parts& all) {
  const std::string before = take_call(thoughts_->finish());
  (kept_ ? all.content : all.reasoning) += before;
  if (called_.calls.empty()) return;
  if (!parallel_) called_.calls.erase(called_.calls.begin() + 1, called_.calls.end());
  std::ranges::move(called_.calls, std::back_inserter(all.calls));
  all.content += called_.content.substr(kept_ ? 0 : after_space(called_.content));
  ended_in_thoughts_ = true;
  held_.clear();
}

/// Reports the thoughts that were held back; calls in them are thoughts.
void AnswerCalls::close_thoughts(Parts& all) {
  if (!thoughts_) return;
  (kept_ ? all.content : all.reasoning) += std::exchange(held_, {});
  called_ = {};
  thoughts_ = fresh_;
}

}  // namespace spectr

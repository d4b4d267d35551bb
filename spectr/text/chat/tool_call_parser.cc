#include "spectr/text/chat/tool_call_parser.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "spectr/text/chat/call_literals.h"
#include "spectr/text/chat/call_space.h"
#include "spectr/text/chat/nested_call.h"

namespace spectr {
namespace {

constexpr auto not_found = std::string_view::npos;
constexpr std::string_view code_fence = "```";
constexpr std::string_view name_prefix = "functions.";  // prefix of names in several families
constexpr std::size_t max_call_header = 512;  // bytes between the opening of a call and its arguments
/// Text that is allowed between calls, in addition to the marks of the form.
constexpr std::string_view call_separators[] = {",", ";", code_fence};

/// Returns the possible beginnings of calls, except for JSON on a line of its own.
std::vector<std::string> call_beginnings(const ToolForm& form, bool exact) {
  std::vector<std::string> marks = form.opens;
  // If a form's calls have no opening mark, they begin as in the template.
  if (exact && !form.lead.empty() &&
      std::ranges::none_of(marks, [&](const std::string& mark) { return form.lead.contains(mark); }))
    marks.push_back(form.lead);
  return marks;
}

}  // namespace

ToolCallParser::ToolCallParser(ToolForm form, std::shared_ptr<const ToolSet> tools, bool parallel, bool exact)
    : form_(std::move(form)),
      tools_(std::move(tools)),
      parallel_(parallel),
      exact_(exact),
      marks_(call_beginnings(form_, exact)) {}

ToolCallParser::Parts ToolCallParser::push(std::string_view text) {
  Parts parts;
  pending_ += text;
  while (step(parts, false)) {
  }
  return parts;
}

ToolCallParser::Parts ToolCallParser::finish() {
  Parts parts;
  while (step(parts, true)) {
  }
  if (begins_ && called_) pending_.clear();  // white space
  parts.content += std::exchange(pending_, {});
  return parts;
}

/// Processes the pending text as far as possible. Returns true if another step may be possible.
bool ToolCallParser::step(Parts& parts, bool last) {
  switch (phase_) {
    case Phase::content:
      return step_content(parts, last);
    case Phase::call:
      return step_call(parts, last);
    case Phase::after_call:
      return step_after(last);
    case Phase::ended:
      pending_.clear();
      break;
  }
  return false;
}

/// Reports the first `until` bytes of the pending text as content.
void ToolCallParser::release(std::size_t until, Parts& parts) {
  if (until == 0) return;
  if (begins_ && called_) {
    const std::size_t space = after_space(pending_);
    if (space >= until) return;
    if (has_content_) parts.content += '\n';
    pending_.erase(0, space);
    until -= space;
  }
  parts.content.append(pending_, 0, until);
  pending_.erase(0, until);
  begins_ = false;
  has_content_ = true;
}

/// Finds the first position at which a call may begin: a mark of the form anywhere, JSON or a fence at the
/// beginning of a line.
std::optional<ToolCallParser::Opening> ToolCallParser::find_opening() const {
  std::optional<Opening> first;
  if (const auto mark = marks_.find(pending_, 0)) {
    const bool is_lead = std::ranges::find(form_.opens, mark->word) == form_.opens.end();
    first = {mark->begin, is_lead ? 1 : mark->word.size(), is_lead ? Mark::bare : Mark::form};
  }
  if (exact_) return first;
  const std::string_view text = pending_;
  for (std::size_t line = begins_ ? 0 : text.find('\n'); line < text.size(); line = text.find('\n', line)) {
    const std::size_t at = after_space(text, line);
    if (at == text.size() || (first && at >= first->begin)) break;
    const auto begun = [rest = text.substr(at)](const std::string& mark) { return mark.starts_with(rest); };
    if (std::ranges::any_of(form_.opens, begun)) break;
    if (text[at] == '{' || text[at] == '[') return Opening{at, 1, Mark::bare};
    if (text.substr(at).starts_with(code_fence)) return Opening{at, code_fence.size(), Mark::fence};
    line = at;
  }
  return first;
}

/// Returns the length of the pending text that is content whatever follows.
std::size_t ToolCallParser::certain() const {
  std::string_view text = std::string_view(pending_).substr(0, marks_.certain(pending_));
  const std::size_t ticks = text.size() - (text.find_last_not_of('`') + 1);
  if (ticks < code_fence.size()) text.remove_suffix(ticks);
  return before_end_space(text);
}

bool ToolCallParser::step_content(Parts& parts, bool last) {
  const auto opening = find_opening();
  if (!opening) {
    release(last ? before_end_space(pending_) : certain(), parts);
    return false;
  }
  opening_ = *opening;
  const std::size_t before = before_end_space(std::string_view(pending_).substr(0, opening->begin));
  const std::size_t size = pending_.size();
  release(before, parts);
  opening_.begin -= size - pending_.size();
  extent_ = {};
  json_ = scanned_ = 0;
  phase_ = Phase::call;
  return true;
}

bool ToolCallParser::step_call(Parts& parts, bool last) {
  switch (scan_call(last)) {
    case Outcome::open:
      if (!last) return false;
      break;
    case Outcome::complete:
      pending_.erase(0, end_);
      parts.before_calls = std::min(parts.before_calls, parts.content.size());
      if (!parallel_) calls_.erase(calls_.begin() + 1, calls_.end());
      std::ranges::move(calls_, std::back_inserter(parts.calls));
      calls_.clear();
      called_ = begins_ = true;
      phase_ = parallel_ ? Phase::after_call : Phase::ended;
      return true;
    case Outcome::invalid:
      break;
  }
  // The apparent opening of a call is content.
  calls_.clear();
  phase_ = Phase::content;
  release(opening_.begin + opening_.size, parts);
  begins_ = false;
  return true;
}

bool ToolCallParser::step_after(bool last) {
  const std::size_t space = after_space(pending_);
  const auto rest = std::string_view(pending_).substr(space);
  bool waits = false;
  const auto is_next = [&](std::string_view mark) {
    waits = waits || mark.starts_with(rest);
    return rest.starts_with(mark);
  };
  std::size_t taken = 0;
  if (const auto close = std::ranges::find_if(form_.closes, is_next); close != form_.closes.end()) {
    taken = close->size();
  } else if (const auto* mark = std::ranges::find_if(call_separators, is_next);
             mark != std::end(call_separators)) {
    const bool begins_close =  // as ``` begins the mark ```<｜tool▁call▁end｜>
        std::ranges::any_of(form_.closes, [&](const std::string& mark) { return mark.starts_with(rest); });
    if (begins_close && !last) return false;
    taken = mark->size();
  }
  if (taken > 0) {
    pending_.erase(0, space + taken);
    return true;
  }
  if (waits && !last) return false;
  phase_ = Phase::content;
  return true;
}

std::size_t ToolCallParser::skip_opening(bool last) const {
  const std::string_view text = pending_;
  std::size_t at = opening_.begin + opening_.size;
  if (opening_.mark == Mark::bare) return opening_.begin;
  if (opening_.mark == Mark::fence) {
    while (at < text.size() && ((text[at] >= 'a' && text[at] <= 'z') || text[at] == '_')) ++at;
  }
  for (;;) {
    at = after_space(text, at);
    const std::string_view rest = text.substr(at);
    if (rest.empty()) return last ? at : not_found;
    const auto opens = [&](const std::string& mark) { return rest.starts_with(mark); };
    const auto begun = [&](const std::string& mark) { return mark.starts_with(rest); };
    const auto found = std::ranges::find_if(form_.opens, opens);
    if (found == form_.opens.end()) return !last && std::ranges::any_of(form_.opens, begun) ? not_found : at;
    at += found->size();
  }
}

ToolCallParser::Outcome ToolCallParser::scan_call(bool last) {
  if (json_ > 0) return scan_json(json_ - 1);
  const std::size_t begin = skip_opening(last);
  if (begin == not_found || begin == pending_.size()) return Outcome::open;
  const char c = pending_[begin];
  const bool is_json = c == '{' || c == '[';
  if (opening_.mark != Mark::form) {
    if (!is_json) return Outcome::invalid;
    const auto fits = may_be_json_call(std::string_view(pending_).substr(begin));
    if (!fits) return Outcome::open;
    return *fits ? scan_json(begin) : Outcome::invalid;
  }
  if (form_.kind == ToolForm::Kind::python && c == '[') {
    const auto fits = may_be_json_call(std::string_view(pending_).substr(begin));
    if (!fits) return last ? Outcome::invalid : Outcome::open;
    return *fits ? scan_json(begin) : scan_marked(begin);
  }
  if (is_json) return scan_json(begin);
  if (form_.kind == ToolForm::Kind::named) return scan_named(begin);
  return form_.kind == ToolForm::Kind::json ? Outcome::invalid : scan_marked(begin);
}

ToolCallParser::Outcome ToolCallParser::scan_json(std::size_t begin) {
  if (json_ == 0) {
    json_ = begin + 1;
    scanned_ = begin;
  }
  JsonExtent::State state = JsonExtent::State::open;
  while (state == JsonExtent::State::open && scanned_ < pending_.size())
    state = extent_.push(pending_[scanned_++]);
  if (state == JsonExtent::State::open) return Outcome::open;
  if (state == JsonExtent::State::invalid) return Outcome::invalid;
  const std::string_view json = std::string_view(pending_).substr(begin, scanned_ - begin);
  end_ = scanned_;
  if (!calls_.empty()) {  // the name was parsed before
    auto call = read_named_call(std::exchange(calls_, {}).front().name, json);
    if (!call) return Outcome::invalid;
    calls_.push_back(*std::move(call));
    return Outcome::complete;
  }
  auto calls = read_json_calls(json, *tools_, opening_.mark != Mark::form);
  if (!calls) return Outcome::invalid;
  calls_ = *std::move(calls);
  return Outcome::complete;
}

ToolCallParser::Outcome ToolCallParser::scan_named(std::size_t begin) {
  std::string_view header = std::string_view(pending_).substr(begin);
  const std::size_t json = header.find('{');
  header = header.substr(0, json);
  if (json == not_found) return header.size() > max_call_header ? Outcome::invalid : Outcome::open;
  if (header.starts_with(name_prefix)) header.remove_prefix(name_prefix.size());
  const std::string_view name = tools_->prefix_of(header);
  if (name.empty()) return Outcome::invalid;
  calls_ = {{"", std::string(name), ""}};
  return scan_json(begin + json);
}

/// Searches for the mark that closes the call. Marks inside a value do not close it.
ToolCallParser::Outcome ToolCallParser::scan_marked(std::size_t begin) {
  if (form_.closes.empty()) return Outcome::invalid;
  const std::string& close = form_.closes.front();
  std::size_t from = std::max(begin, scanned_ - std::min(scanned_, close.size() - 1));
  for (; (from = pending_.find(close, from)) != not_found; from += close.size()) {
    end_ = from + close.size();
    auto calls = calls_in(std::string_view(pending_).substr(begin, end_ - begin));
    if (calls.empty()) continue;
    calls_ = std::move(calls);
    return Outcome::complete;
  }
  scanned_ = pending_.size();
  return Outcome::open;
}

/// Reads calls with their closing mark; none if the text is malformed.
std::vector<ToolCall> ToolCallParser::calls_in(std::string_view text) const {
  const std::string_view inside = text.substr(0, text.size() - form_.closes.front().size());
  if (form_.kind == ToolForm::Kind::python)
    return read_python_calls(inside, *tools_).value_or(std::vector<ToolCall>());
  auto call = form_.kind == ToolForm::Kind::gemma    ? read_gemma_call(inside, *tools_)
              : form_.kind == ToolForm::Kind::nested ? read_nested_call(inside, *tools_, form_)
                                                     : read_tagged_call(text, *tools_, form_);
  return call ? std::vector<ToolCall>{*std::move(call)} : std::vector<ToolCall>();
}

}  // namespace spectr

#include "spectr/text/reasoning/tagged_splitter.h"

#include <vector>

#include "spectr/text/reasoning/splitting.h"

namespace spectr {
namespace {

/// Returns the marks to find in content, prefixes of others first. If thoughts are kept, the marks that
/// belong to them are not among these.
std::vector<std::string> marks_in_content(const ReasoningForm& form, bool keeps_thoughts) {
  std::vector<std::string> marks;
  if (form.reopens) marks.emplace_back(form.open);
  for (const std::string_view mark : form.around) {
    if (!keeps_thoughts || !(form.open.contains(mark) || mark == form.close)) marks.emplace_back(mark);
  }
  return marks;
}

}  // namespace

TaggedSplitter::TaggedSplitter(const ReasoningForm& form, KeptMarks keeps)
    : form_(form),
      keeps_(keeps.thoughts),
      close_({std::string(form.close)}),
      around_(marks_in_content(form, keeps_)) {
  if (!form.around.empty() && !form.open.contains(form.around.front())) content_mark_ = form.around.front();
}

ReasoningSplitter::Parts TaggedSplitter::push(std::string_view text) {
  pending_ += text;
  Parts parts;
  while (step(parts, false)) {
  }
  return parts;
}

ReasoningSplitter::Parts TaggedSplitter::finish() {
  Parts parts;
  while (step(parts, true)) {
  }
  return parts;
}

/// Takes one step in the pending text. `last`: no more text follows. Returns true if another step may be
/// possible.
bool TaggedSplitter::step(Parts& parts, bool last) {
  switch (state_) {
    case State::before:
      return open(parts, last);
    case State::thoughts:
      return read_thoughts(parts, last);
    case State::content:
      return read_content(parts, last);
  }
  return false;
}

/// Takes the first `size` pending bytes: a mark of thoughts and the space before it.
void TaggedSplitter::take_mark(std::size_t size, Parts& parts) {
  if (keeps_) parts.think(std::string_view(pending_).substr(0, size), true);
  pending_.erase(0, size);
}

bool TaggedSplitter::open(Parts& parts, bool last) {
  const std::size_t space = leading_split_space(pending_);
  const auto rest = std::string_view(pending_).substr(space);
  if (rest.starts_with(form_.open)) {
    take_mark(space + form_.open.size(), parts);
    state_ = State::thoughts;
    return true;
  }
  if (!closed_ && rest.starts_with(form_.close)) {  // no thoughts
    take_mark(space + form_.close.size(), parts);
    parts.close_thoughts(keeps_);
    closed_ = true;
    return true;
  }
  if (!last && (form_.open.starts_with(rest) || (!closed_ && form_.close.starts_with(rest)))) return false;
  if (closed_ && !keeps_) {
    pending_.erase(0, space);  // only after thoughts; otherwise it belongs to the content
  }
  state_ = State::content;
  return true;
}

bool TaggedSplitter::read_thoughts(Parts& parts, bool last) {
  if (!inside_ && !content_mark_.empty()) {  // content without thoughts, although the prompt has opened them
    const auto rest = std::string_view(pending_).substr(leading_split_space(pending_));
    if (rest.starts_with(content_mark_)) {
      parts.close_thoughts(keeps_);
      state_ = State::content;
      return true;
    }
    if (!last && content_mark_.starts_with(rest)) return false;
  }
  const auto end = close_.find(pending_, 0);
  const std::size_t certain = end ? end->begin : last ? pending_.size() : close_.certain(pending_);
  const std::string_view text = std::string_view(pending_).substr(0, certain);
  const std::size_t until = keeps_ ? text.size() : before_trailing_split_space(text);
  if (const std::size_t space = keeps_ ? 0 : leading_split_space(text); space < until) {
    if (!keeps_ && !inside_ && has_thoughts_) parts.think(between_thoughts, false);
    const std::size_t from = inside_ ? 0 : space;
    parts.think(text.substr(from, until - from), keeps_);
    inside_ = has_thoughts_ = true;
    pending_.erase(0, until);
  }
  if (!end) return false;
  take_mark(pending_.find(form_.close) + form_.close.size(), parts);
  parts.close_thoughts(keeps_);
  state_ = State::before;
  inside_ = false;
  closed_ = true;
  return true;
}

bool TaggedSplitter::read_content(Parts& parts, bool last) {
  const auto mark = around_.find(pending_, 0);
  std::size_t certain = last ? pending_.size() : around_.certain(pending_);
  if (mark && mark->begin < certain) certain = mark->begin;
  parts.content.append(pending_, 0, certain);
  pending_.erase(0, certain);
  if (!mark || mark->begin != certain) return false;
  if (!last && around_.certain(pending_) == 0) return false;  // it may be the beginning of a longer one
  if (form_.reopens && mark->word == form_.open) {
    take_mark(mark->word.size(), parts);
    state_ = State::thoughts;
  } else {
    pending_.erase(0, mark->word.size());
  }
  return true;
}

}  // namespace spectr

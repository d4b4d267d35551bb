#include "spectr/text/reasoning/tagged_splitter.h"

#include <vector>

#include "spectr/text/reasoning/splitting.h"

namespace spectr {
namespace {

/// Returns the marks to look for in what is said, those first that others are beginnings of. Where thoughts
/// are kept, so are marks that belong to them.
std::vector<std::string> marks_in_content(const ReasoningForm& form, bool keeps_thoughts) {
  std::vector<std::string> marks;
  if (form.reopens && !keeps_thoughts) marks.emplace_back(form.open);
  for (const std::string_view mark : form.around) {
    if (!keeps_thoughts || !(form.open.contains(mark) || mark == form.close)) marks.emplace_back(mark);
  }
  return marks;
}

}  // namespace

TaggedSplitter::TaggedSplitter(const ReasoningForm& form, KeptMarks keeps)
    : form_(form), close_({std::string(form.close)}), around_(marks_in_content(form, keeps.thoughts)) {
  if (keeps.thoughts) place_ = Place::saying;
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

/// Goes on as far as what is pending allows, of which nothing comes `last`. Returns whether there may be more
/// to do.
bool TaggedSplitter::step(Parts& parts, bool last) {
  switch (place_) {
    case Place::before:
      return open(last);
    case Place::thinking:
      return think(parts, last);
    case Place::saying:
      return say(parts, last);
  }
  return false;
}

bool TaggedSplitter::open(bool last) {
  const std::size_t space = leading_split_space(pending_);
  const auto rest = std::string_view(pending_).substr(space);
  if (rest.starts_with(form_.open)) {
    pending_.erase(0, space + form_.open.size());
    place_ = Place::thinking;
    return true;
  }
  if (!closed_ && rest.starts_with(form_.close)) {  // no thoughts
    pending_.erase(0, space + form_.close.size());
    closed_ = true;
    return true;
  }
  if (!last && (form_.open.starts_with(rest) || (!closed_ && form_.close.starts_with(rest)))) return false;
  if (closed_) pending_.erase(0, space);  // after thoughts, else it is the answer's own
  place_ = Place::saying;
  return true;
}

bool TaggedSplitter::think(Parts& parts, bool last) {
  const auto end = close_.find(pending_, 0);
  const std::size_t certain = end ? end->begin : last ? pending_.size() : close_.certain(pending_);
  const std::size_t kept = before_trailing_split_space(std::string_view(pending_).substr(0, certain));
  if (const std::size_t space = leading_split_space(pending_); space < kept) {
    const std::size_t from = inside_ ? 0 : space;
    if (!inside_ && thought_) parts.reasoning += between_thoughts;
    parts.reasoning.append(pending_, from, kept - from);
    inside_ = thought_ = true;
    pending_.erase(0, kept);
  }
  if (!end) return false;
  pending_.erase(0, pending_.find(form_.close) + form_.close.size());
  place_ = Place::before;
  inside_ = false;
  closed_ = true;
  return true;
}

bool TaggedSplitter::say(Parts& parts, bool last) {
  const auto mark = around_.find(pending_, 0);
  std::size_t certain = last ? pending_.size() : around_.certain(pending_);
  if (mark && mark->begin < certain) certain = mark->begin;
  parts.content.append(pending_, 0, certain);
  pending_.erase(0, certain);
  if (!mark || mark->begin != certain) return false;
  if (!last && around_.certain(pending_) == 0) return false;  // it may be the beginning of a longer one
  pending_.erase(0, mark->word.size());
  if (form_.reopens && mark->word == form_.open) place_ = Place::thinking;
  return true;
}

}  // namespace spectr

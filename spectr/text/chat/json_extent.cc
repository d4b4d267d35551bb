#include "spectr/text/chat/json_extent.h"

#include <utility>

namespace spectr {

JsonExtent::State JsonExtent::push(char c) {
  if (in_string_) {
    if (std::exchange(escaped_, false)) return State::open;
    escaped_ = c == '\\';
    in_string_ = c != '"';
    return State::open;
  }
  if (c == '{' || c == '[') {
    open_ += c == '{' ? '}' : ']';
    return open_.size() > max_depth ? State::invalid : State::open;
  }
  if (open_.empty()) return State::invalid;
  in_string_ = c == '"';
  if (c != '}' && c != ']') return State::open;
  if (open_.back() != c) return State::invalid;
  open_.pop_back();
  return open_.empty() ? State::complete : State::open;
}

std::size_t JsonExtent::length_of(std::string_view text) {
  JsonExtent extent;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const State state = extent.push(text[i]);
    if (state != State::open) return state == State::complete ? i + 1 : 0;
  }
  return 0;
}

}  // namespace spectr

#include "spectr/text/reasoning/harmony_splitter.h"

#include <utility>

#include "spectr/text/reasoning/splitting.h"

namespace spectr {
namespace {

constexpr std::string_view recipient_mark = "to=", function_prefix = "functions.";

/// Returns the recipient that a header names, or an empty string.
std::string_view recipient_of(std::string_view header) {
  const std::size_t at = header.find(recipient_mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = header.substr(at + recipient_mark.size());
  return rest.substr(0, rest.find_first_of(split_space));
}

}  // namespace

HarmonySplitter::HarmonySplitter(KeptMarks keeps)
    : keeps_(keeps),
      marks_({"<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|eom|>", "<|eot|>"}) {}

ReasoningSplitter::Parts HarmonySplitter::push(std::string_view text) {
  pending_ += text;
  Parts parts;
  if (!decide_beginning(false)) return parts;
  take_all(parts);
  take(marks_.certain(pending_), parts);
  return parts;
}

ReasoningSplitter::Parts HarmonySplitter::finish() {
  Parts parts;
  decide_beginning(true);
  take_all(parts);
  take(pending_.size(), parts);
  if (unmarked_) parts.content += std::exchange(header_, {});
  return parts;
}

/// Takes everything up to the last complete mark.
void HarmonySplitter::take_all(Parts& parts) {
  while (const auto mark = marks_.find(pending_, 0)) {
    take(mark->begin, parts);
    unmarked_ = false;
    const bool was_header = std::exchange(in_header_, mark->word != "<|message|>");
    in_name_ = mark->word == "<|channel|>";
    if (in_header_ && !was_header) end_message(mark->word, parts);
    if (in_header_ && mark->word != "<|constrain|>") channel_.clear();
    if (mark->word == "<|start|>") header_.clear();
    if (in_header_) header_ += ' ';
    pending_.erase(0, mark->word.size());
    if (!in_header_) begin_message(parts);
  }
}

/// Decides whether the answer begins with the recipient of the message whose header the prompt has begun.
bool HarmonySplitter::decide_beginning(bool last) {
  if (begun_) return true;
  const auto rest = std::string_view(pending_).substr(leading_split_space(pending_));
  if (!last && recipient_mark.starts_with(rest.substr(0, recipient_mark.size())) &&
      rest.size() < recipient_mark.size())
    return false;
  begun_ = true;
  in_header_ = unmarked_ = rest.starts_with(recipient_mark);
  return true;
}

/// Takes the first `count` pending bytes, which contain no mark.
void HarmonySplitter::take(std::size_t count, Parts& parts) {
  if (in_header_) header_.append(pending_, 0, count);
  if (in_name_) {
    channel_.append(pending_, 0, count);
  } else if (!in_header_ && count > 0) {
    const std::size_t from = std::exchange(skips_blank_, false) && pending_.front() == ' ' ? 1 : 0;
    bool& any = in_thoughts_ ? has_thoughts_ : has_content_;
    std::string text(!std::exchange(has_output_, true) && std::exchange(any, true) ? between_thoughts : "");
    text.append(pending_, from, count - from);
    if (in_thoughts_) {
      parts.think(text, keeps_.thoughts);
    } else {
      parts.content += text;
    }
  }
  pending_.erase(0, count);
}

/// Begins a message whose header is complete. The header of a call is content.
void HarmonySplitter::begin_message(Parts& parts) {
  if (in_thoughts_) parts.close_thoughts(keeps_.thoughts);
  has_output_ = false;
  skips_blank_ = channel_.starts_with(' ');
  const std::string header = std::exchange(header_, {});
  std::string_view recipient = recipient_of(header);
  in_thoughts_ = std::string_view(channel_).substr(leading_split_space(channel_)).starts_with("analysis") ||
                 recipient == "self";
  const bool has_channel = header.contains("commentary") || header.contains("analysis");
  if (keeps_.calls && recipient.starts_with(function_prefix)) {
    recipient.remove_prefix(function_prefix.size());
    parts.content.append(harmony_call_open).append(recipient).append(harmony_call_middle);
  } else if (keeps_.calls && !has_channel && !recipient.empty() && recipient != "self" &&
             recipient != "user") {
    parts.content.append(harmony_call_middle);
  } else {
    if (in_thoughts_ && keeps_.thoughts) parts.think("<|channel|>" + channel_ + "<|message|>", true);
    return;
  }
  has_output_ = has_content_ = true;
  in_thoughts_ = false;
}

void HarmonySplitter::end_message(std::string_view mark, Parts& parts) {
  if (!std::exchange(in_thoughts_, false)) return;
  if (keeps_.thoughts) {
    if (has_output_) parts.think(mark, true);
    has_content_ = false;  // no separator between kept thoughts and content
  }
  parts.close_thoughts(keeps_.thoughts);
}

}  // namespace spectr

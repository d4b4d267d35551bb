#include "spectr/text/reasoning.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "spectr/text/stop_words.h"

namespace spectr {
namespace {

using Kind = ReasoningForm::Kind;
using SplitParts = ReasoningSplitter::Parts;

constexpr std::string_view blanks = " \t\n\v\f\r";
constexpr std::string_view between_parts = "\n\n";

constexpr std::string_view cohere_response[] = {"<|START_RESPONSE|>", "<|END_RESPONSE|>"};
constexpr std::string_view granite_response[] = {"<response>", "</response>"};

struct Known {
  std::string_view mark;  // in the template
  ReasoningForm form;
};
constexpr Known forms[] = {
    {"<|start|>assistant", {Kind::harmony, "<|start|>assistant", ""}},  // gpt-oss
    {"<|channel>", {Kind::tagged, "<|channel>thought", "<channel|>"}},  // Gemma 4
    {"<|START_THINKING|>", {Kind::tagged, "<|START_THINKING|>", "<|END_THINKING|>", cohere_response}},
    {"[THINK]", {Kind::tagged, "[THINK]", "[/THINK]"}},                 // Magistral
    {"<seed:think>", {Kind::tagged, "<seed:think>", "</seed:think>"}},  // Seed-OSS
    {"<response>", {Kind::tagged, "<think>", "</think>", granite_response}},
    {"", {Kind::tagged, "<think>", "</think>"}},
};

std::size_t leading_space(std::string_view text) {
  return std::min(text.find_first_not_of(blanks), text.size());
}

/// Returns the length of the text without trailing white space.
std::size_t without_trailing_space(std::string_view text) {
  return text.find_last_not_of(blanks) + 1;  // npos + 1 is 0
}

std::vector<std::string> as_words(std::span<const std::string_view> texts) {
  return {texts.begin(), texts.end()};
}

/// Splits an answer with one or several blocks of tagged reasoning at its beginning.
class TaggedSplitter final : public ReasoningSplitter {
 public:
  explicit TaggedSplitter(const ReasoningForm& form)
      : form_(form), close_({std::string(form.close)}), around_(as_words(form.around)) {}

  SplitParts push(std::string_view text) override {
    pending_ += text;
    SplitParts parts;
    while (step(parts, false)) {
    }
    return parts;
  }

  SplitParts finish() override {
    SplitParts parts;
    while (step(parts, true)) {
    }
    return parts;
  }

 private:
  enum class Place { before, thinking, saying };

  /// Processes the pending text as far as possible; `last`: no more text follows. Returns true if another
  /// step may be possible.
  bool step(SplitParts& parts, bool last) {
    switch (place_) {
      case Place::before:
        return open(last);
      case Place::thinking:
        return think(parts, last);
      case Place::saying:
        say(parts, last);
        break;
    }
    return false;
  }

  bool open(bool last) {
    const std::size_t space = leading_space(pending_);
    const auto rest = std::string_view(pending_).substr(space);
    if (rest.starts_with(form_.open)) {
      pending_.erase(0, space + form_.open.size());
      place_ = Place::thinking;
      return true;
    }
    if (!last && form_.open.starts_with(rest)) return false;
    if (closed_) pending_.erase(0, space);  // white space after reasoning; otherwise it belongs to the answer
    place_ = Place::saying;
    return true;
  }

  bool think(SplitParts& parts, bool last) {
    const auto end = close_.find(pending_, 0);
    const std::size_t certain = end ? end->begin : last ? pending_.size() : close_.certain(pending_);
    const std::size_t kept = without_trailing_space(std::string_view(pending_).substr(0, certain));
    if (const std::size_t space = leading_space(pending_); space < kept) {
      const std::size_t from = inside_ ? 0 : space;
      if (!inside_ && thought_) parts.reasoning += between_parts;
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

  void say(SplitParts& parts, bool last) {
    while (const auto mark = around_.find(pending_, 0)) {
      parts.content.append(pending_, 0, mark->begin);
      pending_.erase(0, mark->begin + mark->word.size());
    }
    const std::size_t certain = last ? pending_.size() : around_.certain(pending_);
    parts.content.append(pending_, 0, certain);
    pending_.erase(0, certain);
  }

  const ReasoningForm& form_;
  StopWords close_, around_;
  Place place_ = Place::before;
  bool inside_ = false;   // the current block has produced output
  bool thought_ = false;  // some block has produced output
  bool closed_ = false;   // there was a block, perhaps an empty one
  std::string pending_;
};

/// Splits messages in channels: <|channel|>NAME …<|message|>TEXT<|end|><|start|>assistant<|channel|>… The
/// channel "analysis" has the reasoning, all others have content. Text without marks is content.
class HarmonySplitter final : public ReasoningSplitter {
 public:
  explicit HarmonySplitter(bool keeps_calls)
      : keeps_calls_(keeps_calls),
        marks_({"<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>"}) {}

  SplitParts push(std::string_view text) override {
    pending_ += text;
    SplitParts parts;
    while (const auto mark = marks_.find(pending_, 0)) {
      take(mark->begin, parts);
      in_name_ = mark->word == "<|channel|>";
      in_header_ = mark->word != "<|message|>";
      if (in_header_ && mark->word != "<|constrain|>") channel_.clear();
      if (mark->word == "<|start|>") header_.clear();
      if (in_header_) header_ += ' ';
      if (!in_header_) {
        told_ = false;
        begin_call(parts);
      }
      pending_.erase(0, mark->word.size());
    }
    take(marks_.certain(pending_), parts);
    return parts;
  }

  SplitParts finish() override {
    SplitParts parts;
    take(pending_.size(), parts);
    return parts;
  }

 private:
  /// Takes the first `count` bytes of the pending text, which have no mark.
  void take(std::size_t count, SplitParts& parts) {
    if (in_header_) header_.append(pending_, 0, count);
    if (in_name_) {
      channel_.append(pending_, 0, count);
    } else if (!in_header_ && count > 0) {
      std::string& out = channel_.starts_with("analysis") ? parts.reasoning : parts.content;
      bool& any = channel_.starts_with("analysis") ? thought_ : said_;
      if (!std::exchange(told_, true) && std::exchange(any, true)) out += between_parts;
      out.append(pending_, 0, count);
    }
    pending_.erase(0, count);
  }

  /// Writes the header of a message to a function, when the header has just ended.
  void begin_call(SplitParts& parts) {
    constexpr std::string_view to = "to=functions.";
    const std::string header = std::exchange(header_, {});
    const std::size_t at = header.find(to);
    if (!keeps_calls_ || at == std::string::npos) return;
    const auto name = std::string_view(header).substr(at + to.size());
    parts.content.append(harmony_call_open)
        .append(name.substr(0, name.find_first_of(blanks)))
        .append(harmony_call_middle);
    told_ = said_ = true;
    channel_.clear();  // a call is content in every channel
  }

  bool keeps_calls_;
  StopWords marks_;
  std::string header_;  // of the current message, without its marks
  bool in_header_ = false, in_name_ = false;
  bool told_ = false;  // the current message has produced output
  bool thought_ = false, said_ = false;
  std::string channel_;
  std::string pending_;
};

}  // namespace

const ReasoningForm& reasoning_form(std::string_view chat_template) {
  const auto speaks_of = [&](const Known& known) { return chat_template.contains(known.mark); };
  return std::ranges::find_if(forms, speaks_of)->form;
}

const ReasoningForm& with_calls(const ReasoningForm& form) {
  static constexpr ReasoningForm harmony{Kind::harmony, "<|start|>assistant", "", {}, true};
  return form.kind == Kind::harmony ? harmony : form;
}

std::string_view content_mark(const ReasoningForm& form, std::string_view begun) {
  if (form.kind == Kind::harmony) return "<|channel|>final<|message|>";
  const bool is_open = begun.contains(form.open) && !begun.contains(form.close);
  return is_open ? form.close : std::string_view();
}

ReasoningMarks reasoning_marks(const ReasoningForm& form) {
  if (form.kind == Kind::harmony) return {"<|channel|>analysis<|message|>", "<|end|><|start|>assistant"};
  return {form.open, form.close};
}

std::string begun_answer(const MarkedText& prompt, const ReasoningForm& form) {
  const auto pieces = prompt.pieces();
  const std::string_view quoted = !pieces.empty() && pieces.back().quoted ? pieces.back().bytes : "";
  const auto head = std::string_view(prompt.bytes()).substr(0, prompt.size() - quoted.size());
  std::string begun;
  if (const std::size_t open = head.rfind(form.open); open != std::string_view::npos) {
    const std::string_view behind = head.substr(open + form.open.size());
    if (form.kind == Kind::harmony) {
      begun = behind;
    } else if (leading_space(behind) == behind.size()) {
      begun = form.open;
    }
  }
  return begun.append(quoted);
}

std::unique_ptr<ReasoningSplitter> ReasoningSplitter::make(const ReasoningForm& form,
                                                           std::string_view begun) {
  std::unique_ptr<ReasoningSplitter> splitter;
  if (form.kind == Kind::harmony) {
    splitter = std::make_unique<HarmonySplitter>(form.keeps_calls);
  } else {
    splitter = std::make_unique<TaggedSplitter>(form);
  }
  splitter->push(begun);
  return splitter;
}

}  // namespace spectr

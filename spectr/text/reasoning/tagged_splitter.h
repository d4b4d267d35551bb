#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "spectr/text/reasoning.h"
#include "spectr/text/stop_words.h"

namespace spectr {

/// Splits thoughts at the beginning of an answer, between tags, perhaps in several such blocks.
class TaggedSplitter final : public ReasoningSplitter {
 public:
  TaggedSplitter(const ReasoningForm& form, KeptMarks keeps);

  Parts push(std::string_view text) override;
  Parts finish() override;

 private:
  enum class State { before, thoughts, content };

  bool step(Parts& parts, bool last);
  void take_mark(std::size_t size, Parts& parts);
  bool open(Parts& parts, bool last);
  bool read_thoughts(Parts& parts, bool last);
  bool read_content(Parts& parts, bool last);

  const ReasoningForm& form_;
  bool keeps_;  // thoughts are content, with their marks
  StopWords close_, around_;
  std::string_view content_mark_;  // begins the content; may be empty
  State state_ = State::before;
  bool inside_ = false;        // something of the current thoughts has been reported
  bool has_thoughts_ = false;  // some thoughts have been reported
  bool closed_ = false;        // thoughts have ended, perhaps empty ones
  std::string pending_;
};

}  // namespace spectr

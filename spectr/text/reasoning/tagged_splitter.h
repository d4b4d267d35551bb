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
  enum class Place { before, thinking, saying };

  bool step(Parts& parts, bool last);
  void take_mark(std::size_t size, Parts& parts);
  bool open(Parts& parts, bool last);
  bool think(Parts& parts, bool last);
  bool say(Parts& parts, bool last);

  const ReasoningForm& form_;
  bool keeps_;  // thoughts are content, with their marks
  StopWords close_, around_;
  std::string_view content_mark_;  // with which content begins; may be empty
  Place place_ = Place::before;
  bool inside_ = false;   // something of the thoughts at hand has been told
  bool thought_ = false;  // something of any thoughts
  bool closed_ = false;   // there have been thoughts, perhaps empty ones
  std::string pending_;
};

}  // namespace spectr

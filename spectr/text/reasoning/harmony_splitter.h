#pragma once

#include <string>
#include <string_view>

#include "spectr/text/reasoning.h"
#include "spectr/text/stop_words.h"

namespace spectr {

/// Splits messages with headers: <|channel|>NAME …<|message|>TEXT<|end|><|start|>assistant<|channel|>… The
/// channel "analysis" and messages to "self" contain the thoughts, all others content. A text without marks
/// is content.
class HarmonySplitter final : public ReasoningSplitter {
 public:
  explicit HarmonySplitter(KeptMarks keeps);

  Parts push(std::string_view text) override;
  Parts finish() override;

 private:
  void take_all(Parts& parts);
  bool decide_beginning(bool last);
  void take(std::size_t count, Parts& parts);
  void begin_message(Parts& parts);
  void end_message(std::string_view mark, Parts& parts);

  KeptMarks keeps_;
  StopWords marks_;
  bool begun_ = false;     // it is known whether the answer continues the header in the prompt
  bool unmarked_ = false;  // it seems to, but no mark has confirmed it yet
  std::string header_;     // of the message at hand, without its marks
  std::string channel_;    // of the message at hand
  bool in_header_ = false, in_name_ = false;
  bool in_thoughts_ = false;  // the message at hand has thoughts
  bool skips_blank_ = false;  // a blank follows each mark
  bool has_output_ = false;   // something of the current message has been reported
  bool has_thoughts_ = false, has_content_ = false;
  std::string pending_;
};

}  // namespace spectr

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/marked_text.h"

namespace spectr {

/// How models of a family separate reasoning from content.
struct ReasoningForm {
  enum class Kind {
    tagged,   ///< an answer may begin with reasoning between `open` and `close`
    harmony,  ///< an answer is a sequence of messages, each in a channel (gpt-oss)
  };
  Kind kind;
  std::string_view open;        ///< of harmony: what stands before an answer in a prompt
  std::string_view close = {};  ///< of tagged
  /// Marks around the content, which are not part of it.
  std::span<const std::string_view> around = {};
  bool reopens = false;  ///< thoughts may also follow content
  /// For harmony: the headers of thoughts and of content, and the end mark of thoughts.
  std::string_view thought_header = {}, content_header = {}, thought_end = {};
};

/// Which marks stay in the content of an answer.
struct KeptMarks {
  /// For harmony: a message to a function keeps its header, as harmony_call_open, the name of the function,
  /// and harmony_call_middle. Otherwise its text alone is content.
  bool calls = false;
  /// Thoughts are content, with their marks.
  bool thoughts = false;
};

inline constexpr std::string_view harmony_call_open = "<|channel|>commentary to=functions.",
                                  harmony_call_middle = "<|message|>";

/// Returns the form whose mark a chat template contains; tags <think> if there is none.
const ReasoningForm& reasoning_form(std::string_view chat_template);

/// Whether a chat template speaks of reasoning.
bool mentions_reasoning(std::string_view chat_template);

/// Returns the part of an answer that is already in the prompt: reasoning that the template opens, and a
/// quoted beginning of the answer.
std::string begun_answer(const MarkedText& prompt, const ReasoningForm& form);

/// Returns the mark after which the content of an answer begins, given its beginning `begun`. Empty: no
/// reasoning is open, so that the content may begin at once.
std::string_view content_mark(const ReasoningForm& form, std::string_view begun);

/// The marks that open and close reasoning at the beginning of an answer, as the model writes them.
struct ReasoningMarks {
  std::string_view open, close;
};
ReasoningMarks reasoning_marks(const ReasoningForm& form);

/// A stretch of thoughts in a part of an answer. Consecutive stretches are the same thoughts unless `closed`.
struct ThoughtSpan {
  std::size_t begin, size;  ///< in the reasoning, or in the content if the thoughts are `kept` there
  bool kept, closed;        ///< `closed`: the thoughts end with the stretch
};

/// Splits an answer into reasoning and content while it is generated. Marks belong to neither, nor does white
/// space around reasoning. An incomplete mark is held back.
class ReasoningSplitter {
 public:
  struct Parts {
    std::string reasoning, content;
    std::vector<ThoughtSpan> thoughts = {};  ///< in the order of the text

    /// Appends thoughts to the reasoning, or to the content if they are kept there.
    void think(std::string_view text, bool kept);
    void close_thoughts(bool kept);
  };

  /// `begun`: the answer's beginning, which is not told again. The form must outlive the splitter.
  static std::unique_ptr<ReasoningSplitter> make(const ReasoningForm& form, std::string_view begun = {},
                                                 KeptMarks keeps = {});
  virtual ~ReasoningSplitter() = default;

  /// Adds text of the answer. Returns the parts that are now certain. Cost: O(new text).
  virtual Parts push(std::string_view text) = 0;
  /// Returns the parts that were held back, at the end of the answer.
  virtual Parts finish() = 0;
};

}  // namespace spectr

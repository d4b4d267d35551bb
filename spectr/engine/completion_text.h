#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/decode/block.h"
#include "spectr/text/reasoning.h"
#include "spectr/text/stopping_text.h"

namespace spectr {

/// A token that the target could have sampled instead.
struct Alternative {
  Token token;
  std::string piece;
  double log_probability;
};

/// A generated token with its details, if the request asked for them.
struct TokenReport {
  Token token;
  std::string piece;   ///< its bytes, which can be a part of a character
  std::size_t offset;  ///< characters of the text before it
  std::size_t end;     ///< bytes of the text up to and including it
  Source source;
  double log_probability;                      ///< under the unfiltered target, as for the alternatives
  std::optional<double> target = {};           ///< probability under the distribution that verified it
  std::optional<double> draft = {};            ///< probability under the draft's distribution at its position
  std::vector<Alternative> alternatives = {};  ///< most likely first
  std::size_t block = 0;                       ///< index of its block
  double seconds = 0.0;  ///< generation time up to the end of that block, without the prompt
};

/// Log-probability of a prompt token given the previous ones, under the unfiltered target.
struct PromptScore {
  double log_probability;
  std::vector<Alternative> alternatives;  ///< most likely first
};

/// New text and tokens of a completion.
struct TextDelta {
  std::string text;                        ///< characters that later tokens cannot change
  std::string reasoning = {};              ///< the same for the reasoning, if it is split from the content
  std::vector<ThoughtSpan> thoughts = {};  ///< in both
  std::vector<TokenReport> tokens = {};
  /// Scores of all prompt tokens but the first, if the request wants them. They precede all text.
  std::vector<PromptScore> prompt = {};

  void append(TextDelta later);
};

/// Assembles the text of a completion from blocks of tokens. It ends the text at a stop sequence or a line
/// limit, and splits reasoning from content. Not thread-safe.
class CompletionText {
 public:
  /// The tokenizer must outlive this object. Without a splitter, all text is content. `min_indent`: see
  /// StoppingText.
  CompletionText(const Tokenizer& tokenizer, std::vector<std::string> stop_words,
                 std::unique_ptr<ReasoningSplitter> splitter = nullptr, std::size_t min_indent = 0)
      : tokenizer_(tokenizer),
        text_(tokenizer, std::move(stop_words), min_indent),
        splitter_(std::move(splitter)) {}

  /// Ends the completion after its next newline.
  void end_at_new_line() { text_.end_at_new_line(); }
  /// Adds a block. Once a stop sequence is complete or a line has ended the text, `kept()` returns how many
  /// tokens of that block belong to the completion.
  TextDelta add(const Block& block);
  std::optional<std::size_t> kept() const { return kept_; }
  /// Returns the stop sequence that ended the text, or an empty string.
  const std::string& stop_word() const { return text_.stop_word(); }
  /// Returns the number of tokens of the reasoning, including its marks; 0 without a splitter. A token of
  /// both reasoning and content counts.
  std::size_t reasoning_tokens() const { return reasoning_tokens_; }
  bool has_new_line() const { return text_.text().contains('\n'); }

  /// Returns the text that was held back, at the end of the completion.
  TextDelta finish();

 private:
  TokenReport report(const Block& block, std::size_t i) const;
  std::string_view release(std::size_t until);
  /// Adds released text, and attributes the tokens since the last part to the reasoning or the content.
  void split(ReasoningSplitter::Parts parts, TextDelta& delta);

  const Tokenizer& tokenizer_;
  StoppingText text_;
  std::unique_ptr<ReasoningSplitter> splitter_;
  std::size_t characters_ = 0;  // in the text
  std::size_t released_ = 0;
  std::size_t reasoning_tokens_ = 0, undecided_ = 0;  // undecided: text of these tokens is held back
  std::optional<std::size_t> kept_;
};

}  // namespace spectr

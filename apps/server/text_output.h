#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/decode/block.h"
#include "spectr/text/reasoning.h"
#include "spectr/text/stopping_text.h"

namespace spectr::server {

/// A token that the target might have taken.
struct Alternative {
  Token token;
  std::string piece;
  double log_probability;
};

/// A generated token, as clients may ask to see it.
struct TokenReport {
  Token token;
  std::string piece;   ///< its bytes, perhaps a part of a character
  std::size_t offset;  ///< characters of the text before it
  Source source;
  double log_probability;                      ///< under the unfiltered target, as those of the alternatives
  std::optional<double> target = {};           ///< under the target's distribution that it was verified with
  std::optional<double> draft = {};            ///< under the draft's distribution at its place
  std::vector<Alternative> alternatives = {};  ///< likeliest first
  std::size_t block = 0;                       ///< of the text that it came with
  double seconds = 0.0;  ///< spent on the text, its prompt aside, up to that block's end
};

/// How far the prompt of a completion has been read.
struct PromptProgress {
  std::size_t total = 0;      ///< tokens of the prompt
  std::size_t cached = 0;     ///< those that came from a cache
  std::size_t processed = 0;  ///< those that are there, cached ones included
  double seconds = 0.0;       ///< since a slot took it up
};

/// What is new of an answer: text that is certain, and tokens.
struct Chunk {
  std::string text;            ///< all of it, or what is said, where thoughts are told apart
  std::string reasoning = {};  ///< thoughts
  std::vector<TokenReport> tokens = {};
  std::vector<PromptProgress> progress = {};  ///< in the order of time; only where it was asked for

  /// Adds what came later.
  void append(Chunk later);
};

/// Turns blocks into pieces of text that end at a stop word.
class TextOutput {
 public:
  /// The tokenizer must outlive it. Without a splitter thoughts are not told apart.
  TextOutput(const Tokenizer& tokenizer, std::vector<std::string> stop_words,
             std::unique_ptr<ReasoningSplitter> splitter = nullptr)
      : tokenizer_(tokenizer), text_(tokenizer, std::move(stop_words)), splitter_(std::move(splitter)) {}

  /// Adds a block to the text. When a stop word is complete, `kept()` says how many of the block's tokens
  /// belong to the text before it.
  Chunk add(const Block& block);
  std::optional<std::size_t> kept() const { return kept_; }
  /// The stop word that ended the text; empty: none.
  const std::string& stop_word() const { return text_.stop_word(); }

  bool has_new_line() const { return text_.text().contains('\n'); }

  /// What was held back when the text ends.
  Chunk finish();

 private:
  TokenReport report(const Block& block, std::size_t i) const;
  std::string_view release(std::size_t until);

  const Tokenizer& tokenizer_;
  StoppingText text_;
  std::unique_ptr<ReasoningSplitter> splitter_;
  std::size_t characters_ = 0;  // of the text
  std::size_t released_ = 0;
  std::optional<std::size_t> kept_;
};

}  // namespace spectr::server

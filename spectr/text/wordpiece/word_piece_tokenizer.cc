#include "spectr/text/wordpiece/word_piece_tokenizer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spectr/base/utf8.h"
#include "spectr/text/visible_space.h"

namespace spectr {
namespace {

constexpr std::size_t longest_word = 100;  // characters

}  // namespace

Result<std::unique_ptr<Tokenizer>> WordPieceTokenizer::load(const Gguf& file, Vocabulary vocabulary) {
  BasicTextOptions options;
  SPECTR_TRY(options.lower_case, file.boolean("tokenizer.ggml.normalizer.lowercase", true));
  SPECTR_TRY(options.strip_accents,
             file.boolean("tokenizer.ggml.normalizer.strip_accents", options.lower_case));
  return std::unique_ptr<Tokenizer>(new WordPieceTokenizer(std::move(vocabulary), options));
}

WordPieceTokenizer::WordPieceTokenizer(Vocabulary vocabulary, const BasicTextOptions& options)
    : Tokenizer(std::move(vocabulary)), options_(options) {
  const auto size = static_cast<Token>(this->vocabulary().size());
  for (Token token = 0; token < size; ++token)
    longest_ = std::max(longest_, this->vocabulary().text(token).size());
}

std::string WordPieceTokenizer::text_piece(std::string_view text) const {
  return with_spaces(text);
}

/// Appends the tokens of a word with its visible space. Returns false if a part of it is not a token.
bool WordPieceTokenizer::encode_word(std::string_view word, std::vector<Token>& out) const {
  while (!word.empty()) {
    std::size_t length = std::min(word.size(), longest_);
    std::optional<Token> token;
    for (; length > 0 && !token; --length) token = vocabulary().find_plain(word.substr(0, length));
    if (!token) return false;
    out.push_back(*token);
    word.remove_prefix(vocabulary().text(*token).size());
  }
  return true;
}

void WordPieceTokenizer::encode_plain(std::string_view text, bool /*first*/, std::vector<Token>& out) const {
  for (const std::string& word : basic_words(text, options_)) {
    const std::size_t before = out.size();
    const bool known =
        utf8_characters(word) <= longest_word && encode_word(std::string(visible_space) + word, out);
    if (known) continue;
    out.resize(before);
    if (vocabulary().unknown()) out.push_back(*vocabulary().unknown());
  }
}

}  // namespace spectr

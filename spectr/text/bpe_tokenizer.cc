#include "spectr/text/bpe_tokenizer.h"

#include <utility>

#include "spectr/base/utf8.h"
#include "spectr/text/byte_alphabet.h"
#include "spectr/text/composed_text.h"

namespace spectr {
namespace {

constexpr int no_symbol = -1;  // a byte that is neither a token nor in a merge

std::string in_alphabet(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) append_alphabet_character(static_cast<unsigned char>(byte), out);
  return out;
}

/// Returns the bytes that a text in the alphabet encodes. Characters outside the alphabet stay as they are.
std::string from_alphabet(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    if (const auto byte = alphabet_byte(character)) {
      out += *byte;
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

BpeTokenizer::BpeTokenizer(Vocabulary words, BpeMerges merges)
    : Tokenizer(std::move(words)),
      pretokenizer_(vocabulary().pretokenizer()),
      whole_words_(vocabulary().pretokenizer().whole_words),
      merges_(std::move(merges)) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(byte);
    byte_symbols_[byte] = merges_.symbol(vocabulary(), in_alphabet({&character, 1})).value_or(no_symbol);
  }
}

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::load(const Gguf& file, Vocabulary vocabulary) {
  SPECTR_TRY(auto merges, BpeMerges::load(file, vocabulary));
  return std::unique_ptr<Tokenizer>(new BpeTokenizer(std::move(vocabulary), std::move(merges)));
}

std::string BpeTokenizer::text_piece(std::string_view text) const {
  return from_alphabet(text);
}

void BpeTokenizer::encode_plain(std::string_view text, bool /*first*/, std::vector<Token>& out) const {
  std::vector<Symbol> symbols;
  std::string composed;
  if (vocabulary().composes()) text = composed = composed_text(text);
  for (const std::string_view word : pretokenizer_.split(text)) encode_word(word, symbols, out);
}

void BpeTokenizer::encode_word(std::string_view word, std::vector<Symbol>& symbols,
                               std::vector<Token>& out) const {
  if (whole_words_) {
    if (const auto token = vocabulary().find_plain(in_alphabet(word))) {
      out.push_back(*token);
      return;
    }
  }
  const auto byte_symbol = [&](std::size_t at) {
    return byte_symbols_[static_cast<unsigned char>(word[at])];
  };
  symbols.clear();
  for (std::size_t at = 0; at < word.size(); ++at) symbols.push_back({at, 1, byte_symbol(at)});
  merges_.apply(symbols);
  for (const Symbol& symbol : symbols) {
    if (is_token(symbol.id)) {
      out.push_back(symbol.id);
      continue;
    }
    for (std::size_t at = symbol.begin; at < symbol.begin + symbol.length; ++at) {
      if (is_token(byte_symbol(at))) out.push_back(byte_symbol(at));
    }
  }
}

}  // namespace spectr

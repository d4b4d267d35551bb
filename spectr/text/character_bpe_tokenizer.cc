#include "spectr/text/character_bpe_tokenizer.h"

#include <algorithm>
#include <utility>

#include "spectr/base/utf8.h"
#include "spectr/text/visible_space.h"

namespace spectr {

CharacterBpeTokenizer::CharacterBpeTokenizer(Vocabulary words, BpeMerges merges)
    : Tokenizer(std::move(words)), merges_(std::move(merges)) {}

Result<std::unique_ptr<Tokenizer>> CharacterBpeTokenizer::load(const Gguf& file, Vocabulary vocabulary) {
  SPECTR_TRY(auto merges, BpeMerges::load(file, vocabulary));
  return std::unique_ptr<Tokenizer>(new CharacterBpeTokenizer(std::move(vocabulary), std::move(merges)));
}

std::string CharacterBpeTokenizer::text_piece(std::string_view text) const {
  return with_spaces(text);
}

void CharacterBpeTokenizer::encode_plain(std::string_view text, bool /*first*/,
                                         std::vector<Token>& out) const {
  const std::string written = with_visible_spaces(text, false);
  std::string_view rest = written;
  while (!rest.empty()) {
    const std::size_t lines = std::min(rest.find_first_not_of('\n'), rest.size());
    if (const auto token = vocabulary().find_plain(rest.substr(0, lines))) {
      out.push_back(*token);
    } else {
      encode_word(rest.substr(0, lines), out);
    }
    rest.remove_prefix(lines);
    const std::size_t word = std::min(rest.find('\n'), rest.size());
    encode_word(rest.substr(0, word), out);
    rest.remove_prefix(word);
  }
}

void CharacterBpeTokenizer::encode_word(std::string_view word, std::vector<Token>& out) const {
  constexpr int no_symbol = -1;
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (std::size_t at = 0; at < word.size(); at += symbols.back().length) {
    const std::string_view character = first_character(word.substr(at));
    symbols.push_back({at, character.size(), merges_.symbol(vocabulary(), character).value_or(no_symbol)});
  }
  merges_.apply(symbols);
  for (const Symbol& symbol : symbols) {
    if (static_cast<std::size_t>(symbol.id) < vocabulary().size()) {  // no_symbol is not a token
      out.push_back(symbol.id);
      continue;
    }
    for (std::size_t at = symbol.begin; at < symbol.begin + symbol.length;) {
      const std::string_view character = first_character(word.substr(at));
      if (const auto token = vocabulary().find_plain(character)) {
        out.push_back(*token);
      } else {
        encode_bytes(character, out);
      }
      at += character.size();
    }
  }
}

}  // namespace spectr

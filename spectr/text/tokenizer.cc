#include "spectr/text/tokenizer.h"

#include <algorithm>
#include <cstdint>

#include "spectr/text/bpe_tokenizer.h"
#include "spectr/text/character_bpe_tokenizer.h"
#include "spectr/text/spm_tokenizer.h"
#include "spectr/text/text_stream.h"
#include "spectr/text/wordpiece/word_piece_tokenizer.h"

namespace spectr {

Result<std::unique_ptr<Tokenizer>> Tokenizer::load(const Gguf& file) {
  SPECTR_TRY(auto vocabulary, Vocabulary::load(file));
  switch (vocabulary.type()) {
    case TokenizerType::sentencepiece:
      return SpmTokenizer::load(file, std::move(vocabulary));
    case TokenizerType::character_bpe:
      return CharacterBpeTokenizer::load(file, std::move(vocabulary));
    case TokenizerType::word_piece:
      return WordPieceTokenizer::load(file, std::move(vocabulary));
    case TokenizerType::byte_level:
      break;
  }
  return BpeTokenizer::load(file, std::move(vocabulary));
}

std::vector<Token> Tokenizer::encode(std::string_view text, const TokenizeOptions& options) const {
  std::vector<Token> tokens = encode(specials_.split(text, options.parse_special), options.add_bos);
  if (options.add_eos && vocabulary_.add_eos()) tokens.push_back(*vocabulary_.eos());
  return tokens;
}

std::vector<Token> Tokenizer::encode(const MarkedText& text, bool add_bos) const {
  return encode(specials_.split(text), add_bos);
}

std::vector<Token> Tokenizer::encode(std::span<const Fragment> fragments, bool add_bos) const {
  std::vector<Token> tokens;
  const bool begins =
      !fragments.empty() && fragments.front().token && fragments.front().token == vocabulary_.bos();
  if (add_bos && vocabulary_.add_bos() && !begins) tokens.push_back(*vocabulary_.bos());
  bool first = true;
  for (const Fragment& fragment : fragments) {
    if (fragment.token) {
      tokens.push_back(*fragment.token);
    } else {
      encode_plain(fragment.text, first, tokens);
    }
    first = fragment.token.has_value();
  }
  return tokens;
}

void Tokenizer::encode_bytes(std::string_view character, std::vector<Token>& out) const {
  const auto byte_token = [&](char byte) { return vocabulary_.byte_token(static_cast<std::uint8_t>(byte)); };
  if (std::ranges::all_of(character, [&](char byte) { return byte_token(byte).has_value(); })) {
    for (const char byte : character) out.push_back(*byte_token(byte));
  } else if (vocabulary_.unknown()) {
    out.push_back(*vocabulary_.unknown());
  }
}

std::string Tokenizer::piece(Token token) const {
  if (!vocabulary_.is_printed(token)) return "";
  switch (vocabulary_.kind(token)) {
    case TokenKind::byte:
      return {vocabulary_.byte(token)};
    case TokenKind::normal:
      return text_piece(vocabulary_.text(token));
    default:
      return vocabulary_.text(token);
  }
}

std::string Tokenizer::decode(std::span<const Token> tokens, bool all) const {
  TextStream stream(*this, TextStream::Start::text);
  std::string text;
  for (const Token token : tokens) {
    text += stream.push(token);
    if (all && !vocabulary_.is_printed(token)) text += stream.finish() + vocabulary_.text(token);
  }
  return text + stream.finish();
}

}  // namespace spectr

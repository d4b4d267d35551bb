#include "spectr/text/tokenizer.h"

#include "spectr/text/bpe_tokenizer.h"
#include "spectr/text/spm_tokenizer.h"
#include "spectr/text/text_stream.h"

namespace spectr {

Result<std::unique_ptr<Tokenizer>> Tokenizer::load(const Gguf& file) {
  SPECTR_TRY(auto vocabulary, Vocabulary::load(file));
  if (vocabulary.type() == TokenizerType::sentencepiece)
    return SpmTokenizer::load(file, std::move(vocabulary));
  return BpeTokenizer::load(file, std::move(vocabulary));
}

std::vector<Token> Tokenizer::encode(std::string_view text, const TokenizeOptions& options) const {
  return encode(specials_.split(text, options.parse_special), options.add_bos);
}

std::vector<Token> Tokenizer::encode(const MarkedText& text, bool add_bos) const {
  return encode(specials_.split(text), add_bos);
}

std::vector<Token> Tokenizer::encode(std::span<const Fragment> fragments, bool add_bos) const {
  std::vector<Token> tokens;
  if (add_bos && vocabulary_.add_bos()) tokens.push_back(*vocabulary_.bos());
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

std::string Tokenizer::piece(Token token) const {
  switch (vocabulary_.kind(token)) {
    case TokenKind::control:
    case TokenKind::unknown:
    case TokenKind::unused:
      return "";
    case TokenKind::byte:
      return {vocabulary_.byte(token)};
    case TokenKind::user_defined:
      return vocabulary_.text(token);
    case TokenKind::normal:
      break;
  }
  return text_piece(vocabulary_.text(token));
}

std::string Tokenizer::decode(std::span<const Token> tokens, bool all) const {
  TextStream stream(*this, TextStream::Start::text);
  std::string text;
  for (const Token token : tokens) {
    text += stream.push(token);
    const TokenKind kind = vocabulary_.kind(token);
    const bool prints = kind != TokenKind::control && kind != TokenKind::unknown && kind != TokenKind::unused;
    if (all && !prints) text += stream.finish() + vocabulary_.text(token);
  }
  return text + stream.finish();
}

}  // namespace spectr

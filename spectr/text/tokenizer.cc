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
  std::vector<Token> tokens;
  if (options.add_bos && vocabulary_.add_bos()) tokens.push_back(*vocabulary_.bos());
  bool first = true;
  for (const Fragment& fragment : specials_.split(text, options.parse_special)) {
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
      return "";
    case TokenKind::byte:
      return {vocabulary_.byte(token)};
    case TokenKind::user_defined:
      return vocabulary_.text(token);
    case TokenKind::normal:
    case TokenKind::unused:
      break;
  }
  return text_piece(vocabulary_.text(token));
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  TextStream stream(*this, TextStream::Start::text);
  std::string text;
  for (const Token token : tokens) text += stream.push(token);
  return text + stream.finish();
}

}  // namespace spectr

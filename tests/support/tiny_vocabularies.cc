#include "tests/support/tiny_vocabularies.h"

#include "spectr/text/byte_alphabet.h"

namespace spectr {
namespace {

/// Tokens with their kinds and scores, as three parallel arrays of a file.
struct Tokens {
  std::vector<std::string> texts;
  std::vector<std::int32_t> kinds;
  std::vector<float> scores;

  void add(std::string text, TokenKind kind, float score = 0) {
    texts.push_back(std::move(text));
    kinds.push_back(static_cast<std::int32_t>(kind));
    scores.push_back(score);
  }
};

}  // namespace

GgufWriter tiny_sentencepiece() {
  Tokens tokens;
  tokens.add("<unk>", TokenKind::unknown);
  tokens.add("<s>", TokenKind::control);
  tokens.add("</s>", TokenKind::control);
  for (int byte = 0; byte < 256; ++byte) tokens.add(fmt::format("<0x{:02X}>", byte), TokenKind::byte);
  float score = 0;
  for (const char* text : {"ab", "bc", "abc", "\u2581a", "\u2581ab", "\u2581", "a", "b", "c"}) {
    tokens.add(text, TokenKind::normal, score -= 1);
  }
  tokens.add("<tool>", TokenKind::user_defined);
  return GgufWriter()
      .set("tokenizer.ggml.model", "llama")
      .set("tokenizer.ggml.tokens", tokens.texts)
      .set("tokenizer.ggml.scores", tokens.scores)
      .set("tokenizer.ggml.token_type", tokens.kinds);
}

GgufWriter tiny_byte_level(std::string_view pretokenizer) {
  Tokens tokens;
  for (int byte = 0; byte < 256; ++byte) {
    std::string character;
    append_alphabet_character(static_cast<unsigned char>(byte), character);
    tokens.add(character, TokenKind::normal);
  }
  for (const char* text : {"he", "ll", "hell", "hello", "\u0120hello"}) tokens.add(text, TokenKind::normal);
  tokens.add("<tool>", TokenKind::user_defined);
  tokens.add("<|im_end|>", TokenKind::control);
  const auto last = static_cast<std::uint32_t>(tokens.texts.size() - 1);
  return GgufWriter()
      .set("tokenizer.ggml.model", "gpt2")
      .set("tokenizer.ggml.pre", pretokenizer)
      .set("tokenizer.ggml.tokens", tokens.texts)
      .set("tokenizer.ggml.token_type", tokens.kinds)
      .set("tokenizer.ggml.merges", std::vector<std::string>{"l l", "h e", "he ll", "hell o", "\u0120 hello"})
      .set("tokenizer.ggml.bos_token_id", last)
      .set("tokenizer.ggml.eos_token_id", last);
}

Result<Vocabulary> load_vocabulary(const GgufWriter& writer) {
  const std::vector<std::byte> bytes = writer.bytes();
  SPECTR_TRY(const auto file, Gguf::parse(bytes, "tiny.gguf"));
  return Vocabulary::load(file);
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const GgufWriter& writer) {
  const std::vector<std::byte> bytes = writer.bytes();
  SPECTR_TRY(const auto file, Gguf::parse(bytes, "tiny.gguf"));
  return Tokenizer::load(file);
}

std::unique_ptr<Tokenizer> good_tokenizer(const GgufWriter& writer) {
  return load_tokenizer(writer).value();
}

}  // namespace spectr

// Any vocabulary must be read or refused with an error. A vocabulary that was read must encode and decode any
// text; if it covers all bytes, decoding restores the text, composed if the vocabulary composes.
//
// The first byte selects the vocabulary: 0 a tiny SentencePiece vocabulary, 1 a tiny byte-level one with the
// rule selected by the second byte, otherwise a GGUF file of 256·B + C input bytes, where B and C are the
// second and the third byte. The rest is the text.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "spectr/text/composed_text.h"
#include "spectr/text/tokenizer.h"
#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

constexpr std::string_view rules[] = {"gpt-2",        "starcoder",      "falcon", "default", "llama-bpe",
                                      "qwen2",        "tekken",         "gpt-4o", "qwen35",  "glm4",
                                      "deepseek-llm", "deepseek-coder", "lfm2"};

void require(bool holds) {
  if (!holds) std::abort();
}

/// Encodes and decodes with special tokens, then returns the text after encoding and decoding plainly.
std::string there_and_back(const Tokenizer& tokenizer, std::string_view text) {
  for (const Token token : tokenizer.encode(text, {.parse_special = true})) {
    require(token >= 0 && static_cast<std::size_t>(token) < tokenizer.vocabulary().size());
    require(tokenizer.piece(token).size() <= tokenizer.vocabulary().text(token).size());
  }
  return tokenizer.decode(tokenizer.encode(text, {.add_bos = false}));
}

const Tokenizer& tiny_spm() {
  static const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  return *tokenizer;
}

const Tokenizer& tiny_bpe(std::size_t rule) {
  static const auto tokenizers = [] {
    std::vector<std::unique_ptr<Tokenizer>> all;
    for (const std::string_view name : rules) all.push_back(good_tokenizer(tiny_byte_level(name)));
    return all;
  }();
  return *tokenizers[rule];
}

void fuzz_file(std::string_view input, std::size_t size) {
  const std::string_view bytes = input.substr(0, size);
  const std::vector<char> aligned(bytes.begin(), bytes.end());
  const auto file = Gguf::parse(std::as_bytes(std::span(aligned)), "fuzz.gguf");
  if (!file) return;
  if (const auto tokenizer = Tokenizer::load(*file)) there_and_back(**tokenizer, input.substr(bytes.size()));
}

void fuzz(std::string_view input) {
  if (input.size() < 3) return;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(input[i]));
  };
  const std::string_view text = input.substr(2);
  if (byte(0) == 0) {
    const bool has_visible_space = text.find("\u2581") != std::string_view::npos;
    require(there_and_back(tiny_spm(), text) == text || has_visible_space);
  } else if (byte(0) == 1) {
    const Tokenizer& tokenizer = tiny_bpe(byte(1) % std::size(rules));
    const std::string expected = tokenizer.vocabulary().composes() ? composed_text(text) : std::string(text);
    require(there_and_back(tokenizer, text) == expected);
  } else {
    fuzz_file(input.substr(3), byte(1) << 8 | byte(2));
  }
}

}  // namespace
}  // namespace spectr

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spectr::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Text → ids → text gives the text back, whatever the text, for vocabularies that can express every byte.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;
  std::unique_ptr<Tokenizer> tokenizer;
};

void add_file(const fs::path& path, std::vector<Case>& cases) {
  if (!fs::exists(path)) return;
  const auto file = Gguf::open(path);
  ASSERT_TRUE(file) << file.error().message;
  auto tokenizer = Tokenizer::load(*file);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  cases.push_back({path.filename(), std::move(*tokenizer)});
}

/// Tiny vocabularies for every rule, GPT-2's, and others where they are at hand.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> out;
    out.push_back({"sentencepiece", good_tokenizer(tiny_sentencepiece())});
    for (const char* rule :
         {"gpt-2", "llama-bpe", "qwen2", "gpt-neox", "falcon", "starcoder", "refact", "deepseek-llm",
          "deepseek-coder", "mpt", "smollm", "olmo", "tekken", "default"}) {
      out.push_back({rule, good_tokenizer(tiny_byte_level(rule))});
    }
    add_file(SPECTR_SOURCE_DIR "/tests/data/ggml-vocab-gpt-2.gguf", out);
    const fs::path extra = SPECTR_EXTRA_DATA;
    for (const char* name :
         {"vocab/ggml-vocab-llama-spm.gguf", "vocab/vocab-llama-bpe.gguf", "vocab/vocab-qwen2.gguf",
          "models/spectr-stories-draft-0.3m-f16.gguf", "models/stories260K-f32.gguf"}) {
      add_file(extra / name, out);
    }
    return out;
  }();
  return all;
}

void expect_round_trip(const std::string& text) {
  for (const auto& [name, tokenizer] : cases()) {
    const auto tokens = tokenizer->encode(text);
    EXPECT_EQ(tokenizer->decode(tokens), text) << name;
    for (const Token token : tokens)
      EXPECT_LT(static_cast<std::size_t>(token), tokenizer->vocabulary().size());
  }
}

void append(unsigned code_point, std::string& out) {
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
    return;
  }
  int follow = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
  constexpr unsigned marks[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(marks[follow] | code_point >> (6 * follow));
  while (follow-- > 0) out += static_cast<char>(0x80 | (code_point >> (6 * follow) & 0x3F));
}

TEST(RoundTrip, EdgesOfTexts) {
  for (const char* text : {"", " ", "  ", "\n", " a", "a ", "  a  ", "\t\n \r\n", "a<tool> b", "<tool>",
                           " <tool>a", "<s>", "<0x41>", "\u180E \u3000", "I'm  'S \u4F60\u597D 12345"}) {
    expect_round_trip(text);
  }
}

TEST(RoundTrip, RandomCharacters) {
  std::mt19937 random(3);
  constexpr unsigned limits[] = {0x80, 0x80, 0x250, 0x3100, 0xFFFF, 0x20000, 0x10FFFF};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (unsigned n = random() % 40; n > 0; --n) {
      const unsigned code_point = random() % limits[random() % std::size(limits)];
      const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
      const bool written_space = code_point == 0x2581;  // SentencePiece's own sign for a space
      if (!surrogate && !written_space) append(code_point, text);
    }
    expect_round_trip(text);
  }
}

TEST(RoundTrip, RandomBytes) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 40, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    if (text.find("\u2581") == std::string::npos) expect_round_trip(text);
  }
}

TEST(RoundTrip, Prompts) {
  const fs::path path = fs::path(SPECTR_EXTRA_DATA) / "prompts" / "humaneval.jsonl";
  if (!fs::exists(path)) GTEST_SKIP() << "needs " << path;
  std::ifstream lines(path);
  int count = 0;
  for (std::string line; count < 40 && std::getline(lines, line); ++count) expect_round_trip(line);
  EXPECT_EQ(count, 40);
}

}  // namespace
}  // namespace spectr

// Text → ids → text is the identity for vocabularies that can express every byte, or yields the
// composed text if the vocabulary composes.

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "spectr/text/composed_text.h"
#include "tests/support/data.h"
#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

void expect_round_trip(const Tokenizer& tokenizer, const std::string& text) {
  const auto tokens = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(tokens), tokenizer.vocabulary().composes() ? composed_text(text) : text);
  for (const Token token : tokens) {
    EXPECT_LT(static_cast<std::size_t>(token), tokenizer.vocabulary().size());
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

const std::vector<std::string> edges = {"",
                                        " ",
                                        "  ",
                                        "\n",
                                        " a",
                                        "a ",
                                        "  a  ",
                                        "\t\n \r\n",
                                        "a<tool> b",
                                        "<tool>",
                                        " <tool>a",
                                        "<s>",
                                        "<0x41>",
                                        "\u180E \u3000",
                                        "I'm  'S \u4F60\u597D 12345"};

std::vector<std::string> random_characters() {
  std::mt19937 random(3);
  constexpr unsigned limits[] = {0x80, 0x80, 0x250, 0x3100, 0xFFFF, 0x20000, 0x10FFFF};
  std::vector<std::string> texts(300);
  for (std::string& text : texts) {
    for (unsigned n = random() % 40; n > 0; --n) {
      const unsigned code_point = random() % limits[random() % std::size(limits)];
      const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
      const bool written_space = code_point == 0x2581;  // SentencePiece's own escape for a space
      if (!surrogate && !written_space) append(code_point, text);
    }
  }
  return texts;
}

std::vector<std::string> random_bytes() {
  std::mt19937 random(4);
  std::vector<std::string> texts(300);
  for (std::string& text : texts) {
    text.resize(random() % 40);
    for (char& byte : text) byte = static_cast<char>(random());
    if (text.find("\u2581") != std::string::npos) text.clear();
  }
  return texts;
}

void expect_round_trips(const Tokenizer& tokenizer) {
  for (const auto& texts : {edges, random_characters(), random_bytes()}) {
    for (const std::string& text : texts) expect_round_trip(tokenizer, text);
  }
}

TEST(RoundTrip, OfATinySentencePieceVocabulary) {
  expect_round_trips(*good_tokenizer(tiny_sentencepiece()));
}

class RoundTripByRule : public testing::TestWithParam<const char*> {};

TEST_P(RoundTripByRule, GivesEveryTextBack) {
  expect_round_trips(*good_tokenizer(tiny_byte_level(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Rules, RoundTripByRule,
                         testing::Values("gpt-2", "llama-bpe", "qwen2", "gpt-neox", "falcon", "starcoder",
                                         "refact", "deepseek-llm", "deepseek-coder", "mpt", "smollm", "olmo",
                                         "tekken", "default"));

class RoundTripOf : public testing::TestWithParam<const char*> {};

TEST_P(RoundTripOf, GivesEveryTextBack) {
  const auto path = find_data(GetParam());
  if (!path) GTEST_SKIP() << "needs the extra data's " << GetParam();
  const auto tokenizer = Tokenizer::load(Gguf::open(*path).value()).value();
  expect_round_trips(*tokenizer);
}

TEST_P(RoundTripOf, GivesProgramsBack) {
  const auto path = find_data(GetParam()), prompts = find_data("prompts/humaneval.jsonl");
  if (!path || !prompts)
    GTEST_SKIP() << "needs the extra data's " << GetParam() << " and prompts/humaneval.jsonl";
  const auto tokenizer = Tokenizer::load(Gguf::open(*path).value()).value();
  std::ifstream lines(*prompts);
  int count = 0;
  for (std::string line; count < 40 && std::getline(lines, line); ++count) {
    expect_round_trip(*tokenizer, line);
  }
  EXPECT_EQ(count, 40);
}

INSTANTIATE_TEST_SUITE_P(Files, RoundTripOf,
                         testing::Values("ggml-vocab-gpt-2.gguf", "vocab/ggml-vocab-llama-spm.gguf",
                                         "vocab/vocab-llama-bpe.gguf", "vocab/vocab-qwen2.gguf",
                                         "models/spectr-stories-draft-0.3m-f16.gguf",
                                         "models/stories260K-f32.gguf"));

}  // namespace
}  // namespace spectr

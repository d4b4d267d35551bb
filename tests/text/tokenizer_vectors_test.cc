// Vocabularies with texts and their ids: X.gguf, X.gguf.inp with the texts, X.gguf.out with a line of ids for
// each, without BOS. Published models have llama.cpp's own test vectors. Generated vocabularies have the ids
// of Hugging Face's tokenizers with the rule of the family in their name, and merges that cross its word
// boundaries, so that a wrong split changes the ids.

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "spectr/text/tokenizer.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAreArray;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::vector<std::string> texts_of(const fs::path& path) {
  constexpr std::string_view separator = "\n__ggml_vocab_test__\n";
  const std::string all = read(path);
  std::vector<std::string> texts;
  std::size_t begin = 0;
  for (std::size_t end = all.find(separator); end != std::string::npos; end = all.find(separator, begin)) {
    texts.push_back(all.substr(begin, end - begin));
    begin = end + separator.size();
  }
  if (begin < all.size()) texts.push_back(all.substr(begin));
  return texts;
}

std::vector<std::vector<Token>> ids_of(const fs::path& path) {
  std::vector<std::vector<Token>> ids;
  std::istringstream lines(read(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    ids.emplace_back(std::istream_iterator<Token>(numbers), std::istream_iterator<Token>());
  }
  return ids;
}

void expect_vectors(const fs::path& vocabulary) {
  const auto file = Gguf::open(vocabulary);
  ASSERT_TRUE(file) << file.error().message;
  const auto tokenizer = Tokenizer::load(*file);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto texts = texts_of(vocabulary.string() + ".inp");
  const auto ids = ids_of(vocabulary.string() + ".out");
  ASSERT_GT(texts.size(), 20U);
  ASSERT_EQ(texts.size(), ids.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(testing::PrintToString(texts[i]));
    const auto tokens = (*tokenizer)->encode(texts[i], {.add_bos = false});
    EXPECT_THAT(tokens, ElementsAreArray(ids[i]));
    EXPECT_EQ((*tokenizer)->decode(tokens), texts[i]);
  }
}

void expect_extra_vectors(const fs::path& name) {
  const fs::path path = extra_data_folder() / name;
  if (!fs::exists(path)) GTEST_SKIP() << "needs the extra data's " << name.string();
  expect_vectors(path);
}

TEST(TokenizerVectors, MatchThoseOfGpt2) {
  expect_vectors((source_folder() / "tests/data/ggml-vocab-gpt-2.gguf").string());
}
TEST(TokenizerVectors, MatchThoseOfLlama2) {
  expect_extra_vectors("vocab/ggml-vocab-llama-spm.gguf");
}
TEST(TokenizerVectors, MatchThoseOfLlama3) {
  expect_extra_vectors("vocab/vocab-llama-bpe.gguf");
}
TEST(TokenizerVectors, MatchThoseOfQwen2) {
  expect_extra_vectors("vocab/vocab-qwen2.gguf");
}
TEST(TokenizerVectors, MatchThoseOfQwen35) {
  expect_extra_vectors("vocab2/ggml-vocab-qwen35.gguf");
}
TEST(TokenizerVectors, MatchThoseOfGemma4) {
  expect_extra_vectors("vocab2/ggml-vocab-gemma-4.gguf");
}

class MadeVectors : public testing::TestWithParam<std::string> {};

TEST_P(MadeVectors, MatchThoseOfTheRulesFamily) {
  expect_extra_vectors("vocab2/vocab-made-" + GetParam() + ".gguf");
}

INSTANTIATE_TEST_SUITE_P(OfRule, MadeVectors,
                         testing::Values("chatglm-bpe", "dbrx", "deepseek-v3", "falcon3", "glm4", "gpt-4o",
                                         "lfm2", "llama4", "qwen35", "refact", "smaug-bpe", "smollm",
                                         "tekken"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace spectr

// Prompts and greedy continuations of real models, with llama.cpp's ids and text: PROMPT, PROMPT_IDS, a line
// for each generated token that begins with its id, TEXT, and in some files ===.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "spectr/text/text_stream.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

struct Example {
  std::string prompt;
  std::vector<Token> prompt_ids, ids;
  std::string text;
};

std::vector<Token> numbers(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<Token>(in), std::istream_iterator<Token>()};
}

std::vector<Example> read(const fs::path& path) {
  std::ifstream file(path);
  std::vector<Example> examples;
  bool in_text = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("PROMPT ")) {
      in_text = false;
      examples.push_back({.prompt = line.substr(7), .prompt_ids = {}, .ids = {}, .text = {}});
    } else if (line.starts_with("PROMPT_IDS ")) {
      examples.back().prompt_ids = numbers(line.substr(11));
    } else if (line.starts_with("TEXT ")) {
      examples.back().text = line.substr(5);
      in_text = true;
    } else if (line == "===") {
      in_text = false;
    } else if (in_text) {
      examples.back().text += "\n" + line;
    } else if (!numbers(line).empty()) {
      examples.back().ids.push_back(numbers(line).front());
    }
  }
  return examples;
}

void expect_agreement(const std::string& model) {
  const auto golden = find_data("golden/" + model + ".txt"), weights = find_data("models/" + model + ".gguf");
  if (!golden || !weights)
    GTEST_SKIP() << "needs the extra data's golden/" << model << ".txt and models/" << model << ".gguf";
  const auto file = Gguf::open(*weights);
  ASSERT_TRUE(file) << file.error().message;
  const auto tokenizer = Tokenizer::load(*file);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto examples = read(*golden);
  ASSERT_GE(examples.size(), 4U);
  for (const Example& example : examples) {
    EXPECT_EQ((*tokenizer)->encode(example.prompt), example.prompt_ids) << example.prompt;
    TextStream stream(**tokenizer, TextStream::Start::continuation);
    std::string text;
    for (const Token token : example.ids) text += stream.push(token);
    EXPECT_EQ(text + stream.finish(), example.text) << example.prompt;
  }
}

TEST(TokenizerGolden, AgreesOnCharacters) {
  expect_agreement("babyllama-105-f32");
}
TEST(TokenizerGolden, AgreesOnSentencePieceOf512) {
  expect_agreement("stories260K-f32");
}
TEST(TokenizerGolden, AgreesOnSentencePieceOf4096) {
  expect_agreement("spectr-stories-7m-f16");
}
TEST(TokenizerGolden, AgreesOnByteLevelOf14019) {
  expect_agreement("tinystories-instruct-3M-chat-q4_0");
}

}  // namespace
}  // namespace spectr

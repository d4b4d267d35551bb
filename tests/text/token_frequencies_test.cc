#include "spectr/text/token_frequencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/real_model.h"

namespace spectr {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

class TokenFrequenciesTest : public testing::Test {
 protected:
  const Vocabulary& vocabulary() const { return model_.tokenizer->vocabulary(); }

  std::string written(const std::string& text) {
    const auto path =
        std::filesystem::path(testing::TempDir()) /
        ("frequencies-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  std::string problem_of(const std::string& text) {
    const auto read = TokenFrequencies::read(written(text), vocabulary());
    return read ? "none" : read.error().message;
  }

  std::string head() const { return TokenFrequencies(vocabulary()).file(0); }

  RealModel model_ = RealModel::load(tiny_target);
};

TEST_F(TokenFrequenciesTest, TheMostFrequentComeFirstAndTiesByTheLowerId) {
  TokenFrequencies frequencies(vocabulary());
  frequencies.add(std::vector<Token>{9, 7, 7, 300, 9, 7, 12, 300});
  std::vector<Token> tokens;
  for (const auto& count : frequencies.ranked()) tokens.push_back(count.token);
  EXPECT_THAT(tokens, ElementsAre(7, 9, 300, 12));
  const auto read = TokenFrequencies::read(written(frequencies.file(3)), vocabulary());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read, ElementsAre(7, 9, 300));
}

TEST_F(TokenFrequenciesTest, FilesOfAnotherFormOrVocabularyAreRefusedByLine) {
  EXPECT_THAT(problem_of("1 2\n"), HasSubstr("is not a file of token frequencies"));
  EXPECT_THAT(problem_of("spectr-token-frequencies 1 512 0123456789abcdef\n1 2\n"),
              HasSubstr("is of another vocabulary than"));
  EXPECT_THAT(problem_of(head() + "5 1\n512 1\n"), HasSubstr("line 3: token 512 is outside the vocabulary"));
  EXPECT_THAT(problem_of(head() + "5 1\n5 1\n"), HasSubstr("line 3: token 5 stands there twice"));
  for (const std::string line : {"x 1", "5", "5 ", "5 1 1", "-5 1", "", "5 x"})
    EXPECT_THAT(problem_of(head() + line + "\n"), HasSubstr("line 2 must be a token and how often")) << line;
  EXPECT_EQ(problem_of(head() + "5 1\r\n6 1"), "none");
}

TEST_F(TokenFrequenciesTest, AShortlistAlwaysHasTheTokensThatEndTexts) {
  std::vector<Token> expected = {4, 5, 9};
  expected.insert(expected.end(), vocabulary().ends().begin(), vocabulary().ends().end());
  std::ranges::sort(expected);
  EXPECT_EQ(shortlist_of({9, 5, 4, 5}, vocabulary()), expected);
}

}  // namespace
}  // namespace spectr

// Sequence breakers as the tokens that can spell them.
#include "spectr/engine/rules/sequence_breakers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/engine/bundled.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using test::value_of;
using testing::HasSubstr;

const Tokenizer& bundled_tokenizer() {
  return *test::bundled_models()->tokenizer;
}

SequenceBreakers breakers_of(std::vector<std::string> texts) {
  return *value_of(find_sequence_breakers({.sequence_breakers = std::move(texts)}, bundled_tokenizer()));
}

TEST(Breakers, AreAllTokensThatHoldThem) {
  const SequenceBreakers found = breakers_of({"."});
  std::size_t holding = 0;
  for (std::size_t i = 0; i < bundled_tokenizer().vocabulary().size(); ++i) {
    const auto token = static_cast<Token>(i);
    if (!bundled_tokenizer().piece(token).contains('.')) continue;
    ++holding;
    const auto at = found.find(token);
    ASSERT_NE(at, found.end()) << token;
    EXPECT_TRUE(at->second.empty());
  }
  EXPECT_GT(holding, 0u);
  EXPECT_EQ(found.size(), holding);
}

TEST(Breakers, OfSeveralTokensBeginInTheMiddleOfAToken) {
  const SequenceBreakers found = breakers_of({"dog."});
  bool has_rest = false;
  for (const auto& [token, rest] : found) {
    const std::string piece = bundled_tokenizer().piece(token);
    if (rest.empty()) {
      EXPECT_THAT(piece, HasSubstr("dog."));
      continue;
    }
    std::string text = piece;
    for (const Token next : rest) text += bundled_tokenizer().piece(next);
    has_rest = has_rest || (piece.ends_with("dog") && text.ends_with("."));
  }
  EXPECT_TRUE(has_rest);
}

TEST(Breakers, OfNoTextAreNone) {
  EXPECT_TRUE(breakers_of({}).empty());
  EXPECT_FALSE(value_of(find_sequence_breakers({}, bundled_tokenizer()))->empty()) << "the default ones";
}

TEST(Breakers, ThatAreTooLongAreNamed) {
  const auto message = [](std::vector<std::string> texts) {
    return find_sequence_breakers({.sequence_breakers = std::move(texts)}, bundled_tokenizer())
        .error()
        .message;
  };
  EXPECT_THAT(message({""}), HasSubstr("dry_sequence_breakers: one must have 1 to 40 bytes, got ''"));
  EXPECT_THAT(message({std::string(41, 'a')}), HasSubstr("1 to 40 bytes"));
  EXPECT_THAT(message(std::vector<std::string>(65, "a")), HasSubstr("at most 64 are possible, got 65"));
}

}  // namespace
}  // namespace spectr

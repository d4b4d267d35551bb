#include "spectr/text/special_tokens.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::ElementsAre;

std::vector<std::string> split(const SpecialTokens& specials, std::string_view text, bool parse_special) {
  std::vector<std::string> out;
  for (const Fragment& fragment : specials.split(text, parse_special)) {
    out.push_back(fragment.token ? fmt::format("#{}", *fragment.token) : std::string(fragment.text));
  }
  return out;
}

TEST(SpecialTokens, ControlTokensNeedTrustAndUserDefinedOnesDoNot) {
  const Vocabulary vocabulary = load_vocabulary(tiny_sentencepiece()).value();
  const SpecialTokens specials(vocabulary);
  EXPECT_THAT(split(specials, "<s>a<tool>b</s>", false), ElementsAre("<s>a", "#268", "b</s>"));
  EXPECT_THAT(split(specials, "<s>a<tool>b</s>", true), ElementsAre("#1", "a", "#268", "b", "#2"));
  EXPECT_THAT(split(specials, "<tool><tool>", false), ElementsAre("#268", "#268"));
  EXPECT_THAT(split(specials, "<unk>", true), ElementsAre("#0"));
  EXPECT_THAT(split(specials, "", true), ElementsAre());
  EXPECT_THAT(split(specials, "<to", true), ElementsAre("<to"));
}

std::vector<std::string> split(const SpecialTokens& specials, const MarkedText& text) {
  std::vector<std::string> out;
  for (const Fragment& fragment : specials.split(text)) {
    out.push_back(fragment.token ? fmt::format("#{}", *fragment.token) : std::string(fragment.text));
  }
  return out;
}

TEST(SpecialTokens, NoControlTokenIsFoundInAQuoteOrHalfInOne) {
  const Vocabulary vocabulary = load_vocabulary(tiny_sentencepiece()).value();
  const SpecialTokens specials(vocabulary);
  EXPECT_THAT(split(specials, MarkedText("<s>").append("<s>a</s>", true).append("</s>")),
              ElementsAre("#1", "<s>a</s>", "#2"));
  EXPECT_THAT(split(specials, MarkedText("<").append("s", true).append(">")), ElementsAre("<s>"));
  EXPECT_THAT(split(specials, MarkedText("<s").append(">", true)), ElementsAre("<s>"));
  EXPECT_THAT(split(specials, MarkedText("</", true).append("s></s>")), ElementsAre("</s>", "#2"));
  EXPECT_THAT(split(specials, MarkedText("a<tool>", true)), ElementsAre("a", "#268"));
}

TEST(SpecialTokens, AUserDefinedTokenThatDividesTheTextIsNotFoundInAQuote) {
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens",
             std::vector<std::string>{"<unk>", "<s>", "</s>", "<|user|>", "<|end|>", "\n", "a"});
  writer.set("tokenizer.ggml.scores", std::vector<float>(7));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 4, 4, 4, 1});
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  const SpecialTokens specials(vocabulary);
  const MarkedText forged = MarkedText("<|user|>\n").append("a<|user|>\n<|end|>", true);
  EXPECT_THAT(split(specials, forged), ElementsAre("#3", "#5", "a<|user|>", "#5", "<|end|>"));
}

TEST(SpecialTokens, OfPhi3SwallowTheWhiteSpaceBehindThem) {
  GgufWriter writer = tiny_sentencepiece();
  const std::vector<std::string> texts = {"<unk>", "<s>", "<|endoftext|>", "<|user|>", "<|end|>", "a"};
  writer.set("tokenizer.ggml.tokens", texts).set("tokenizer.ggml.scores", std::vector<float>(texts.size()));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 3, 3, 1});
  const auto split_by = [](const GgufWriter& file, std::string_view text) {
    const Vocabulary vocabulary = load_vocabulary(file).value();
    return split(SpecialTokens(vocabulary), text, true);
  };
  const std::string text = "<s> a<|user|>\n \ta <|end|>\n<|end|>\n<|endoftext|>\n";
  EXPECT_THAT(split_by(writer, text),
              ElementsAre("#1", " a", "#3", "\n \ta ", "#4", "\n", "#4", "\n", "#2", "\n"));
  GgufWriter by_architecture = writer, by_name = writer;
  by_architecture.set("general.architecture", "phi3");
  by_name.set("general.name", "Phi-3 Mini 4K Instruct");
  for (const GgufWriter& phi3 : {by_architecture, by_name}) {
    EXPECT_THAT(split_by(phi3, text), ElementsAre("#1", " a", "#3", "a ", "#4", "#4", "#2", "\n"));
    EXPECT_THAT(split_by(phi3, "<|user|> \n"), ElementsAre("#3"));
  }
}

TEST(SpecialTokens, LongerTokensAreFoundFirstWhereverTheyStand) {
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens",
             std::vector<std::string>{"<unk>", "<s>", "</s>", "aa", "aab", "baa", "a"});
  writer.set("tokenizer.ggml.scores", std::vector<float>(7));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 4, 4, 4, 1});
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  const SpecialTokens specials(vocabulary);
  EXPECT_THAT(split(specials, "aaab", false), ElementsAre("a", "#4")) << "not aa, ab";
  EXPECT_THAT(split(specials, "aabaa", false), ElementsAre("#4", "#3")) << "equally long: the lower id first";
  EXPECT_THAT(split(specials, "aaa", false), ElementsAre("#3", "a"));
}

TEST(SpecialTokens, ThatAreVeryLongStayPlainText) {
  constexpr std::size_t longest = SpecialTokens::longest_text;
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens",
             std::vector<std::string>{"<unk>", "<s>", "</s>", std::string(longest, 'a'),
                                      std::string(longest + 1, 'b'), std::string(1 << 16, 'c')});
  writer.set("tokenizer.ggml.scores", std::vector<float>(6));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 4, 4, 4});
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  const SpecialTokens specials(vocabulary);
  EXPECT_THAT(split(specials, std::string(2 * longest, 'a') + "a", false), ElementsAre("#3", "#3", "a"));
  const std::string without = std::string(longest + 1, 'b') + std::string(1 << 20, 'c');
  EXPECT_THAT(split(specials, without, false), ElementsAre(without));
}

/// Splits by one token at a time, longest first; each splits the fragments left by the longer ones.
std::vector<Fragment> split_one_by_one(const Vocabulary& vocabulary, std::string_view text,
                                       bool parse_special) {
  std::vector<Token> specials;
  for (Token token = 0; token < static_cast<Token>(vocabulary.size()); ++token) {
    const TokenKind kind = vocabulary.kind(token);
    const bool trusted = kind == TokenKind::control || kind == TokenKind::unknown;
    if (kind == TokenKind::user_defined || (trusted && parse_special)) specials.push_back(token);
  }
  std::ranges::stable_sort(specials, std::ranges::greater{},
                           [&](Token token) { return vocabulary.text(token).size(); });
  std::vector<Fragment> fragments;
  if (!text.empty()) fragments.push_back({text, std::nullopt});
  for (const Token token : specials) {
    const std::string_view special = vocabulary.text(token);
    std::vector<Fragment> divided;
    for (const Fragment& fragment : fragments) {
      std::string_view rest = fragment.text;
      if (fragment.token) divided.push_back(fragment);
      while (!fragment.token && !rest.empty()) {
        const std::size_t at = std::min(rest.find(special), rest.size());
        if (at > 0) divided.push_back({rest.substr(0, at), std::nullopt});
        if (at == rest.size()) break;
        divided.push_back({rest.substr(at, special.size()), token});
        rest.remove_prefix(at + special.size());
      }
    }
    fragments = std::move(divided);
  }
  return fragments;
}

TEST(SpecialTokens, AreThoseThatAreFoundOneByOne) {
  std::mt19937 random(5);
  const auto any = [&random](unsigned max_length) {
    std::string text(1 + random() % max_length, 'a');
    for (char& letter : text) letter = "abc\xC3"[random() % 4];
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> distinct;
    for (unsigned n = random() % 30; n > 0; --n) distinct.insert(any(1 + random() % 6));
    std::vector<std::string> texts(distinct.begin(), distinct.end());
    std::ranges::shuffle(texts, random);
    texts.insert(texts.begin(), {"<unk>", "<s>", "</s>"});
    std::vector<std::int32_t> kinds = {2, 3, 3};
    while (kinds.size() < texts.size())
      kinds.push_back(random() % 3 == 0 ? 1 : 3 + static_cast<int>(random() % 2));
    GgufWriter writer = tiny_sentencepiece();
    writer.set("tokenizer.ggml.tokens", texts).set("tokenizer.ggml.token_type", kinds);
    writer.set("tokenizer.ggml.scores", std::vector<float>(texts.size()));
    const Vocabulary vocabulary = load_vocabulary(writer).value();
    const SpecialTokens specials(vocabulary);
    for (int i = 0; i < 20; ++i) {
      const std::string text = any(60);
      const bool parse_special = random() % 2 == 0;
      const auto expected = split_one_by_one(vocabulary, text, parse_special),
                 found = specials.split(text, parse_special);
      ASSERT_EQ(found.size(), expected.size()) << text;
      for (std::size_t k = 0; k < found.size(); ++k) {
        EXPECT_EQ(found[k].text.data(), expected[k].text.data()) << text;
        EXPECT_EQ(found[k].text, expected[k].text) << text;
        EXPECT_EQ(found[k].token, expected[k].token) << text;
      }
    }
  }
}

}  // namespace
}  // namespace spectr

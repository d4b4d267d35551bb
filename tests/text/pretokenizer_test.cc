#include "spectr/text/pretokenizer.h"

#include <gmock/gmock.h>

#include <random>
#include <string>

namespace spectr {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::vector<std::string> words(std::string_view rule, std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view word : Pretokenizer(*find_pretokenizer_rule(rule)).split(text)) {
    out.emplace_back(word);
  }
  return out;
}

constexpr std::string_view all_rules[] = {
    "gpt-2",  "starcoder",  "falcon",     "default",      "llama-bpe",  "qwen2",    "tekken",
    "qwen35", "seed-coder", "bailingmoe", "deepseek-llm", "exaone-moe", "minicpm5", "deepseek-coder",
    "gpt-4o", "tiny_aya",   "kimi-k2",    "deepseek-v3",  "youtu",      "viking",   "superbpe"};

TEST(Pretokenizer, Gpt2KeepsOneSpaceWithAWord) {
  EXPECT_THAT(words("gpt-2", "Hello, y'all! I'll pay 1234 \u20AC  now\n\n x"),
              ElementsAre("Hello", ",", " y", "'", "all", "!", " I", "'ll", " pay", " 1234", " \u20AC", " ",
                          " now", "\n\n", " x"));
  EXPECT_THAT(words("gpt-2", "I'LL"), ElementsAre("I", "'", "LL"));
  EXPECT_THAT(words("gpt-2", "a \t "), ElementsAre("a", " \t "));
  EXPECT_THAT(words("gpt-2", "\u00C4pfel \u4F60\u597D\u0660"),
              ElementsAre("\u00C4pfel", " \u4F60\u597D", "\u0660"));
}

TEST(Pretokenizer, SeveralNamesMeanOneRule) {
  for (const char* name : {"gpt-neox", "mpt", "olmo"}) {
    EXPECT_EQ(find_pretokenizer_rule(name)->regexes.data(), find_pretokenizer_rule("gpt-2")->regexes.data());
  }
  for (const char* name : {"refact", "smollm"}) {
    EXPECT_EQ(find_pretokenizer_rule(name)->regexes.data(),
              find_pretokenizer_rule("starcoder")->regexes.data());
  }
  EXPECT_TRUE(find_pretokenizer_rule("llama3")->whole_words);
  EXPECT_TRUE(find_pretokenizer_rule("tekken")->whole_words);
  EXPECT_FALSE(find_pretokenizer_rule("qwen2")->whole_words);
  EXPECT_TRUE(find_pretokenizer_rule("glm4")->whole_words);
  EXPECT_FALSE(find_pretokenizer_rule("chatglm-bpe")->whole_words);
  EXPECT_EQ(find_pretokenizer_rule("GPT-2"), nullptr);
}

TEST(Pretokenizer, StarCoderMakesAWordOfEachDigit) {
  EXPECT_THAT(words("starcoder", "in 2024: x1"), ElementsAre("in", " ", "2", "0", "2", "4", ":", " x", "1"));
}

TEST(Pretokenizer, FalconSplitsPunctuationThenNumbersByThree) {
  EXPECT_THAT(words("falcon", "don't pay $1234, ok`?"),
              ElementsAre("don", "'", "t", " pay", " ", "$", "123", "4", ",", " ok", "`?"));
  EXPECT_THAT(words("falcon", "is 12345 or 12"), ElementsAre("is", " ", "123", "45", " or", " 12"));
}

TEST(Pretokenizer, DefaultSplitsNumbersFromTheirSpaceToo) {
  EXPECT_THAT(words("default", "don't pay $1234, ok`?"),
              ElementsAre("don", "'", "t", " pay", " ", "$", "123", "4", ",", " ok", "`", "?"));
  EXPECT_THAT(words("default", "is 12345 or 12"), ElementsAre("is", " ", "123", "45", " or", " ", "12"));
}

TEST(Pretokenizer, Llama3TakesContractionsInAnyCaseAndNumbersByThree) {
  EXPECT_THAT(words("llama-bpe", "I'LL 12345!!\r\n  x"),
              ElementsAre("I", "'LL", " ", "123", "45", "!!\r\n", " ", " x"));
  EXPECT_THAT(words("llama-bpe", "f(word)  \n \n  y"), ElementsAre("f", "(word", ")", "  \n \n", " ", " y"));
  EXPECT_THAT(words("llama-bpe", "a'\u017F"), ElementsAre("a", "'\u017F")) << "a long s is no s";
}

TEST(Pretokenizer, Qwen2MakesAWordOfEachDigit) {
  EXPECT_THAT(words("qwen2", "I've 123.\n\n"), ElementsAre("I", "'ve", " ", "1", "2", "3", ".\n\n"));
}

TEST(Pretokenizer, TekkenSplitsWhereCapitalsFollowSmallLetters) {
  EXPECT_THAT(words("tekken", "camelCase HTTPServer ABC"),
              ElementsAre("camel", "Case", " HTTPServer", " ABC"));
  EXPECT_THAT(words("tekken", "don't path/to/\n12"),
              ElementsAre("don", "'t", " path", "/to", "/\n", "1", "2"));
  EXPECT_THAT(words("tekken", "\u00C9t\u00E9A"), ElementsAre("\u00C9t\u00E9", "A"));
  EXPECT_THAT(words("tekken", "\u0444\u0424\u4F60\u597D e\u0301"),
              ElementsAre("\u0444", "\u0424\u4F60\u597D", " e\u0301"))
      << "of any script, with its marks";
}

TEST(Pretokenizer, Gpt4oTakesContractionsWithTheirWordsAndNumbersByThree) {
  EXPECT_THAT(words("gpt-4o", "I'LL pay 12345 don't"),
              ElementsAre("I'LL", " pay", " ", "123", "45", " don't"));
  EXPECT_THAT(words("gpt-4o", "camelCase path/to/\n"), ElementsAre("camel", "Case", " path", "/to", "/\n"));
}

TEST(Pretokenizer, Qwen35TakesMarksIntoWords) {
  EXPECT_THAT(words("qwen2", "e\u0301a 12"), ElementsAre("e", "\u0301a", " ", "1", "2"));
  EXPECT_THAT(words("qwen35", "e\u0301a 12"), ElementsAre("e\u0301a", " ", "1", "2"));
}

TEST(Pretokenizer, DeepSeekV3SplitsNumbersThenScriptsThenWords) {
  EXPECT_THAT(words("deepseek-v3", "x12345\n.net \u4F60\u597Da!?\n"),
              ElementsAre("x", "123", "45", "\n", ".net", " ", "\u4F60\u597D", "a", "!?\n"));
}

TEST(Pretokenizer, KimiK2MakesWordsOfChineseCharacters) {
  EXPECT_THAT(words("kimi-k2", "a\u4F60\u597Db It's \u304B\u306A 1234"),
              ElementsAre("a", "\u4F60\u597D", "b", " It's", " \u304B\u306A", " ", "123", "4"));
}

TEST(Pretokenizer, TinyAyaCountsTheThreesOfANumberFromItsEnd) {
  EXPECT_THAT(words("tiny_aya", "12 123 1234 12345 123456"),
              ElementsAre("12", " ", "123", " ", "1", "234", " ", "12", "345", " ", "123", "456"));
  EXPECT_THAT(words("tiny_aya", "1234a"), ElementsAre("123", "4", "a")) << "where a word ends with it";
}

TEST(Pretokenizer, MiniCpm5SeedCoderAndLingDifferFromQwen2AtNumbersAndLineEnds) {
  EXPECT_THAT(words("minicpm5", "a1234 !\n"), ElementsAre("a", "123", "4", " !\n"));
  EXPECT_THAT(words("seed-coder", "a12 !\n"), ElementsAre("a", "1", "2", " !", "\n"));
  EXPECT_THAT(words("bailingmoe", "It's !\n"), ElementsAre("It", "'s", " !\n"));
}

TEST(Pretokenizer, ExaonesExpertsKeepWordsWithSingleSpacesTogether) {
  EXPECT_THAT(words("exaone-moe", "one two  three 12"), ElementsAre("one two", " ", " three", " ", "1", "2"));
}

// The expected words are from Python's module regex with the families' expressions.
TEST(Pretokenizer, BloomAndVikingCutAtSomeMarksOnly) {
  EXPECT_THAT(words("bloom", "Hei (maailma), mit\u00E4  kuuluu? 12\n\nok|a"),
              ElementsAre("Hei", " (", "maailma", "),", " mit\u00E4", " ", " kuuluu", "?", " 12", "\n\n",
                          "ok", "|", "a"));
  EXPECT_THAT(words("viking", "Vuonna 2024, x1 (ei)."),
              ElementsAre("Vuonna", " ", "2", "0", "2", "4", ",", " x", "1", " (", "ei", ")."));
}

TEST(Pretokenizer, SuperBpeCutsNumbersOnly) {
  EXPECT_THAT(
      words("superbpe", "by the way 12 1234567 and 999999, x12a"),
      ElementsAre("by the way ", "12", " ", "1", "234", "567", " and ", "999", "999", ", x", "12", "a"));
}

TEST(Pretokenizer, YoutuCutsScriptsOutFirst) {
  EXPECT_THAT(words("youtu",
                    "It's 123 HTTPServer, \u4F60\u597D\u5417\u3001\u4E16\u754C \uC548\uB155 \u3105\u3106 "
                    "\u201Cok\u201D\n path/\n  x"),
              ElementsAre("It's", " ", "1", "2", "3", " HTTPServer", ",", " ", "\u4F60\u597D\u5417", "\u3001",
                          "\u4E16\u754C", " ", "\uC548\uB155", " ", "\u3105\u3106", " ", "\u201C", "ok",
                          "\u201D", "\n", " path", "/\n", " ", " x"));
}

TEST(Pretokenizer, DeepSeekLlmSplitsByScript) {
  EXPECT_THAT(words("deepseek-llm", "Hello world 123 \u4F60\u597D\uFF0Cx\n\n"),
              ElementsAre("Hello", " world", " ", "123", " ", "\u4F60\u597D", "\uFF0C", "x", "\n", "\n"));
  EXPECT_THAT(words("deepseek-llm", "a!?  "), ElementsAre("a", "!?", "  "));
  EXPECT_THAT(words("deepseek-llm", " \u0628\u0629  "), ElementsAre(" \u0628\u0629", "  "))
      << "Arabic has no case and is left as it lies; only spaces at the end are cut off";
}

TEST(Pretokenizer, DeepSeekCoderMakesAWordOfEachDigit) {
  EXPECT_THAT(words("deepseek-coder", "x1 = 12;\n"), ElementsAre("x", "1", " = ", "1", "2", ";", "\n"));
  EXPECT_THAT(words("deepseek-coder", "\u3000\u2606"), ElementsAre("\u3000", "\u2606"));
}

TEST(Pretokenizer, BytesThatAreNotUtf8AreNeitherLetterNorSpace) {
  EXPECT_THAT(words("gpt-2", "a\xFF\xFE b\xE2\x96"), ElementsAre("a", "\xFF\xFE", " b", "\xE2\x96"));
  EXPECT_THAT(words("llama-bpe", "\x80"), ElementsAre("\x80"));
}

TEST(Pretokenizer, TheMongolianVowelSeparatorIsNoSpace) {
  EXPECT_THAT(words("gpt-2", "a \u180E1"), ElementsAre("a", " \u180E", "1"));
}

TEST(Pretokenizer, LaterModelsNameTheRulesOfEarlierOnes) {
  const auto expect_same = [](std::string_view name, std::string_view as) {
    const PretokenizerRule *rule = find_pretokenizer_rule(name), *other = find_pretokenizer_rule(as);
    ASSERT_TRUE(rule && other) << name;
    EXPECT_EQ(rule->regexes.data(), other->regexes.data()) << name;
    EXPECT_EQ(rule->whole_words, other->whole_words) << name;
    EXPECT_EQ(rule->add_bos, other->add_bos) << name;
  };
  for (const char* name : {"pixtral", "midm-2.0", "falcon3"}) expect_same(name, "llama-bpe");
  for (const char* name : {"megrez", "kormo", "stablelm2"}) expect_same(name, "qwen2");
  for (const char* name : {"mellum", "a.x-4.0", "trillion", "phi-2"}) expect_same(name, "gpt-2");
  for (const char* name : {"lfm2", "falcon-h1"}) expect_same(name, "llama-bpe");
  for (const char* name : {"hunyuan", "solar-open"}) expect_same(name, "megrez");
  for (const char* name : {"granite-docling", "exaone4"}) expect_same(name, "gpt-2");
  for (const char* name : {"llama4", "kanana2", "minimax-m2"}) expect_same(name, "gpt-4o");
  for (const char* name : {"mellum2", "exaone", "minerva-7b"}) expect_same(name, "starcoder");
  for (const char* name : {"hunyuan-dense", "joyai-llm"}) expect_same(name, "deepseek-v3");
  EXPECT_EQ(find_pretokenizer_rule(""), nullptr);
}

TEST(Pretokenizer, LosesNothingOfAnyText) {
  std::mt19937 random(2);
  constexpr std::string_view pieces[] = {"a", "Z",      " ",      "  ",     "\n",   "\r\n",     "'s", "'",
                                         "7", "\u0661", "\u4F60", "\u3000", "\xFF", "\xE2\x96", "!",  "`",
                                         "$", "\u0628", "\u00E9", "\t",     "/",    "\u0301"};
  for (const std::string_view rule : all_rules) {
    const Pretokenizer pretokenizer(*find_pretokenizer_rule(rule));
    EXPECT_THAT(pretokenizer.split(""), SizeIs(0));
    for (int round = 0; round < 200; ++round) {
      std::string text;
      for (unsigned n = random() % 30; n > 0; --n) text += pieces[random() % std::size(pieces)];
      std::string joined;
      for (const std::string_view word : pretokenizer.split(text)) {
        EXPECT_FALSE(word.empty());
        joined += word;
      }
      ASSERT_EQ(joined, text) << rule;
    }
  }
}

TEST(Pretokenizer, LongRunsAreCutInLinearTime) {  // a quadratic rule would time out
  constexpr std::size_t n = 1 << 20;
  for (const std::string_view rule : all_rules) {
    const Pretokenizer pretokenizer(*find_pretokenizer_rule(rule));
    for (const char run : {' ', '\n', 'a', 'A', '7', '!', '\xFF'}) {
      const std::string text = std::string(n, run) + "\u2606";
      std::size_t length = 0;
      for (const std::string_view word : pretokenizer.split(text)) length += word.size();
      EXPECT_EQ(length, text.size()) << rule;
    }
  }
}

}  // namespace
}  // namespace spectr

// A token budget for reasoning: the position where it ends, and the text that is forced then.
#include "spectr/engine/rules/reasoning_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/engine/engine.h"
#include "tests/engine/bundled.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using test::value_of;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double lowest = -std::numeric_limits<double>::infinity();

const Tokenizer& tokenizer() {
  return *test::bundled_models()->tokenizer;
}

std::vector<Token> encode(std::string_view text) {
  return tokenizer().encode(text, {.add_bos = false});
}

LimitedReasoning limited(std::size_t budget, std::string begun, std::string message = "") {
  return {{budget, std::move(message)}, {&reasoning_form(""), std::move(begun)}};
}

/// Returns the tokens that a rule allows after a sequence.
std::vector<Token> allowed(const LogitRule& rule, const std::vector<Token>& sequence) {
  std::vector<double> logits(tokenizer().vocabulary().size(), 0.5);
  EXPECT_TRUE(rule.apply(sequence, logits));
  std::vector<Token> tokens;
  for (std::size_t token = 0; token < logits.size(); ++token)
    if (logits[token] > lowest) tokens.push_back(static_cast<Token>(token));
  return tokens;
}

/// Follows a rule after a prompt of one token and `said`. Returns the text that the rule forces.
std::string forced(const LogitRule& rule, std::string_view said) {
  std::vector<Token> sequence = {1};
  for (const Token token : encode(said)) sequence.push_back(token);
  std::vector<Token> more;
  for (auto tokens = allowed(rule, sequence); tokens.size() == 1; tokens = allowed(rule, sequence)) {
    more.push_back(tokens.front());
    sequence.push_back(tokens.front());
  }
  std::string text;
  for (const Token token : more) text += tokenizer().piece(token);
  return text;
}

TEST(ReasoningBudget, WritesTheMessageAndTheClosingMarkWhenItIsSpent) {
  const std::string_view thought = "One day a dog saw a cat";
  const std::size_t tokens = encode(thought).size();
  ASSERT_GT(tokens, 3u);
  const auto rule = value_of(ReasoningBudget::make(tokenizer(), 1, limited(tokens, "<think>", " So.")));
  EXPECT_EQ(forced(*rule, "One day"), "");
  EXPECT_THAT(forced(*rule, thought), HasSubstr("So.</think>"));
  const auto bare = value_of(ReasoningBudget::make(tokenizer(), 1, limited(tokens, "<think>")));
  EXPECT_THAT(forced(*bare, thought), testing::EndsWith("</think>"));
}

TEST(ReasoningBudget, ChangesNothingWithoutReasoningBeforeItAndBehindIt) {
  const std::size_t all = tokenizer().vocabulary().size();
  const auto rule = value_of(ReasoningBudget::make(tokenizer(), 1, limited(2, "")));
  EXPECT_EQ(allowed(*rule, {}).size(), all);
  EXPECT_EQ(allowed(*rule, {1}).size(), all);
  EXPECT_EQ(forced(*rule, "One day a dog saw a cat"), "");
  EXPECT_EQ(forced(*rule, "<think>One</think> day a dog saw a cat"), "");
  EXPECT_THAT(forced(*rule, "<think>One day a"), "") << "tokens that the rule had excluded";
}

TEST(ReasoningBudget, CountsAllReasoningOfAnAnswer) {
  const std::size_t open = encode("<think>").size();
  std::vector<Token> sequence = {1};
  const auto add = [&](std::string_view text) {
    for (const Token token : encode(text)) sequence.push_back(token);
  };
  const auto rule = value_of(ReasoningBudget::make(tokenizer(), 1, limited(0, "")));
  add("<think>");
  ASSERT_EQ(sequence.size(), 1 + open);
  ASSERT_EQ(allowed(*rule, sequence).size(), 1u) << "the budget is 0";
  while (allowed(*rule, sequence).size() == 1) sequence.push_back(allowed(*rule, sequence).front());
  add("<think>");
  EXPECT_EQ(allowed(*rule, sequence).size(), 1u) << "it is used up when reasoning begins again";
}

TEST(ReasoningBudget, IsAFunctionOfTheSequence) {
  const auto rule = value_of(ReasoningBudget::make(tokenizer(), 1, limited(2, "<think>")));
  std::vector<std::vector<Token>> sequences;
  for (const char* text : {"One day a dog", "One cat", "One day", "", "One day a cat", "</think> One"}) {
    sequences.push_back({1});
    for (const Token token : encode(text)) sequences.back().push_back(token);
  }
  for (const auto& sequence : sequences) {
    const auto fresh = value_of(ReasoningBudget::make(tokenizer(), 1, limited(2, "<think>")));
    EXPECT_EQ(allowed(*rule, sequence), allowed(*fresh, sequence));
  }
}

TEST(ReasoningBudget, NeedsAClosingMark) {
  const LimitedReasoning harmony{{5}, {&reasoning_form("<|start|>assistant"), ""}};
  const auto refused = ReasoningBudget::make(tokenizer(), 1, harmony);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("no closing mark"));
}

/// Returns the text of a completion by a method at temperature 0, including its reasoning.
std::string completion(std::string_view method, std::size_t budget) {
  Request request;
  request.prompts = {tokenizer().encode("Once upon a time")};
  request.method.method = method;
  request.sampling.temperature = 0.0;
  request.limit = 40;
  request.limited_reasoning = limited(budget, "<think>", " So I say:");
  const auto engine = value_of(Engine::start(test::bundled_models(), {.slots = {.max_nodes = 65}}));
  const auto completion = engine->submit(value_of(engine->prepare(std::move(request))));
  std::string text;
  while (const auto news = completion->next(std::chrono::seconds(60))) text += news->second.delta.text;
  return text;
}

TEST(ReasoningBudget, IsKeptByEveryMethod) {
  const std::string plain = completion("plain", 7);
  EXPECT_THAT(plain, HasSubstr("So I say:</think>"));
  EXPECT_GT(plain.size(), plain.find("</think>") + 20) << "the answer goes on";
  for (const char* method : {"spectr", "conditional", "traversal", "ngram", "suffix"})
    EXPECT_EQ(completion(method, 7), plain) << method;
  EXPECT_THAT(completion("plain", 1000), testing::Not(HasSubstr("</think>")));
}

}  // namespace
}  // namespace spectr

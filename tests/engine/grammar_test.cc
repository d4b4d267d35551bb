// Texts that follow a grammar, a JSON schema or a regular expression: the allowed tokens, and the
// errors.
#include "spectr/engine/rules/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
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
using Kind = Constraint::Kind;

const Tokenizer& tokenizer() {
  return *test::bundled_models()->tokenizer;
}

GrammarCompiler& compiler() {
  static const auto compiler =
      value_of(GrammarCompiler::make(tokenizer(), test::bundled_models()->target->vocabulary()));
  return *compiler;
}

std::shared_ptr<const LogitRule> rule_of(Kind kind, std::string source, std::string after = "") {
  return grammar_rule(value_of(compiler().compile({kind, std::move(source)})), tokenizer(), 1,
                      std::move(after));
}

/// Returns the tokens that a rule allows after a prompt of one token and `answer`.
std::vector<Token> allowed(const LogitRule& rule, std::vector<Token> answer) {
  answer.insert(answer.begin(), 1);
  std::vector<double> logits(test::bundled_models()->target->vocabulary(), 0.5);
  EXPECT_TRUE(rule.apply(answer, logits));
  std::vector<Token> tokens;
  for (std::size_t token = 0; token < logits.size(); ++token)
    if (logits[token] == 0.5) tokens.push_back(static_cast<Token>(token));
  return tokens;
}

/// Computes the allowed tokens from a list of all texts of the language.
std::vector<Token> expected(const std::vector<std::string>& language, const std::string& said) {
  const Vocabulary& vocabulary = tokenizer().vocabulary();
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto token = static_cast<Token>(i);
    const std::string text = said + tokenizer().piece(token);
    const bool goes_on = text != said && std::ranges::any_of(language, [&](const std::string& one) {
                           return one.starts_with(text);
                         });
    const bool ends = vocabulary.is_end(token) && std::ranges::find(language, said) != language.end();
    if (goes_on || ends) tokens.push_back(token);
  }
  return tokens;
}

TEST(Grammars, AllowExactlyTheTokensThatLeadToATextOfTheLanguage) {
  struct Case {
    Kind kind;
    std::string source;
    std::vector<std::string> language;
  };
  const Case cases[] = {{Kind::json_schema,
                         R"({"enum": ["red", "reddish", 17, null]})",
                         {R"("red")", R"("reddish")", "17", "null"}},
                        {Kind::grammar,
                         R"(root ::= ("One" | "Two") " day" "s"?)",
                         {"One day", "One days", "Two day", "Two days"}},
                        {Kind::regex, "(a|bc)d?", {"a", "ad", "bc", "bcd"}}};
  for (const Case& one : cases) {
    const auto rule = rule_of(one.kind, one.source);
    // Visits everything that can be written, token by token.
    std::vector<std::vector<Token>> open = {{}};
    std::size_t walked = 0;
    while (!open.empty()) {
      const std::vector<Token> answer = open.back();
      open.pop_back();
      std::string said;
      for (const Token token : answer) said += tokenizer().piece(token);
      const std::vector<Token> next = allowed(*rule, answer);
      ASSERT_EQ(next, expected(one.language, said)) << one.source << " after '" << said << "'";
      ++walked;
      for (const Token token : next) {
        if (tokenizer().vocabulary().is_end(token)) continue;
        open.push_back(answer);
        open.back().push_back(token);
      }
    }
    EXPECT_GT(walked, one.language.size()) << one.source;
  }
}

TEST(Grammars, HaveNoControlCharactersInStrings) {
  for (const char* string : {R"({"type": "string"})", R"({"type": "string", "maxLength": 5})",
                             R"({"type": "string", "minLength": 2})"}) {
    const auto rule = rule_of(Kind::json_schema, string);
    Token quote = 0;
    while (tokenizer().piece(quote) != "\"") ++quote;
    const std::vector<Token> next = allowed(*rule, {quote});
    EXPECT_GT(next.size(), 100U) << string;
    EXPECT_LT(next.size(), tokenizer().vocabulary().size()) << string;
    for (const Token token : next) {
      for (const char byte : tokenizer().piece(token))
        EXPECT_FALSE(static_cast<unsigned char>(byte) < 0x20) << string << ": token " << token;
    }
  }
}

TEST(Grammars, AreFunctionsOfTheSequence) {
  const auto rule = rule_of(Kind::json_schema, R"({"type": "array", "items": {"enum": ["a", "ab", 1]}})");
  std::mt19937 random(7);
  std::vector<std::vector<Token>> answers = {{}};
  for (int i = 0; i < 60; ++i) {
    // Extends a previously queried sequence by one token, which may or may not be allowed.
    std::vector<Token> answer = answers[random() % answers.size()];
    const std::vector<Token> next = allowed(*rule, answer);
    const bool strays = random() % 5 == 0 || next.size() > 1000;
    answer.push_back(strays ? static_cast<Token>(random() % 300) : next[random() % next.size()]);
    answers.push_back(answer);
    const auto fresh = rule_of(Kind::json_schema, R"({"type": "array", "items": {"enum": ["a", "ab", 1]}})");
    EXPECT_EQ(allowed(*rule, answer), allowed(*fresh, answer)) << i;
  }
}

TEST(Grammars, BeginBehindAMark) {
  const auto rule = rule_of(Kind::regex, "yes", "</think>");
  const auto encode = [](std::string_view text) { return tokenizer().encode(text, {.add_bos = false}); };
  const std::size_t all = test::bundled_models()->target->vocabulary();
  EXPECT_EQ(allowed(*rule, {}).size(), all);
  EXPECT_EQ(allowed(*rule, encode("Well, no")).size(), all);
  EXPECT_EQ(allowed(*rule, encode("Well, no</think>")), expected({"yes"}, ""));
  std::vector<Token> more = encode("Well, no</think>");
  more.push_back(expected({"yes"}, "").front());
  EXPECT_EQ(allowed(*rule, more), expected({"yes"}, tokenizer().piece(more.back())));
  EXPECT_EQ(allowed(*rule, encode("Well")).size(), all);
}

TEST(Grammars, WithoutATextFailInsteadOfForbiddingEveryToken) {
  const auto rule = rule_of(Kind::grammar, R"(root ::= root "a")");
  std::vector<double> logits(test::bundled_models()->target->vocabulary(), 0.5);
  const auto applied = rule->apply(std::vector<Token>{1}, logits);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().message, HasSubstr("allows no token"));
}

TEST(Grammars, AreRefusedByName) {
  const auto why = [](const Constraint& constraint) {
    const auto compiled = compiler().compile(constraint);
    return compiled ? std::string() : compiled.error().message;
  };
  EXPECT_THAT(why({Kind::grammar, "root ::= x", "grammar"}), HasSubstr("'grammar': "));
  EXPECT_THAT(why({Kind::grammar, "x ::= \"a\"", "grammar"}), HasSubstr("'grammar': "));
  EXPECT_THAT(why({Kind::regex, "[", "regex"}), HasSubstr("'regex': "));
  EXPECT_THAT(why({Kind::json_schema, "{", "json_schema"}), "'json_schema' is not JSON");
  EXPECT_THAT(why({Kind::json_schema, R"({"type": "sting"})", "json_schema"}), HasSubstr("'json_schema': "));
  EXPECT_THAT(why({Kind::json_schema, R"({"$ref": "#/$defs/none"})", "s"}), HasSubstr("'s': "));
  EXPECT_THAT(why({Kind::grammar, std::string(GrammarCompiler::max_bytes + 1, ' '), "g"}),
              HasSubstr("'g' may have 262144 bytes, got 262145"));
}

TEST(Grammars, ThatWereRefusedAreRefusedAgainAtAnyTime) {
  const Constraint ignored{Kind::regex, "a(?=b)", "regex"};
  const auto why = [&ignored] {
    const auto compiled = compiler().compile(ignored);
    return compiled ? std::string() : compiled.error().message;
  };
  const std::string first = why();
  EXPECT_THAT(first, HasSubstr("'regex': "));
  // Neither a cache nor a compilation at the same time makes it accepted.
  for (int round = 0; round < 50; ++round) {
    std::vector<std::future<std::string>> all;
    for (int i = 0; i < 8; ++i) all.push_back(std::async(std::launch::async, why));
    for (auto& one : all) EXPECT_EQ(one.get(), first);
  }
  EXPECT_TRUE(compiler().compile({Kind::regex, "ab", "regex"}));
}

TEST(Grammars, OfHostileSourcesAreRefusedOrCompiledInTime) {
  const auto compiles = [](Kind kind, std::string source) {
    const auto begun = std::chrono::steady_clock::now();
    const bool done = compiler().compile({kind, std::move(source)}).has_value();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
    return done;
  };
  std::string deep, parentheses;
  for (int i = 0; i < 10'000; ++i) deep += R"({"items":)";
  EXPECT_FALSE(compiles(Kind::json_schema, deep));
  EXPECT_FALSE(compiles(Kind::json_schema, R"({"type": "string", "maxLength": 100000})"));
  for (int i = 0; i < 50'000; ++i) parentheses += '(';
  EXPECT_FALSE(compiles(Kind::regex, parentheses));
  EXPECT_FALSE(compiles(Kind::grammar, "root ::= " + parentheses));
  (void)compiles(Kind::json_schema, R"({"$ref": "#"})");
  (void)compiles(Kind::grammar, "root ::= root");
  EXPECT_TRUE(compiles(Kind::grammar, "root ::= \"a\" root | \"\""));
}

constexpr const char* pet = R"({"type": "object", "required": ["name", "legs", "tame", "tags"],
  "additionalProperties": false, "properties": {"name": {"type": "string", "maxLength": 8},
  "legs": {"type": "integer", "minimum": 0, "maximum": 8}, "tame": {"type": "boolean"},
  "tags": {"type": "array", "items": {"enum": ["dog", "cat"]}, "maxItems": 2}}})";

struct Written {
  std::string text;
  CompletionResult result;
};

Written completion(std::string_view method, double temperature, std::uint64_t seed) {
  static const auto engine = value_of(Engine::start(test::bundled_models(), {.slots = {.max_nodes = 65}}));
  Request request;
  request.prompts = {tokenizer().encode("A pet:")};
  request.method.method = method;
  request.sampling.temperature = temperature;
  request.sampling.top_k = 0;
  request.limit = 200;
  request.seed = seed;
  request.constraint = Constraint{Kind::json_schema, pet};
  const auto completion = engine->submit(value_of(engine->prepare(std::move(request))));
  Written written;
  while (const auto news = completion->next(std::chrono::seconds(60))) {
    written.text += news->second.delta.text;
    if (news->second.result) written.result = *news->second.result;
  }
  EXPECT_EQ(written.result.failure.message, "") << method;
  return written;
}

TEST(Grammars, AreKeptByEveryMethod) {
  const std::string plain = completion("plain", 0.0, 1).text;
  for (const char* method : {"speculative", "spectr", "block", "conditional", "traversal", "batch", "ngram",
                             "suffix", "gbv", "univer", "mtad"}) {
    EXPECT_EQ(completion(method, 0.0, 1).text, plain) << method;
    for (const std::uint64_t seed : {2, 3, 4}) {
      const Written written = completion(method, 1.0, seed);
      const auto json = nlohmann::json::parse(written.text, nullptr, false);
      ASSERT_FALSE(json.is_discarded()) << method << ": " << written.text;
      EXPECT_EQ(written.result.reason, FinishReason::eos) << method;
      EXPECT_EQ(json.size(), 4u);
      EXPECT_LE(json["name"].get<std::string>().size(), 32u);
      EXPECT_TRUE(json["legs"].is_number_integer() && json["legs"] >= 0 && json["legs"] <= 8) << written.text;
      EXPECT_TRUE(json["tame"].is_boolean());
      EXPECT_LE(json["tags"].size(), 2u);
      for (const auto& tag : json["tags"]) EXPECT_TRUE(tag == "dog" || tag == "cat") << written.text;
    }
  }
}

}  // namespace
}  // namespace spectr

// Reads JSON Lines {"schema": …, "texts": […], "samples": N, "seed": S} and prints for each line what the
// constraint of the schema does, for json_schema.py to judge:
//   {"refused": MESSAGE, "seconds": T} or
//   {"accepted": [true, …], "samples": [{"text": …, "ended": true}, …], "seconds": T}
// Instead of a schema, a line may have a "regex" or a "grammar" in GBNF, as strings.
// A text is accepted if the constraint allows it token by token and may end after it. A sample is drawn token
// by token among those that are allowed; one that has not ended within the limit says so.
//   constraint_oracle VOCABULARY.gguf <schemas.jsonl
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spectr/engine/rules/grammar.h"
#include "spectr/gguf/gguf.h"

namespace spectr {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t free_tokens = 40;  // of a sample; after them it is brought to its end
constexpr std::size_t max_tokens = 600;
constexpr std::string_view closing = "\"}]";

class Oracle {
 public:
  explicit Oracle(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    const Vocabulary& vocabulary = tokenizer.vocabulary();
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
      const auto token = static_cast<Token>(i);
      pieces_.push_back(tokenizer.piece(token));
      if (vocabulary.is_end(token) || pieces_.back().empty()) continue;
      by_piece_.try_emplace(pieces_.back(), token);
      longest_ = std::max(longest_, pieces_.back().size());
    }
  }

  Json answer(GrammarCompiler& compiler, const Json& line) const {
    const auto begun = std::chrono::steady_clock::now();
    const auto compiled = compiler.compile(constraint_of(line));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    if (!compiled) return {{"refused", compiled.error().message}, {"seconds", seconds}};
    Json accepted = Json::array(), samples = Json::array();
    for (const Json& text : line.value("texts", Json::array()))
      accepted.push_back(accepts(*compiled, text.get<std::string>()));
    std::mt19937_64 random(line.value("seed", 0));
    for (std::size_t i = 0; i < line.value("samples", std::size_t{0}); ++i)
      samples.push_back(sample(*compiled, random));
    return {{"accepted", accepted}, {"samples", samples}, {"seconds", seconds}};
  }

 private:
  static Constraint constraint_of(const Json& line) {
    if (line.contains("regex")) return {Constraint::Kind::regex, line["regex"].get<std::string>(), "regex"};
    if (line.contains("grammar"))
      return {Constraint::Kind::grammar, line["grammar"].get<std::string>(), "grammar"};
    return {Constraint::Kind::json_schema, line.at("schema").dump(), "schema"};
  }

  std::vector<Token> allowed(const LogitRule& rule, const std::vector<Token>& sequence) const {
    std::vector<double> logits(pieces_.size(), 0.0);
    if (const auto applied = rule.apply(sequence, logits); !applied)
      throw std::runtime_error(applied.error().message);
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < logits.size(); ++i)
      if (logits[i] == 0.0) tokens.push_back(static_cast<Token>(i));
    return tokens;
  }

  bool accepts(const std::shared_ptr<const Grammar>& grammar, std::string_view text) const {
    const auto rule = grammar_rule(grammar, tokenizer_, 0);
    std::vector<Token> sequence;
    while (true) {
      const std::vector<Token> next = allowed(*rule, sequence);
      if (text.empty())
        return std::ranges::any_of(next, [&](Token one) { return tokenizer_.vocabulary().is_end(one); });
      const Token token = first_of(text);
      if (!std::ranges::binary_search(next, token)) return false;
      sequence.push_back(token);
      text.remove_prefix(pieces_[static_cast<std::size_t>(token)].size());
    }
  }

  /// The token of the longest piece that the text begins with.
  Token first_of(std::string_view text) const {
    for (std::size_t size = std::min(longest_, text.size()); size > 0; --size) {
      if (const auto found = by_piece_.find(std::string(text.substr(0, size))); found != by_piece_.end())
        return found->second;
    }
    throw std::runtime_error("the vocabulary has no token for a byte");
  }

  Json sample(const std::shared_ptr<const Grammar>& grammar, std::mt19937_64& random) const {
    const auto rule = grammar_rule(grammar, tokenizer_, 0);
    std::vector<Token> sequence;
    std::string text;
    while (sequence.size() < max_tokens) {
      const std::vector<Token> next = allowed(*rule, sequence);
      if (next.empty()) return {{"text", printable(text)}, {"ended", false}, {"stuck", true}};
      const Token token = choose(next, sequence.size() >= free_tokens, random);
      if (tokenizer_.vocabulary().is_end(token)) {
        const bool is_utf8 = printable(text) == text;
        return {{"text", printable(text)}, {"ended", true}, {"utf8", is_utf8}};
      }
      sequence.push_back(token);
      text += pieces_[static_cast<std::size_t>(token)];
    }
    return {{"text", printable(text)}, {"ended", false}};
  }

  Token choose(const std::vector<Token>& next, bool hurries, std::mt19937_64& random) const {
    const auto at_random = [&random](const std::vector<Token>& tokens) {
      return tokens[random() % tokens.size()];
    };
    std::vector<Token> ends, closers, bytes;
    for (const Token token : next) {
      const std::string& piece = pieces_[static_cast<std::size_t>(token)];
      if (tokenizer_.vocabulary().is_end(token)) {
        ends.push_back(token);
      } else if (piece.size() == 1) {
        bytes.push_back(token);
        if (closing.contains(piece[0])) closers.push_back(token);
      }
    }
    const std::uint64_t kind = random() % 100;
    if (!ends.empty() && (hurries || kind < 50)) return at_random(ends);
    if (!closers.empty() && (hurries ? kind < 90 : kind < 15)) return at_random(closers);
    if (!bytes.empty() && (hurries ? kind < 99 : kind < 65)) return at_random(bytes);
    return at_random(next);
  }

  static std::string printable(const std::string& text) {
    return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  }

  const Tokenizer& tokenizer_;
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, Token> by_piece_;
  std::size_t longest_ = 0;  // bytes of a piece
};

Result<void> run(const char* vocabulary) {
  SPECTR_TRY(const Gguf file, Gguf::open(vocabulary));
  SPECTR_TRY(const auto tokenizer, Tokenizer::load(file));
  SPECTR_TRY(const auto compiler, GrammarCompiler::make(*tokenizer, tokenizer->vocabulary().size()));
  const Oracle oracle(*tokenizer);
  for (std::string line; std::getline(std::cin, line);)
    std::cout << oracle.answer(*compiler, Json::parse(line)).dump() << std::endl;
  return {};
}

}  // namespace
}  // namespace spectr

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: constraint_oracle VOCABULARY.gguf <schemas.jsonl\n", stderr), 2;
  try {
    const auto done = spectr::run(argv[1]);
    if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}

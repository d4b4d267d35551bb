#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/engine/rules/grammar.h"
#include "tests/support/tiny_vocabularies.h"

namespace spectr {

inline const Tokenizer& fuzz_tokenizer() {
  static const auto tokenizer = good_tokenizer(tiny_byte_level());
  return *tokenizer;
}

/// Compiles a constraint. If it can be compiled, generates a text that it allows and takes a step back in it.
/// A prefix without a next token must be an error. The mask of a prefix must be the same when it is seen
/// again. Input bytes select the tokens.
inline void walk_grammar(const Constraint& constraint, std::string_view choices) {
  const Tokenizer& tokenizer = fuzz_tokenizer();
  const std::size_t vocabulary = tokenizer.vocabulary().size();
  static const auto compiler = GrammarCompiler::make(tokenizer, vocabulary).value();
  const auto grammar = compiler->compile(constraint);
  if (!grammar) return;
  const auto rule = grammar_rule(*grammar, tokenizer, 1);
  constexpr std::size_t max_tokens = 24;
  std::vector<Token> sequence = {0};
  std::vector<double> before;
  for (std::size_t i = 0; i < max_tokens; ++i) {
    std::vector<double> logits(vocabulary, 0.0);
    if (!rule->apply(sequence, logits)) return;
    std::vector<Token> allowed;
    for (std::size_t token = 0; token < vocabulary; ++token) {
      if (std::isfinite(logits[token])) allowed.push_back(static_cast<Token>(token));
    }
    if (allowed.empty()) std::abort();
    if (!before.empty()) {
      std::vector<double> again(vocabulary, 0.0);
      const std::vector<Token> prefix(sequence.begin(), sequence.end() - 1);
      const auto seen = rule->apply(prefix, again);
      if (!seen && seen.error().message.contains("takes longer")) return;
      if (!seen || again != before) std::abort();
    }
    const std::size_t choice = choices.empty() ? 0 : static_cast<unsigned char>(choices[i % choices.size()]);
    const Token next = allowed[choice % allowed.size()];
    if (tokenizer.vocabulary().is_end(next)) return;
    sequence.push_back(next);
    before = std::move(logits);
  }
}

}  // namespace spectr

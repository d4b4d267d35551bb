// Microseconds of a mask of a constraint, token by token along a text that it allows, with a large
// vocabulary. Prints for each constraint the median and the 99th percentile over the tokens of the text: of
// the first walk, in which masks are computed, and of later ones.
//   mask_bench VOCABULARY.gguf [CONSTRAINT]   such as that of Qwen 2, of 151,936 tokens
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/engine/rules/grammar.h"
#include "spectr/gguf/gguf.h"

namespace spectr {
namespace {

using Kind = Constraint::Kind;
using Clock = std::chrono::steady_clock;

struct Case {
  std::string name;
  Kind kind;
  std::string source, text;
};

std::vector<Case> cases() {
  std::string enumeration = R"({"type": "array", "items": {"enum": [)", values;
  for (int i = 0; i < 200; ++i)
    enumeration += fmt::format("{}\"item number {}\"", i ? ", " : "", i * 7919 % 1000);
  for (int i = 0; i < 40; ++i) values += fmt::format("{}\"item number {}\"", i ? ", " : "", i * 7919 % 1000);
  std::string nested;
  for (int i = 0; i < 20; ++i) nested += fmt::format("{}[[{}, {}], [], [7]]", i ? ", " : "", i, -i);
  constexpr std::string_view prose =
      "The quick brown fox jumps over the lazy dog, and after that it sleeps: a long day (of 24 hours) is "
      "over. ";
  return {
      {"free strings", Kind::json_schema,
       R"({"type": "object", "properties": {"title": {"type": "string"}, "text": {"type": "string"}}, "required": ["title", "text"]})",
       fmt::format(R"({{"title": "A fox", "text": "{}{}", "more": {{"a": [1, 2.5e3, null]}}}})", prose,
                   prose)},
      {"bounded strings", Kind::json_schema,
       R"({"type": "object", "properties": {"text": {"type": "string", "maxLength": 500}}, "required": ["text"]})",
       fmt::format(R"({{"text": "{}{}"}})", prose, prose)},
      {"enumerations", Kind::json_schema, enumeration + "]}}", "[" + values + "]"},
      {"nested arrays", Kind::json_schema,
       R"({"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}, "maxItems": 8}}})",
       "[" + nested + "]"},
      {"tools", Kind::json_schema,
       R"({"type": "object", "additionalProperties": false, "required": ["name", "arguments"], "properties": {"name": {"enum": ["read", "write"]},
        "arguments": {"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer", "minimum": 1, "maximum": 5000},
        "mode": {"enum": ["a", "w", null]}}, "required": ["path"]}}})",
       fmt::format(R"({{"name": "write", "arguments": {{"path": "{}", "lines": 4711, "mode": "w"}}}})",
                   prose)},
      {"GBNF", Kind::grammar, "root ::= line+\nline ::= [a-zA-Z0-9,.:() ]* \"\\n\"",
       std::string(prose) + "\n" + std::string(prose) + "\n"},
      {"regex", Kind::regex, R"(([A-Za-z]+[ ,.:()0-9]*)+)", std::string(prose) + std::string(prose)}};
}

std::string percentiles(std::vector<double>& times) {
  std::ranges::sort(times);
  return fmt::format("{:8.1f} {:8.1f}", times[times.size() / 2], times[times.size() * 99 / 100]);
}

Result<void> run(const char* vocabulary, std::string_view wanted) {
  SPECTR_TRY(const Gguf file, Gguf::open(vocabulary));
  SPECTR_TRY(const auto tokenizer, Tokenizer::load(file));
  const std::size_t size = tokenizer->vocabulary().size();
  SPECTR_TRY(const auto compiler, GrammarCompiler::make(*tokenizer, size));
  std::vector<double> writes;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> row(size, 0.0);
    const auto start = Clock::now();
    std::ranges::fill(row, static_cast<double>(i));
    writes.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  fmt::print("writing a row of logits: {}\n", percentiles(writes));
  fmt::print("{} tokens; microseconds: median, 99th percentile\n{:16} {:>7} {:>10} {:>17} {:>17}\n", size, "",
             "tokens", "compile", "first walk", "later walks");
  for (const Case& one : cases()) {
    if (!one.name.starts_with(wanted)) continue;
    const auto begun = Clock::now();
    SPECTR_TRY(const auto grammar, compiler->compile({one.kind, one.source, one.name}));
    const double compile = std::chrono::duration<double, std::micro>(Clock::now() - begun).count();
    const std::vector<Token> text = tokenizer->encode(one.text, {.add_bos = false});
    std::vector<double> logits(size), first, later;
    for (int walk = 0; walk < 20; ++walk) {
      const auto rule = grammar_rule(grammar, *tokenizer, 0);
      for (std::size_t i = 0; i < text.size(); ++i) {
        std::ranges::fill(logits, 0.0);
        const auto start = Clock::now();
        const auto applied = rule->apply(std::span(text).first(i), logits);
        if (!applied) {
          fmt::print("{}: token {}: {}\n", one.name, i, applied.error().message);
          break;
        }
        (walk == 0 ? first : later)
            .push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
        if (logits[static_cast<std::size_t>(text[i])] != 0.0)
          return error("{}: token {} of the text is not allowed", one.name, i);
      }
    }
    fmt::print("{:16} {:7} {:10.0f} {} {}\n", one.name, text.size(), compile, percentiles(first),
               percentiles(later));
  }
  return {};
}

}  // namespace
}  // namespace spectr

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3)
    return std::fputs("usage: mask_bench VOCABULARY.gguf [CONSTRAINT]\n", stderr), 2;
  const auto done = spectr::run(argv[1], argc == 3 ? argv[2] : "");
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}

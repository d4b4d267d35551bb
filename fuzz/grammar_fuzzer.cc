// Any text must be a grammar or be refused with an error, and a grammar must have the same next tokens
// whenever a prefix is seen. The first byte selects the language: "r" a regular expression, otherwise GBNF.

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/walk_grammar.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Kind = spectr::Constraint::Kind;
  if (size == 0) return 0;
  const std::string source(reinterpret_cast<const char*>(data) + 1, size - 1);
  spectr::walk_grammar({.kind = data[0] == 'r' ? Kind::regex : Kind::grammar, .source = source}, source);
  return 0;
}

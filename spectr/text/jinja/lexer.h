#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spectr::jinja {

enum class Lexeme {
  text,
  print_begin,
  print_end,
  block_begin,
  block_end,
  name,
  string,
  integer,
  real,
  symbol,
  end
};

/// A piece of a template: plain text, or a token inside {{ }} or {% %}.
struct Token {
  Lexeme kind;
  std::string text;  ///< a string without its quotes and escapes
  int line;
};

/// Splits a template into tokens, without comments. White space around tags is trimmed as chat templates
/// expect: "-" trims all of it; a block trims the spaces before it on its line and the line break after it.
/// Throws TemplateError that names the line.
std::vector<Token> tokenize(std::string_view source);

}  // namespace spectr::jinja

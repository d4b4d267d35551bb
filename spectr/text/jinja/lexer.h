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

/// A piece of a template: plain text, or a token of what stands between {{ }} or {% %}.
struct Token {
  Lexeme kind;
  std::string text;  ///< a string without its quotes and escapes
  int line;
};

/// Cuts a template into tokens, comments left out. White space around tags goes as chat templates expect: "-"
/// takes it all; a block takes the spaces before it on its line and the line break after it. Throws
/// TemplateError that names the line.
std::vector<Token> tokenize(std::string_view source);

}  // namespace spectr::jinja

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/jinja/lexer.h"
#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// Reads the tokens of a template in order.
class TokenReader {
 public:
  TokenReader(std::vector<Token> tokens, int max_nesting)
      : tokens_(std::move(tokens)), max_nesting_(max_nesting) {}

  [[noreturn]] void fail(std::string_view what) const {
    throw TemplateError(fmt::format("line {}: {}", next().line, what));
  }

  const Token& next(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool sees(Lexeme kind) const { return next().kind == kind; }
  bool sees(Lexeme kind, std::string_view text) const { return sees(kind) && next().text == text; }
  Token take() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  /// Takes the token if it comes next.
  bool takes(Lexeme kind, std::string_view text) {
    if (!sees(kind, text)) return false;
    take();
    return true;
  }
  bool takes_symbol(std::string_view text) { return takes(Lexeme::symbol, text); }
  bool takes_name(std::string_view text) { return takes(Lexeme::name, text); }

  std::string need(Lexeme kind, std::string_view what) {
    if (!sees(kind)) fail(fmt::format("{} expected, got '{}'", what, next().text));
    return take().text;
  }
  void need_symbol(std::string_view text) {
    if (!takes_symbol(text)) fail(fmt::format("'{}' expected, got '{}'", text, next().text));
  }

  /// One level of nesting, for the lifetime of the object.
  class Level {
   public:
    explicit Level(TokenReader& reader) : reader_(reader) {
      if (++reader.nesting_ > reader.max_nesting_) {
        reader.fail(fmt::format("more than {} levels of nesting", reader.max_nesting_));
      }
    }
    ~Level() { --reader_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TokenReader& reader_;
  };

  std::size_t position() const { return at_; }
  /// True if this name is among the tokens that were taken since that position.
  bool names_since(std::size_t position, std::string_view name) const {
    const auto is_name = [name](const Token& one) { return one.kind == Lexeme::name && one.text == name; };
    return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(position),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, tokens_.size())), is_name);
  }

 private:
  std::vector<Token> tokens_;
  int max_nesting_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace spectr::jinja

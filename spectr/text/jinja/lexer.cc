#include "spectr/text/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include "spectr/text/jinja/escapes.h"
#include "spectr/text/jinja/value.h"

namespace spectr::jinja {
namespace {

constexpr std::string_view spaces = " \t\r\n";

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  /// Ignores a line break at the very end of the template. Requires: lines end in "\n".
  explicit Lexer(std::string_view source) : source_(source) {
    if (source_.ends_with('\n')) source_.remove_suffix(1);
  }

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      const std::size_t tag = next_tag();
      text(source_.substr(at_, tag - at_), tag);
      if (tag == source_.size()) break;
      at_ = tag;
      read_tag();
    }
    add(Lexeme::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) {
    throw TemplateError(fmt::format("line {}: {}", line(), what));
  }

  /// Returns the line number of `at_`.
  int line() {
    for (; counted_ < at_; ++counted_) lines_ += source_[counted_] == '\n' ? 1 : 0;
    return lines_;
  }

  void add(Lexeme kind, std::string_view text) { tokens_.push_back({kind, std::string(text), line_}); }

  std::size_t next_tag() const {
    for (std::size_t i = source_.find('{', at_); i != std::string_view::npos; i = source_.find('{', i + 1)) {
      if (i + 1 < source_.size() && std::string_view("{%#").contains(source_[i + 1])) return i;
    }
    return source_.size();
  }

  /// Adds the text before the tag at `tag`, without the white space that adjacent tags trim.
  void text(std::string_view text, std::size_t tag) {
    if (trim_left_) text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    if (trim_line_ && text.starts_with('\n')) text.remove_prefix(1);
    if (tag < source_.size()) {
      const char mark = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
      const bool block = source_[tag + 1] != '{';
      if (mark == '-') {
        text = text.substr(0, text.find_last_not_of(spaces) + 1);
      } else if (block && mark != '+') {
        const std::size_t end = text.find_last_not_of(" \t") + 1;
        const bool line_start = end == 0 ? starts_line(tag - text.size()) : text[end - 1] == '\n';
        if (line_start) text = text.substr(0, end);
      }
    }
    trim_left_ = trim_line_ = false;
    if (!text.empty()) add(Lexeme::text, text);
  }

  bool starts_line(std::size_t at) const { return at == 0 || source_[at - 1] == '\n'; }

  void read_tag() {
    line_ = line();
    const char kind = source_[at_ + 1];
    at_ += 2;
    skip_sign();
    if (kind == '#') return skip_comment();
    if (kind == '%' && takes_tag("raw")) return read_raw();
    const std::string_view close = kind == '{' ? "}}" : "%}";
    add(kind == '{' ? Lexeme::print_begin : Lexeme::block_begin, "");
    int open = 0;  // open brackets: "}}" may end two mappings
    for (;;) {
      skip_spaces();
      if (at_ == source_.size()) fail("a tag has no end");
      if (open == 0 && takes_end(close)) {
        add(kind == '{' ? Lexeme::print_end : Lexeme::block_end, "");
        return;
      }
      const std::string_view rest = source_.substr(at_);
      if (std::string_view("([{").contains(rest.front())) ++open;
      if (std::string_view(")]}").contains(rest.front())) --open;
      read_token(rest);
    }
  }

  /// Skips the sign after the beginning of a tag, which text() has handled.
  void skip_sign() {
    if (at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+')) ++at_;
  }

  /// Takes the end of a tag if it comes next, and applies its sign.
  bool takes_end(std::string_view close) {
    const bool block = close != "}}";
    const std::string_view rest = source_.substr(at_);
    const bool trims = rest.starts_with('-'), leaves = block && rest.starts_with('+');
    if (!rest.substr(trims || leaves ? 1 : 0).starts_with(close)) return false;
    trim_left_ = trims;
    trim_line_ = block && !leaves;
    at_ += close.size() + (trims || leaves ? 1 : 0);
    return true;
  }

  void skip_comment() {
    while (!takes_end("#}")) {
      if (at_ == source_.size()) fail("a comment has no end");
      ++at_;
    }
  }

  /// Takes NAME and the end of the tag if they come next.
  bool takes_tag(std::string_view name) {
    const std::size_t begin = at_;
    skip_spaces();
    if (source_.substr(at_).starts_with(name)) {
      at_ += name.size();
      skip_spaces();
      if (takes_end("%}")) return true;
    }
    at_ = begin;
    return false;
  }

  void skip_spaces() { at_ = std::min(source_.find_first_not_of(spaces, at_), source_.size()); }

  /// Reads the text up to {% endraw %}, including tags.
  void read_raw() {
    const std::size_t begin = at_;
    trim_line_ = false;
    for (std::size_t tag = source_.find("{%", begin); tag != std::string_view::npos;
         tag = source_.find("{%", tag + 2)) {
      const bool left = trim_left_;
      at_ = std::min(tag + 2, source_.size());
      skip_sign();
      if (!takes_tag("endraw")) continue;
      const bool left_after = std::exchange(trim_left_, left), line_after = std::exchange(trim_line_, false);
      text(source_.substr(begin, tag - begin), tag);
      trim_left_ = left_after;
      trim_line_ = line_after;
      return;
    }
    fail("'endraw' is missing");
  }

  void read_token(std::string_view rest) {
    const char c = rest.front();
    if (starts_name(c)) {
      std::size_t n = 1;
      while (n < rest.size() && (starts_name(rest[n]) || is_digit(rest[n]))) ++n;
      take(Lexeme::name, n);
    } else if (is_digit(c)) {
      read_number(rest);
    } else if (c == '"' || c == '\'') {
      read_string(c);
    } else {
      constexpr std::array pairs = {"==", "!=", "<=", ">=", "//", "**"};
      const bool two =
          std::ranges::any_of(pairs, [&](std::string_view pair) { return rest.starts_with(pair); });
      if (!two && !std::string_view("+-*/%~<>=()[]{}.,:|").contains(c)) {
        fail(fmt::format("'{}' is not understood", c));
      }
      take(Lexeme::symbol, two ? 2 : 1);
    }
  }

  /// Reads digits, ignoring single underscores between them. After a dot, the number is an index, without
  /// point and exponent.
  void read_number(std::string_view rest) {
    if (rest.size() > 1 && rest[0] == '0' && std::string_view("xXoObB").contains(rest[1]))
      return read_based(rest);
    std::size_t n = digits(rest, "0123456789");
    const std::size_t whole = n;
    const bool is_index = tokens_.back().kind == Lexeme::symbol && tokens_.back().text == ".";
    if (!is_index && rest.substr(n).starts_with('.')) {
      if (const std::size_t more = digits(rest.substr(n + 1), "0123456789"); more > 0) n += 1 + more;
    }
    if (!is_index) n += exponent(rest.substr(n));
    std::string text(rest.substr(0, n));
    std::erase(text, '_');
    add(n > whole ? Lexeme::real : Lexeme::integer, text);
    at_ += n;
  }

  /// Returns the size of the digits at the beginning of the text, with single underscores between them.
  static std::size_t digits(std::string_view text, std::string_view known) {
    std::size_t n = 0;
    while (n < text.size()) {
      const bool between = n > 0 && text[n] == '_' && n + 1 < text.size();
      if (!known.contains(text[between ? n + 1 : n])) break;
      n += between ? 2 : 1;
    }
    return n;
  }

  /// Reads 0x1F, 0o17 or 0b11. The token has the decimal digits.
  void read_based(std::string_view rest) {
    const char kind = static_cast<char>(rest[1] | 0x20);
    const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : 2;
    constexpr std::string_view all = "0123456789abcdefABCDEF";
    const std::size_t n =
        digits(rest.substr(2), base == 16 ? all : all.substr(0, static_cast<std::size_t>(base)));
    std::string text(rest.substr(2, n));
    std::erase(text, '_');
    std::int64_t value = 0;
    const auto [at, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (failed != std::errc{}) fail(fmt::format("{} is no integer of 64 bits", rest.substr(0, 2 + n)));
    add(Lexeme::integer, fmt::format("{}", value));
    at_ += 2 + n;
  }

  /// Returns the size of the exponent at the beginning of a text, such as e10 or E-3; 0 if there is none.
  static std::size_t exponent(std::string_view text) {
    if (!text.starts_with('e') && !text.starts_with('E')) return 0;
    std::size_t n = 1;
    if (n < text.size() && (text[n] == '-' || text[n] == '+')) ++n;
    const std::size_t more = digits(text.substr(n), "0123456789");
    return more > 0 ? n + more : 0;
  }

  void take(Lexeme kind, std::size_t n) {
    add(kind, source_.substr(at_, n));
    at_ += n;
  }

  void read_string(char quote) {
    const std::size_t begin = ++at_;
    for (; at_ < source_.size() && source_[at_] != quote; ++at_) {
      if (source_[at_] == '\\') ++at_;
    }
    if (at_ >= source_.size()) {
      at_ = source_.size();
      fail("a string has no end");
    }
    const auto text = unescaped(source_.substr(begin, at_ - begin));
    if (!text) fail(text.error().message);
    ++at_;
    add(Lexeme::string, *text);
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t counted_ = 0;  // position up to which lines are counted
  int lines_ = 1;
  bool trim_left_ = false;
  bool trim_line_ = false;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  std::string lines;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.substr(i).starts_with("\r\n")) continue;
    lines += source[i] == '\r' ? '\n' : source[i];
  }
  return Lexer(lines).run();
}

}  // namespace spectr::jinja

#include "apps/chat/expression_parser.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace spectr::chat {
namespace {

// The operators from the weakest to the strongest; those of a row bind equally.
constexpr std::string_view either[] = {"or"}, both[] = {"and"}, sums[] = {"+", "-"}, concatenation[] = {"~"},
                           products[] = {"*", "/", "//", "%"}, powers[] = {"**"};
constexpr std::span<const std::string_view> weakest[] = {either, both};
constexpr std::span<const std::string_view> rows[] = {concatenation, sums, products, powers};

// A chain of operators or of calls nests as deeply as it is long.
constexpr int longest_chain = 256;

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenReader& reader) : reader_(reader) {}

  ExpressionPtr conditional() {
    const TokenReader::Level level(reader_);
    ExpressionPtr value = logic(0);
    while (reader_.takes_name("if")) {
      ExpressionPtr condition = logic(0);
      ExpressionPtr otherwise = reader_.takes_name("else") ? conditional() : nullptr;
      value = choice(std::move(condition), std::move(value), std::move(otherwise));
    }
    return value;
  }

  ExpressionPtr logic(std::size_t row) {
    if (row == std::size(weakest)) return negation();
    ExpressionPtr left = logic(row + 1);
    for (int chain = 0; reader_.sees(Lexeme::name, weakest[row].front()); ++chain) {
      count(chain);
      std::string symbol = reader_.take().text;
      left = binary(std::move(symbol), std::move(left), logic(row + 1));
    }
    return left;
  }

 private:
  void count(int chain) const {
    if (chain >= longest_chain)
      reader_.fail(fmt::format("a chain of more than {} operations", longest_chain));
  }

  ExpressionPtr negation() {
    if (!reader_.takes_name("not")) return comparison();
    const TokenReader::Level level(reader_);
    return unary("not", negation());
  }

  ExpressionPtr comparison() {
    ExpressionPtr left = arithmetic(0);
    for (int chain = 0;; ++chain) {
      count(chain);
      if (reader_.takes_name("in")) {
        left = binary("in", std::move(left), arithmetic(0));
      } else if (reader_.sees(Lexeme::name, "not") && reader_.next(1).text == "in") {
        reader_.take();
        reader_.take();
        left = unary("not", binary("in", std::move(left), arithmetic(0)));
      } else if (is_symbol({"==", "!=", "<", ">", "<=", ">="})) {
        std::string symbol = reader_.take().text;
        left = binary(std::move(symbol), std::move(left), arithmetic(0));
      } else {
        return left;
      }
    }
  }

  bool is_symbol(std::initializer_list<std::string_view> symbols) const {
    if (!reader_.sees(Lexeme::symbol)) return false;
    return std::ranges::find(symbols, reader_.next().text) != symbols.end();
  }

  ExpressionPtr arithmetic(std::size_t row) {
    if (row == std::size(rows)) return sign();
    ExpressionPtr left = arithmetic(row + 1);
    for (int chain = 0;
         reader_.sees(Lexeme::symbol) && std::ranges::find(rows[row], reader_.next().text) != rows[row].end();
         ++chain) {
      count(chain);
      std::string symbol = reader_.take().text;
      left = binary(std::move(symbol), std::move(left), arithmetic(row + 1));
    }
    return left;
  }

  ExpressionPtr sign() {
    if (is_symbol({"-", "+"})) {
      const TokenReader::Level level(reader_);
      std::string symbol = reader_.take().text;
      return unary(std::move(symbol), sign());
    }
    return tests(filters(primary()));
  }

  ExpressionPtr filters(ExpressionPtr value) {
    for (int chain = 0;; ++chain) {
      count(chain);
      if (reader_.takes_symbol(".")) {
        std::string name =
            reader_.sees(Lexeme::integer) ? reader_.take().text : reader_.need(Lexeme::name, "a name");
        if (reader_.takes_symbol("(")) {
          value = method_call(std::move(value), std::move(name), arguments());
        } else {
          value = member(std::move(value), literal(std::move(name)));
        }
      } else if (reader_.takes_symbol("[")) {
        value = subscript(std::move(value));
      } else if (reader_.takes_symbol("(")) {
        value = call(std::move(value), arguments());
      } else if (reader_.takes_symbol("|")) {
        std::string name = reader_.need(Lexeme::name, "a filter");
        ArgumentNodes given = reader_.takes_symbol("(") ? arguments() : ArgumentNodes{};
        value = filter(std::move(value), std::move(name), std::move(given));
      } else {
        return value;
      }
    }
  }

  ExpressionPtr tests(ExpressionPtr value) {
    for (int chain = 0; reader_.takes_name("is"); ++chain) {
      count(chain);
      const bool negated = reader_.takes_name("not");
      std::string name = reader_.need(Lexeme::name, "a test");
      ArgumentNodes given;
      if (reader_.takes_symbol("(")) {
        given = arguments();
      } else if (name == "equalto" || name == "eq" || name == "in" || name == "divisibleby") {
        given.positional.push_back(filters(primary()));
      }
      value = test(std::move(value), std::move(name), std::move(given));
      if (negated) value = unary("not", std::move(value));
    }
    return value;
  }

  /// [key] or [begin:end:step], after the bracket.
  ExpressionPtr subscript(ExpressionPtr object) {
    ExpressionPtr bounds[3];
    int colons = 0;
    while (!reader_.takes_symbol("]")) {
      if (reader_.takes_symbol(":")) {
        if (++colons > 2) reader_.fail("a slice has three parts at most");
      } else {
        bounds[colons] = conditional();
        if (!reader_.sees(Lexeme::symbol, ":") && !reader_.sees(Lexeme::symbol, "]"))
          reader_.need_symbol("]");
      }
    }
    if (colons > 0)
      return slice(std::move(object), std::move(bounds[0]), std::move(bounds[1]), std::move(bounds[2]));
    if (!bounds[0]) reader_.fail("an index expected");
    return member(std::move(object), std::move(bounds[0]));
  }

  /// After the opening bracket.
  ArgumentNodes arguments() {
    ArgumentNodes out;
    while (!reader_.takes_symbol(")")) {
      if (reader_.sees(Lexeme::name) && reader_.next(1).kind == Lexeme::symbol &&
          reader_.next(1).text == "=") {
        std::string name = reader_.take().text;
        reader_.take();
        out.named.emplace_back(std::move(name), conditional());
      } else {
        out.positional.push_back(conditional());
      }
      if (!reader_.sees(Lexeme::symbol, ")")) reader_.need_symbol(",");
    }
    return out;
  }

  std::vector<ExpressionPtr> members(std::string_view close, std::vector<ExpressionPtr> first = {}) {
    while (!reader_.takes_symbol(close)) {
      first.push_back(conditional());
      if (!reader_.sees(Lexeme::symbol, close)) reader_.need_symbol(",");
    }
    return first;
  }

  ExpressionPtr primary() {
    const TokenReader::Level level(reader_);
    if (reader_.takes_symbol("(")) {
      if (reader_.takes_symbol(")")) return list({});
      std::vector<ExpressionPtr> tuple;
      tuple.push_back(conditional());
      if (reader_.takes_symbol(")")) return std::move(tuple.front());
      reader_.need_symbol(",");
      return list(members(")", std::move(tuple)));
    }
    if (reader_.takes_symbol("[")) return list(members("]"));
    if (reader_.takes_symbol("{")) return dictionary();
    const Token token = reader_.take();
    switch (token.kind) {
      case Lexeme::string:
        return literal(token.text);
      case Lexeme::integer:
        return literal(number<std::int64_t>(token.text));
      case Lexeme::real:
        return literal(number<double>(token.text));
      case Lexeme::name:
        if (token.text == "true" || token.text == "True") return literal(true);
        if (token.text == "false" || token.text == "False") return literal(false);
        if (token.text == "none" || token.text == "None") return literal(None{});
        return variable(token.text);
      default:
        reader_.fail(fmt::format("a value expected, got '{}'", token.text));
    }
  }

  template <class Number>
  Number number(const std::string& text) {
    Number value{};
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) {
      reader_.fail(fmt::format("{} is too large", text));
    }
    return value;
  }

  ExpressionPtr dictionary() {
    std::vector<std::pair<ExpressionPtr, ExpressionPtr>> members;
    while (!reader_.takes_symbol("}")) {
      ExpressionPtr key = conditional();
      reader_.need_symbol(":");
      members.emplace_back(std::move(key), conditional());
      if (!reader_.sees(Lexeme::symbol, "}")) reader_.need_symbol(",");
    }
    return mapping(std::move(members));
  }

  TokenReader& reader_;
};

}  // namespace

ExpressionPtr parse_expression(TokenReader& reader) {
  return ExpressionParser(reader).conditional();
}

ExpressionPtr parse_operand(TokenReader& reader) {
  const TokenReader::Level level(reader);
  return ExpressionParser(reader).logic(0);
}

}  // namespace spectr::chat

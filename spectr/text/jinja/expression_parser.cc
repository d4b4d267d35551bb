#include "spectr/text/jinja/expression_parser.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace spectr::jinja {
namespace {

// The operators from weakest to strongest; comparisons are between "and" and the sums. Operators of a row
// have equal precedence.
constexpr std::string_view either[] = {"or"}, both[] = {"and"}, sums[] = {"+", "-"}, concatenation[] = {"~"},
                           products[] = {"*", "/", "//", "%"}, powers[] = {"**"};
constexpr std::span<const std::string_view> weakest[] = {either, both};
constexpr std::span<const std::string_view> rows[] = {sums, concatenation, products, powers};

// An operation nests its operand by at most two nodes. Together with the limit of bracket levels, this bounds
// the depth of an expression's tree.
constexpr int max_operations = 512;

// Names that continue the expression around a test.
constexpr std::string_view not_arguments[] = {"and", "or", "if", "else", "is", "in", "not"};

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenReader& reader, ExpressionPtr caller = nullptr)
      : reader_(reader), caller_(std::move(caller)) {}

  ExpressionPtr conditional() {
    const TokenReader::Level level(reader_);
    ExpressionPtr value = logic(0);
    while (reader_.takes_name("if")) {
      count();
      ExpressionPtr condition = logic(0);
      ExpressionPtr fallback = reader_.takes_name("else") ? conditional() : nullptr;
      value = choice(std::move(condition), std::move(value), std::move(fallback));
    }
    return value;
  }

  ExpressionPtr logic(std::size_t row) {
    if (row == std::size(weakest)) return negation();
    ExpressionPtr left = logic(row + 1);
    while (reader_.sees(Lexeme::name, weakest[row].front())) {
      count();
      std::string symbol = reader_.take().text;
      left = binary(std::move(symbol), std::move(left), logic(row + 1));
    }
    return left;
  }

  /// Reads one value, or a tuple of several without brackets, each with `one`.
  template <class One>
  ExpressionPtr values(One one) {
    ExpressionPtr first = one();
    if (!reader_.sees(Lexeme::symbol, ",")) return first;
    std::vector<ExpressionPtr> all;
    all.push_back(std::move(first));
    while (reader_.takes_symbol(",")) {
      const bool ends = reader_.sees(Lexeme::print_end) || reader_.sees(Lexeme::block_end) ||
                        reader_.sees(Lexeme::name, "recursive");
      if (ends) break;
      all.push_back(one());
    }
    return tuple(std::move(all));
  }

  ExpressionPtr filters(ExpressionPtr value, bool bar_before_first) {
    if (!bar_before_first) value = one_filter(std::move(value));
    while (takes_operation("|")) value = one_filter(std::move(value));
    return value;
  }

  ExpressionPtr block_call() {
    ExpressionPtr value = members_of(primary());
    if (caller_) reader_.fail("a call expected");
    return value;
  }

 private:
  void count() {
    if (++operations_ > max_operations)
      reader_.fail(fmt::format("an expression of more than {} operations", max_operations));
  }

  ExpressionPtr negation() {
    if (!reader_.takes_name("not")) return comparison();
    const TokenReader::Level level(reader_);
    return unary("not", negation());
  }

  /// Reads comparisons: a < b < c compares both pairs.
  ExpressionPtr comparison() {
    ExpressionPtr first = arithmetic(0);
    std::vector<std::pair<std::string, ExpressionPtr>> rest;
    for (std::string symbol; !(symbol = comparator()).empty();)
      rest.emplace_back(std::move(symbol), arithmetic(0));
    return rest.empty() ? std::move(first) : comparisons(std::move(first), std::move(rest));
  }

  /// Takes the comparison operator that comes next; returns an empty string if there is none.
  std::string comparator() {
    if (reader_.takes_name("in")) return "in";
    if (reader_.sees(Lexeme::name, "not") && reader_.next(1).text == "in") {
      reader_.take();
      reader_.take();
      return "not in";
    }
    return is_symbol({"==", "!=", "<", ">", "<=", ">="}) ? reader_.take().text : "";
  }

  bool is_symbol(std::span<const std::string_view> symbols) const {
    return reader_.sees(Lexeme::symbol) && std::ranges::find(symbols, reader_.next().text) != symbols.end();
  }
  bool is_symbol(std::initializer_list<std::string_view> symbols) const {
    return is_symbol(std::span(symbols.begin(), symbols.size()));
  }

  ExpressionPtr arithmetic(std::size_t row) {
    if (row == std::size(rows)) return filtered(sign());
    ExpressionPtr left = arithmetic(row + 1);
    while (is_symbol(rows[row])) {
      count();
      std::string symbol = reader_.take().text;
      left = binary(std::move(symbol), std::move(left), arithmetic(row + 1));
    }
    return left;
  }

  ExpressionPtr sign() {
    if (!is_symbol({"-", "+"})) return members_of(primary());
    const TokenReader::Level level(reader_);
    std::string symbol = reader_.take().text;
    return unary(std::move(symbol), sign());
  }

  bool takes_operation(std::string_view symbol) {
    if (!reader_.takes_symbol(symbol)) return false;
    count();
    return true;
  }

  /// Reads the postfixes of a value: members, indices, calls.
  ExpressionPtr members_of(ExpressionPtr value) {
    for (;;) {
      if (takes_operation(".")) {
        if (reader_.sees(Lexeme::integer)) {
          value = member(std::move(value), primary());
          continue;
        }
        std::string name = reader_.need(Lexeme::name, "a name");
        if (reader_.takes_symbol("(")) {
          value = method_call(std::move(value), std::move(name), arguments());
        } else {
          value = attribute(std::move(value), std::move(name));
        }
      } else if (takes_operation("[")) {
        value = subscript(std::move(value));
      } else if (takes_operation("(")) {
        std::string name = std::exchange(name_, {});
        value = call(std::move(value), std::move(name), arguments());
      } else {
        return value;
      }
    }
  }

  /// Reads filters and tests.
  ExpressionPtr filtered(ExpressionPtr value) {
    for (;;) {
      if (takes_operation("|")) {
        value = one_filter(std::move(value));
      } else if (reader_.takes_name("is")) {
        count();
        value = tested(std::move(value));
      } else {
        return value;
      }
    }
  }

  ExpressionPtr one_filter(ExpressionPtr value) {
    std::string name = reader_.need(Lexeme::name, "a filter");
    ArgumentNodes given = reader_.takes_symbol("(") ? arguments() : ArgumentNodes{};
    return filter(std::move(value), std::move(name), std::move(given));
  }

  /// Reads a test after "is". A single argument needs no brackets.
  ExpressionPtr tested(ExpressionPtr value) {
    const bool negated = reader_.takes_name("not");
    std::string name = reader_.need(Lexeme::name, "a test");
    ArgumentNodes given;
    if (reader_.takes_symbol("(")) {
      given = arguments();
    } else if (starts_argument()) {
      given.positional.push_back(members_of(primary()));
    }
    value = test(std::move(value), std::move(name), std::move(given));
    return negated ? unary("not", std::move(value)) : std::move(value);
  }

  bool starts_argument() const {
    const Token& token = reader_.next();
    switch (token.kind) {
      case Lexeme::string:
      case Lexeme::integer:
      case Lexeme::real:
        return true;
      case Lexeme::symbol:
        return token.text == "[" || token.text == "{";
      case Lexeme::name:
        return std::ranges::find(not_arguments, token.text) == std::end(not_arguments);
      default:
        return false;
    }
  }

  /// Reads [key] or [begin:end:step], after the bracket.
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

  /// Reads arguments after the opening bracket.
  ArgumentNodes arguments() {
    ArgumentNodes out;
    while (!reader_.takes_symbol(")")) {
      if (reader_.takes_symbol("*")) {
        take_once(out.all_positional);
      } else if (reader_.takes_symbol("**")) {
        take_once(out.all_named);
      } else if (reader_.sees(Lexeme::name) && reader_.next(1).kind == Lexeme::symbol &&
                 reader_.next(1).text == "=") {
        std::string name = reader_.take().text;
        reader_.take();
        out.named.emplace_back(std::move(name), conditional());
      } else {
        out.positional.push_back(conditional());
      }
      if (!reader_.sees(Lexeme::symbol, ")")) reader_.need_symbol(",");
    }
    if (caller_ && reader_.sees(Lexeme::block_end)) out.named.emplace_back("caller", std::move(caller_));
    return out;
  }

  void take_once(ExpressionPtr& spread) {
    if (spread) reader_.fail("two of * or ** in a call");
    spread = conditional();
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
      if (reader_.takes_symbol(")")) return tuple({});
      std::vector<ExpressionPtr> first;
      first.push_back(conditional());
      if (reader_.takes_symbol(")")) return std::move(first.front());
      reader_.need_symbol(",");
      return tuple(members(")", std::move(first)));
    }
    if (reader_.takes_symbol("[")) return list(members("]"));
    if (reader_.takes_symbol("{")) return dictionary();
    const Token token = reader_.take();
    switch (token.kind) {
      case Lexeme::string: {
        std::string text = token.text;
        while (reader_.sees(Lexeme::string)) text += reader_.take().text;
        return literal(MarkedText(std::move(text)));
      }
      case Lexeme::integer:
        return literal(number<std::int64_t>(token.text));
      case Lexeme::real:
        return literal(number<double>(token.text));
      case Lexeme::name:
        if (token.text == "true" || token.text == "True") return literal(true);
        if (token.text == "false" || token.text == "False") return literal(false);
        if (token.text == "none" || token.text == "None") return literal(None{});
        if (reader_.sees(Lexeme::symbol, "(")) name_ = token.text;
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
  std::string name_;      // variable that is called next, or empty
  ExpressionPtr caller_;  // `caller` argument for the call that ends the tag, until it is used
  int operations_ = 0;
};

}  // namespace

ExpressionPtr parse_expression(TokenReader& reader) {
  return ExpressionParser(reader).conditional();
}

ExpressionPtr parse_values(TokenReader& reader) {
  ExpressionParser parser(reader);
  return parser.values([&parser] { return parser.conditional(); });
}

ExpressionPtr parse_operands(TokenReader& reader) {
  const TokenReader::Level level(reader);
  ExpressionParser parser(reader);
  return parser.values([&parser] { return parser.logic(0); });
}

ExpressionPtr parse_filters(TokenReader& reader, ExpressionPtr input, bool bar_before_first) {
  return ExpressionParser(reader).filters(std::move(input), bar_before_first);
}

ExpressionPtr parse_block_call(TokenReader& reader, ExpressionPtr caller) {
  return ExpressionParser(reader, std::move(caller)).block_call();
}

}  // namespace spectr::jinja

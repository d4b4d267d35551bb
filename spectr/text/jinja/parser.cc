#include "spectr/text/jinja/parser.h"

#include <algorithm>

#include "spectr/text/jinja/expression_parser.h"
#include "spectr/text/jinja/token_reader.h"

namespace spectr::jinja {
namespace {

class Parser {
 public:
  Parser(std::vector<Token> tokens, const Limits& limits) : reader_(std::move(tokens), limits.nesting) {}

  Block whole() {
    Block all = block({});
    if (!reader_.sees(Lexeme::end)) reader_.fail(fmt::format("'{}' ends nothing", reader_.next(1).text));
    return all;
  }

 private:
  using Ends = std::initializer_list<std::string_view>;

  bool sees_end(Ends ends) const {
    if (!reader_.sees(Lexeme::block_begin)) return false;
    return std::ranges::find(ends, reader_.next(1).text) != ends.end() ||
           reader_.next(1).text.starts_with("end");
  }

  /// The statements up to a tag that is named by one of `ends`, which is left, or up to the end.
  Block block(Ends ends) {
    const TokenReader::Level level(reader_);
    Block statements;
    while (!reader_.sees(Lexeme::end) && !sees_end(ends)) statements.push_back(statement());
    return statements;
  }

  StatementPtr statement() {
    Token token = reader_.take();
    if (token.kind == Lexeme::text) return text(std::move(token.text));
    if (token.kind == Lexeme::print_begin) {
      ExpressionPtr value = parse_expression(reader_);
      reader_.need(Lexeme::print_end, "'}}'");
      return print(std::move(value));
    }
    const std::string name = reader_.need(Lexeme::name, "a tag");
    if (name == "if") return branching();
    if (name == "for") return looping();
    if (name == "set") return setting();
    if (name == "macro") return defining();
    if (name == "break" || name == "continue") {
      if (loops_ == 0) reader_.fail(fmt::format("'{}' outside a loop", name));
      close_tag();
      return jump(name == "break" ? Jump::leave : Jump::next);
    }
    if (name == "generation") return transparent();
    if (name == "filter") return filtering();
    if (name == "call") return calling();
    if (name == "with") return scoping();
    reader_.fail(fmt::format("the tag '{}' is not supported", name));
  }

  void close_tag() { reader_.need(Lexeme::block_end, "'%}'"); }

  /// {% NAME %}, which must come next.
  void end_tag(std::string_view name) {
    if (!reader_.sees(Lexeme::block_begin) || reader_.next(1).text != name) {
      reader_.fail(fmt::format("'{}' is missing", name));
    }
    reader_.take();
    reader_.take();
    close_tag();
  }

  bool takes_tag(std::string_view name) {
    if (!reader_.sees(Lexeme::block_begin) || reader_.next(1).text != name) return false;
    reader_.take();
    reader_.take();
    return true;
  }

  StatementPtr branching() {
    std::vector<std::pair<ExpressionPtr, Block>> all;
    do {
      ExpressionPtr condition = parse_expression(reader_);
      close_tag();
      all.emplace_back(std::move(condition), block({"elif", "else"}));
    } while (takes_tag("elif"));
    if (takes_tag("else")) {
      close_tag();
      all.emplace_back(nullptr, block({}));
    }
    end_tag("endif");
    return branches(std::move(all));
  }

  std::vector<std::string> names() {
    const bool bracket = reader_.takes_symbol("(");
    std::vector<std::string> all = {reader_.need(Lexeme::name, "a name")};
    while (reader_.takes_symbol(",")) all.push_back(reader_.need(Lexeme::name, "a name"));
    if (bracket) reader_.need_symbol(")");
    return all;
  }

  StatementPtr looping() {
    Loop out;
    out.names = names();
    if (!reader_.takes_name("in")) reader_.fail("'in' expected");
    out.over = parse_operand(reader_);
    if (reader_.takes_name("if")) out.condition = parse_expression(reader_);
    if (reader_.sees(Lexeme::name, "recursive")) reader_.fail("recursive loops are not supported");
    close_tag();
    ++loops_;
    const std::size_t begin = reader_.position();
    out.body = block({"else"});
    out.uses_state = reader_.names_since(begin, "loop");
    --loops_;
    if (takes_tag("else")) {
      close_tag();
      out.fallback = block({});
    }
    end_tag("endfor");
    return loop(std::move(out));
  }

  /// A block whose output is collected apart: no `break` leaves it.
  Block captured_block() {
    const int outer = std::exchange(loops_, 0);
    Block body = block({});
    loops_ = outer;
    return body;
  }

  StatementPtr setting() {
    std::vector<std::string> targets = names();
    if (targets.size() == 1 && reader_.takes_symbol(".")) {
      std::string member = reader_.need(Lexeme::name, "a name");
      reader_.need_symbol("=");
      ExpressionPtr value = parse_expression(reader_);
      close_tag();
      return member_assignment(std::move(targets.front()), std::move(member), std::move(value));
    }
    if (!reader_.takes_symbol("=")) {
      auto body = std::make_shared<Block>();
      ExpressionPtr value = parse_filters(reader_, captured(body), true);
      close_tag();
      *body = captured_block();
      end_tag("endset");
      return assignment(std::move(targets), std::move(value));
    }
    std::vector<ExpressionPtr> values;
    do {
      values.push_back(parse_expression(reader_));
    } while (reader_.takes_symbol(","));
    close_tag();
    return assignment(std::move(targets),
                      values.size() == 1 ? std::move(values.front()) : tuple(std::move(values)));
  }

  StatementPtr defining() {
    Macro out;
    out.name = reader_.need(Lexeme::name, "a name");
    reader_.need_symbol("(");
    read_parameters(out);
    close_tag();
    read_body(out);
    end_tag("endmacro");
    return macro(std::move(out));
  }

  /// After the opening bracket.
  void read_parameters(Macro& out) {
    while (!reader_.takes_symbol(")")) {
      std::string name = reader_.need(Lexeme::name, "a parameter");
      out.parameters.emplace_back(std::move(name),
                                  reader_.takes_symbol("=") ? parse_expression(reader_) : nullptr);
      if (!reader_.sees(Lexeme::symbol, ")")) reader_.need_symbol(",");
    }
  }

  void read_body(Macro& out) {
    const std::size_t begin = reader_.position();
    out.body = captured_block();
    out.any_positional = reader_.names_since(begin, "varargs");
    out.any_named = reader_.names_since(begin, "kwargs");
  }

  StatementPtr filtering() {
    auto body = std::make_shared<Block>();
    ExpressionPtr value = parse_filters(reader_, captured(body), false);
    close_tag();
    *body = captured_block();
    end_tag("endfilter");
    return print(std::move(value));
  }

  StatementPtr calling() {
    auto caller = std::make_shared<Macro>();
    caller->name = "caller";
    if (reader_.takes_symbol("(")) read_parameters(*caller);
    ExpressionPtr value = parse_block_call(reader_, function(caller));
    close_tag();
    read_body(*caller);
    end_tag("endcall");
    return print(std::move(value));
  }

  StatementPtr scoping() {
    std::vector<std::pair<std::string, ExpressionPtr>> variables;
    while (!reader_.sees(Lexeme::block_end)) {
      std::string name = reader_.need(Lexeme::name, "a name");
      reader_.need_symbol("=");
      variables.emplace_back(std::move(name), parse_expression(reader_));
      if (!reader_.sees(Lexeme::block_end)) reader_.need_symbol(",");
    }
    close_tag();
    Block body = block({});
    end_tag("endwith");
    return with(std::move(variables), std::move(body));
  }

  /// {% generation %}, which marks what training looks at.
  StatementPtr transparent() {
    close_tag();
    std::vector<std::pair<ExpressionPtr, Block>> always;
    always.emplace_back(nullptr, block({}));
    end_tag("endgeneration");
    return branches(std::move(always));
  }

  TokenReader reader_;
  int loops_ = 0;
};

}  // namespace

Block parse(std::string_view source, const Limits& limits) {
  if (source.size() > limits.source) {
    throw TemplateError(fmt::format("it has {} bytes, at most {} are read", source.size(), limits.source));
  }
  return Parser(tokenize(source), limits).whole();
}

}  // namespace spectr::jinja

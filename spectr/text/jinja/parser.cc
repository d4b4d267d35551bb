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
    if (!blocks_.empty()) all.insert(all.begin(), blocks_by_name(std::move(blocks_)));
    return all;
  }

 private:
  using Ends = std::initializer_list<std::string_view>;

  bool sees_end(Ends ends) const {
    if (!reader_.sees(Lexeme::block_begin)) return false;
    return std::ranges::find(ends, reader_.next(1).text) != ends.end() ||
           reader_.next(1).text.starts_with("end");
  }

  /// Reads statements up to the end or to a tag named in `ends`, which is not taken.
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
      ExpressionPtr value = parse_values(reader_);
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
    if (name == "block") return naming();
    if (name == "autoescape") return not_escaping();
    reader_.fail(fmt::format("the tag '{}' is not supported", name));
  }

  void close_tag() { reader_.need(Lexeme::block_end, "'%}'"); }

  /// Reads {% NAME %}, which must come next.
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
      ExpressionPtr condition = parse_values(reader_);
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

  /// Reads one or several targets.
  Target targets() {
    const TokenReader::Level level(reader_);
    Target first = target();
    if (!reader_.sees(Lexeme::symbol, ",")) return first;
    Target all;
    all.parts.push_back(std::move(first));
    while (reader_.takes_symbol(",")) {
      if (!reader_.sees(Lexeme::name) && !reader_.sees(Lexeme::symbol, "(")) break;
      if (reader_.sees(Lexeme::name, "in")) break;
      all.parts.push_back(target());
    }
    return all;
  }

  Target target() {
    if (reader_.takes_symbol("(")) {
      Target inside = targets();
      reader_.need_symbol(")");
      return inside;
    }
    Target one{reader_.need(Lexeme::name, "a name"), {}};
    if (reader_.takes_symbol(".")) one.member = reader_.need(Lexeme::name, "a name");
    return one;
  }

  StatementPtr looping() {
    Loop out;
    out.target = targets();
    if (!reader_.takes_name("in")) reader_.fail("'in' expected");
    out.over = parse_operands(reader_);
    if (reader_.takes_name("if")) out.condition = parse_expression(reader_);
    out.is_recursive = reader_.takes_name("recursive");
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

  /// Reads a block whose output is captured; `break` cannot leave it.
  Block captured_block() {
    const int outer = std::exchange(loops_, 0);
    Block body = block({});
    loops_ = outer;
    return body;
  }

  StatementPtr setting() {
    Target target = targets();
    if (reader_.takes_symbol("=")) {
      ExpressionPtr value = parse_values(reader_);
      close_tag();
      return assignment(std::move(target), std::move(value));
    }
    auto body = std::make_shared<Block>();
    ExpressionPtr value = parse_filters(reader_, captured(body), true);
    close_tag();
    *body = captured_block();
    end_tag("endset");
    return assignment(std::move(target), std::move(value));
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

  /// Reads parameters after the opening bracket.
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
    out.calls_caller = reader_.names_since(begin, "caller");
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

  /// Reads {% block name %} and executes it at its place, as templates cannot extend others.
  StatementPtr naming() {
    std::string name = reader_.need(Lexeme::name, "a name");
    const bool known = std::ranges::find(blocks_, name, &NamedBlock::first) != blocks_.end();
    if (known) reader_.fail(fmt::format("two blocks are called '{}'", name));
    const bool scoped = reader_.takes_name("scoped");
    if (reader_.sees(Lexeme::name, "required")) reader_.fail("required blocks are not supported");
    close_tag();
    auto body = std::make_shared<Block>();
    blocks_.emplace_back(name, body);
    *body = captured_block();
    reader_.take();
    if (reader_.take().text != "endblock") reader_.fail("'endblock' is missing");
    if (reader_.sees(Lexeme::name) && reader_.take().text != name)
      reader_.fail(fmt::format("'endblock' of another block than '{}'", name));
    close_tag();
    return named_block(std::move(body), scoped);
  }

  StatementPtr not_escaping() {
    if (!reader_.takes_name("false") && !reader_.takes_name("False"))
      reader_.fail("autoescape is supported with false only");
    close_tag();
    Block body = block({});
    end_tag("endautoescape");
    return with({}, std::move(body));
  }

  /// Reads {% generation %}, which marks text for training and has no effect.
  StatementPtr transparent() {
    close_tag();
    std::vector<std::pair<ExpressionPtr, Block>> always;
    always.emplace_back(nullptr, block({}));
    end_tag("endgeneration");
    return branches(std::move(always));
  }

  using NamedBlock = std::pair<std::string, std::shared_ptr<const Block>>;

  TokenReader reader_;
  std::vector<NamedBlock> blocks_;
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

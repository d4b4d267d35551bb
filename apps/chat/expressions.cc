#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/chat/nodes.h"

namespace spectr::chat {
namespace {

/// An expression whose value a function tells.
template <class Evaluate>
class Node final : public Expression {
 public:
  explicit Node(Evaluate evaluate) : evaluate_(std::move(evaluate)) {}
  Value evaluate(Run& run) const override {
    run.step();
    return evaluate_(run);
  }

 private:
  Evaluate evaluate_;
};

template <class Evaluate>
ExpressionPtr node(Evaluate evaluate) {
  return std::make_unique<Node<Evaluate>>(std::move(evaluate));
}

[[noreturn]] void mismatch(const std::string& symbol, const Value& a, const Value& b) {
  throw TemplateError(fmt::format("{} and {} do not go with '{}'", a.kind(), b.kind(), symbol));
}

/// A new value, counted.
Value made(Run& run, Value value) {
  run.charge(value);
  return value;
}

bool contains(const Value& whole, const Value& part) {
  if (const auto* text = whole.string()) {
    if (const auto* inner = part.string()) return text->contains(*inner);
    mismatch("in", part, whole);
  }
  if (const auto* members = whole.list()) return std::ranges::find(*members, part) != members->end();
  if (const auto* dict = whole.dict())
    return part.string() != nullptr && dict->find(*part.string()) != nullptr;
  if (whole.is_undefined()) return false;
  mismatch("in", part, whole);
}

bool less(const std::string& symbol, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  if (a.string() != nullptr && b.string() != nullptr) return *a.string() < *b.string();
  mismatch(symbol, a, b);
}

Value arithmetic(const std::string& symbol, const Value& a, const Value& b) {
  if (!a.is_number() || !b.is_number()) mismatch(symbol, a, b);
  const double x = a.number(), y = b.number();
  if (y == 0.0 && (symbol == "/" || symbol == "//" || symbol == "%"))
    throw TemplateError("a division by zero");
  double result = 0.0;
  if (symbol == "+") result = x + y;
  if (symbol == "-") result = x - y;
  if (symbol == "*") result = x * y;
  if (symbol == "/") return x / y;
  if (symbol == "//") result = std::floor(x / y);
  if (symbol == "%") result = x - y * std::floor(x / y);
  if (symbol == "**") result = std::pow(x, y);
  const bool real = a.as<double>() != nullptr || b.as<double>() != nullptr;
  if (!std::isfinite(result)) throw TemplateError(fmt::format("'{}' gives no finite number", symbol));
  if (real || std::abs(result) >= 0x1p53) return result;
  return static_cast<std::int64_t>(result);
}

Value operate(Run& run, const std::string& symbol, const Value& a, const Value& b) {
  run.charge(a);
  run.charge(b);
  if (symbol == "==") return a == b;
  if (symbol == "!=") return !(a == b);
  if (symbol == "<") return less(symbol, a, b);
  if (symbol == ">") return less(symbol, b, a);
  if (symbol == "<=") return !less(symbol, b, a);
  if (symbol == ">=") return !less(symbol, a, b);
  if (symbol == "in") return contains(b, a);
  if (symbol == "~") return made(run, a.text() + b.text());
  if (symbol == "+" && a.string() != nullptr && b.string() != nullptr)
    return made(run, *a.string() + *b.string());
  if (symbol == "+" && a.list() != nullptr && b.list() != nullptr) {
    List both = *a.list();
    both.insert(both.end(), b.list()->begin(), b.list()->end());
    return made(run, both);
  }
  return arithmetic(symbol, a, b);
}

/// An index from the front, or from the back where it is negative.
std::int64_t place(const Value& index, std::int64_t otherwise, std::size_t size) {
  if (index.is_undefined() || index.is_none()) return otherwise;
  const auto* integer = index.as<std::int64_t>();
  if (integer == nullptr) throw TemplateError(fmt::format("{} is no index", index.kind()));
  return *integer < 0 ? *integer + static_cast<std::int64_t>(size) : *integer;
}

/// The part [begin, end) in steps of `step`, of anything with members.
template <class Sequence>
Sequence part(const Sequence& whole, const Value& from, const Value& to, const Value& by) {
  const auto size = static_cast<std::int64_t>(whole.size());
  const std::int64_t step = by.is_undefined() ? 1 : place(by, 1, 0);
  if (step == 0) throw TemplateError("a slice in steps of 0");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const std::int64_t begin = std::clamp(place(from, step > 0 ? 0 : size - 1, whole.size()), low, high);
  const std::int64_t end = std::clamp(place(to, step > 0 ? size : -1, whole.size()), low, high);
  Sequence out;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step)
    out.push_back(whole[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace

Arguments ArgumentNodes::evaluate(Run& run) const {
  Arguments arguments;
  for (const auto& node : positional) arguments.positional.push_back(node->evaluate(run));
  for (const auto& [name, node] : named) arguments.named.emplace_back(name, node->evaluate(run));
  return arguments;
}

ExpressionPtr literal(Value value) {
  return node([value = std::move(value)](Run&) { return value; });
}

ExpressionPtr variable(std::string name) {
  return node([name = std::move(name)](Run& run) {
    const Value* value = run.find(name);
    return value == nullptr ? Value() : *value;
  });
}

ExpressionPtr list(std::vector<ExpressionPtr> members) {
  return node([members = std::move(members)](Run& run) -> Value {
    List values;
    for (const auto& one : members) values.push_back(one->evaluate(run));
    return made(run, std::move(values));
  });
}

ExpressionPtr mapping(std::vector<std::pair<ExpressionPtr, ExpressionPtr>> members) {
  return node([members = std::move(members)](Run& run) -> Value {
    Dict dict;
    for (const auto& [key, value] : members) dict.set(key->evaluate(run).text(), value->evaluate(run));
    return made(run, std::move(dict));
  });
}

ExpressionPtr unary(std::string symbol, ExpressionPtr operand) {
  return node([symbol = std::move(symbol), operand = std::move(operand)](Run& run) -> Value {
    const Value value = operand->evaluate(run);
    if (symbol == "not") return !value.truth();
    return arithmetic(symbol, std::int64_t{0}, value);
  });
}

ExpressionPtr binary(std::string symbol, ExpressionPtr left, ExpressionPtr right) {
  return node([symbol = std::move(symbol), left = std::move(left), right = std::move(right)](Run& run) {
    Value a = left->evaluate(run);
    if (symbol == "and") return a.truth() ? right->evaluate(run) : a;
    if (symbol == "or") return a.truth() ? a : right->evaluate(run);
    return operate(run, symbol, a, right->evaluate(run));
  });
}

ExpressionPtr choice(ExpressionPtr condition, ExpressionPtr then, ExpressionPtr otherwise) {
  return node(
      [condition = std::move(condition), then = std::move(then), otherwise = std::move(otherwise)](Run& run) {
        if (condition->evaluate(run).truth()) return then->evaluate(run);
        return otherwise ? otherwise->evaluate(run) : Value();
      });
}

ExpressionPtr member(ExpressionPtr object, ExpressionPtr key) {
  return node([object = std::move(object), key = std::move(key)](Run& run) -> Value {
    const Value whole = object->evaluate(run), name = key->evaluate(run);
    if (const auto* dict = whole.dict()) {
      const Value* found = name.string() == nullptr ? nullptr : dict->find(*name.string());
      return found == nullptr ? Value() : *found;
    }
    if (whole.is_undefined()) throw TemplateError(fmt::format("'{}' of an undefined value", name.text()));
    if (name.string() != nullptr) return {};
    if (const auto* members = whole.list()) {
      const std::int64_t i = place(name, -1, members->size());
      return i < 0 || i >= static_cast<std::int64_t>(members->size())
                 ? Value()
                 : (*members)[static_cast<std::size_t>(i)];
    }
    if (const auto* text = whole.string()) {
      const std::int64_t i = place(name, -1, text->size());
      return i < 0 || i >= static_cast<std::int64_t>(text->size())
                 ? Value()
                 : Value(std::string(1, (*text)[static_cast<std::size_t>(i)]));
    }
    return {};
  });
}

ExpressionPtr slice(ExpressionPtr object, ExpressionPtr begin, ExpressionPtr end, ExpressionPtr step) {
  return node([object = std::move(object), begin = std::move(begin), end = std::move(end),
               step = std::move(step)](Run& run) -> Value {
    const auto bound = [&run](const ExpressionPtr& one) { return one ? one->evaluate(run) : Value(); };
    const Value whole = object->evaluate(run), from = bound(begin), to = bound(end), by = bound(step);
    if (const auto* text = whole.string()) return made(run, part(*text, from, to, by));
    if (const auto* members = whole.list()) return made(run, part(*members, from, to, by));
    throw TemplateError(fmt::format("{} has no parts", whole.kind()));
  });
}

ExpressionPtr call(ExpressionPtr function, ArgumentNodes arguments) {
  return node([function = std::move(function), arguments = std::move(arguments)](Run& run) {
    const Value callee = function->evaluate(run);
    if (callee.function() == nullptr) throw TemplateError(fmt::format("{} cannot be called", callee.kind()));
    return (*callee.function())(run, arguments.evaluate(run));
  });
}

ExpressionPtr method_call(ExpressionPtr object, std::string name, ArgumentNodes arguments) {
  return node(
      [object = std::move(object), name = std::move(name), arguments = std::move(arguments)](Run& run) {
        const Value self = object->evaluate(run);
        run.charge(self);
        return made(run, call_method(run, self, name, arguments.evaluate(run)));
      });
}

ExpressionPtr filter(ExpressionPtr input, std::string name, ArgumentNodes arguments) {
  return node([input = std::move(input), name = std::move(name), arguments = std::move(arguments)](Run& run) {
    const Value value = input->evaluate(run);
    run.charge(value);
    return made(run, apply_filter(run, name, value, arguments.evaluate(run)));
  });
}

ExpressionPtr test(ExpressionPtr input, std::string name, ArgumentNodes arguments) {
  return node([input = std::move(input), name = std::move(name),
               arguments = std::move(arguments)](Run& run) -> Value {
    const Value value = input->evaluate(run);
    run.charge(value);
    return apply_test(run, name, value, arguments.evaluate(run));
  });
}

}  // namespace spectr::chat

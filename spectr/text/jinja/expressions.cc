#include <fmt/format.h>

#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/operations.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

/// An expression whose value a function computes.
template <class Evaluate>
class Node final : public Expression {
 public:
  explicit Node(Evaluate evaluate) : evaluate_(std::move(evaluate)) {}
  Value evaluate(Run& run) const override {
    const Run::Node node(run);
    return evaluate_(run);
  }

 private:
  Evaluate evaluate_;
};

template <class Evaluate>
ExpressionPtr node(Evaluate evaluate) {
  return std::make_unique<Node<Evaluate>>(std::move(evaluate));
}

List evaluated(const std::vector<ExpressionPtr>& members, Run& run) {
  List values;
  for (const auto& one : members) values.push_back(one->evaluate(run));
  return values;
}

}  // namespace

Arguments ArgumentNodes::evaluate(Run& run) const {
  Arguments arguments;
  for (const auto& node : positional) arguments.positional.push_back(node->evaluate(run));
  for (const auto& [name, node] : named) arguments.named.emplace_back(name, node->evaluate(run));
  if (all_positional) {
    const List more = members_of(run, all_positional->evaluate(run));
    arguments.positional.insert(arguments.positional.end(), more.begin(), more.end());
  }
  if (all_named) {
    const Value more = all_named->evaluate(run);
    if (more.mapping() == nullptr)
      throw TemplateError(fmt::format("** takes a mapping, got {}", more.kind()));
    run.walk(more);
    for (const auto& [name, value] : more.mapping()->members)
      arguments.named.emplace_back(name.text().bytes(), value);
  }
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
  return node([members = std::move(members)](Run& run) { return run.made(evaluated(members, run)); });
}

ExpressionPtr tuple(std::vector<ExpressionPtr> members) {
  return node([members = std::move(members)](Run& run) {
    List values = evaluated(members, run);
    return run.made(List(std::move(values), Sequence::tuple));
  });
}

ExpressionPtr mapping(std::vector<std::pair<ExpressionPtr, ExpressionPtr>> members) {
  return node([members = std::move(members)](Run& run) {
    Dict dict;
    for (const auto& [key, value] : members) {
      const Value name = key->evaluate(run);
      run.set_member(dict, name, value->evaluate(run));
    }
    return run.made(std::move(dict));
  });
}

ExpressionPtr unary(std::string symbol, ExpressionPtr operand) {
  return node([symbol = std::move(symbol), operand = std::move(operand)](Run& run) -> Value {
    const Value value = operand->evaluate(run);
    if (symbol == "not") return !value.truth();
    return calculate(run, symbol, std::int64_t{0}, value);
  });
}

ExpressionPtr binary(std::string symbol, ExpressionPtr left, ExpressionPtr right) {
  return node([symbol = std::move(symbol), left = std::move(left), right = std::move(right)](Run& run) {
    const Value a = left->evaluate(run);
    if (symbol == "and") return a.truth() ? right->evaluate(run) : a;
    if (symbol == "or") return a.truth() ? a : right->evaluate(run);
    const Value b = right->evaluate(run);
    return symbol == "~" ? concatenate(run, a, b) : calculate(run, symbol, a, b);
  });
}

ExpressionPtr comparisons(ExpressionPtr first, std::vector<std::pair<std::string, ExpressionPtr>> rest) {
  return node([first = std::move(first), rest = std::move(rest)](Run& run) -> Value {
    Value left = first->evaluate(run);
    for (const auto& [symbol, operand] : rest) {
      Value right = operand->evaluate(run);
      if (!compare(run, symbol, left, right)) return false;
      left = std::move(right);
    }
    return true;
  });
}

ExpressionPtr choice(ExpressionPtr condition, ExpressionPtr then, ExpressionPtr fallback) {
  return node(
      [condition = std::move(condition), then = std::move(then), fallback = std::move(fallback)](Run& run) {
        if (condition->evaluate(run).truth()) return then->evaluate(run);
        return fallback ? fallback->evaluate(run) : Value();
      });
}

ExpressionPtr member(ExpressionPtr object, ExpressionPtr key) {
  return node([object = std::move(object), key = std::move(key)](Run& run) {
    const Value whole = object->evaluate(run);
    return member_of(run, whole, key->evaluate(run));
  });
}

ExpressionPtr slice(ExpressionPtr object, ExpressionPtr begin, ExpressionPtr end, ExpressionPtr step) {
  return node([object = std::move(object), begin = std::move(begin), end = std::move(end),
               step = std::move(step)](Run& run) {
    const auto bound = [&run](const ExpressionPtr& one) { return one ? one->evaluate(run) : Value(); };
    const Value whole = object->evaluate(run), from = bound(begin), to = bound(end);
    return slice_of(run, whole, from, to, bound(step));
  });
}

ExpressionPtr attribute(ExpressionPtr object, std::string name) {
  return node([object = std::move(object), name = std::move(name)](Run& run) {
    return named_member(run, object->evaluate(run), name);
  });
}

ExpressionPtr call(ExpressionPtr function, std::string name, ArgumentNodes arguments) {
  return node(
      [function = std::move(function), name = std::move(name), arguments = std::move(arguments)](Run& run) {
        const Value callee = function->evaluate(run);
        return call_value(run, callee, name, arguments.evaluate(run));
      });
}

ExpressionPtr captured(std::shared_ptr<const Block> block) {
  return node([block = std::move(block)](Run& run) {
    return run.capture([&] {
      const Run::Scope scope(run);
      execute(*block, run);
    });
  });
}

ExpressionPtr method_call(ExpressionPtr object, std::string name, ArgumentNodes arguments) {
  return node(
      [object = std::move(object), name = std::move(name), arguments = std::move(arguments)](Run& run) {
        const Value self = object->evaluate(run);
        return call_method(run, self, name, arguments.evaluate(run));
      });
}

ExpressionPtr filter(ExpressionPtr input, std::string name, ArgumentNodes arguments) {
  return node([input = std::move(input), name = std::move(name), arguments = std::move(arguments)](Run& run) {
    const Value value = input->evaluate(run);
    return apply_filter(run, name, value, arguments.evaluate(run));
  });
}

ExpressionPtr test(ExpressionPtr input, std::string name, ArgumentNodes arguments) {
  return node([input = std::move(input), name = std::move(name),
               arguments = std::move(arguments)](Run& run) -> Value {
    const Value value = input->evaluate(run);
    return apply_test(run, name, value, arguments.evaluate(run));
  });
}

}  // namespace spectr::jinja

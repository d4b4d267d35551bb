#include <fmt/format.h>

#include <algorithm>

#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

template <class Execute>
class Node final : public Statement {
 public:
  explicit Node(Execute execute) : execute_(std::move(execute)) {}
  void execute(Run& run) const override {
    const Run::Node node(run);
    execute_(run);
  }

 private:
  Execute execute_;
};

template <class Execute>
StatementPtr node(Execute execute) {
  return std::make_unique<Node<Execute>>(std::move(execute));
}

void assign(Run& run, const std::vector<std::string>& names, const Value& value) {
  if (names.size() == 1) return run.set(names.front(), value);
  if (value.list() == nullptr || value.list()->size() != names.size()) {
    throw TemplateError(fmt::format("{} names for {}", names.size(), value.kind()));
  }
  for (std::size_t i = 0; i < names.size(); ++i) run.set(names[i], (*value.list())[i]);
}

/// Whether any part of the value is such a one. Requires: walked through.
template <class Is>
bool has(const Value& value, Is is) {
  if (is(value)) return true;
  const auto part = [&](const Value& one) { return has(one, is); };
  if (const List* list = value.list()) return std::ranges::any_of(*list, part);
  const auto member = [&](const auto& one) { return part(one.second); };
  return value.dict() != nullptr && std::ranges::any_of(value.dict()->members, member);
}

/// Throws where the value would make a namespace contain itself, or grow deeper inside another value, whose
/// depth was counted before. Namespaces are all that can be changed, so that nothing else can; and functions
/// remember the namespaces around them.
void check_member(Run& run, const Dict& space, const Value& given) {
  run.walk(List{given});
  if (has(given, [](const Value& one) { return one.function() != nullptr; }))
    throw TemplateError("a namespace cannot hold functions");
  const auto is_namespace = [](const Value& one) {
    return one.dict() != nullptr && one.dict()->is_namespace;
  };
  if (space.is_member && has(given, is_namespace))
    throw TemplateError("a namespace that is a member of another value cannot hold namespaces");
}

/// loop.cycle: one argument after the other, round by round.
Function cycle(std::size_t i) {
  return [i](Run&, const Arguments& arguments) {
    if (arguments.positional.empty() || !arguments.named.empty())
      throw TemplateError("loop.cycle takes the values that take turns");
    return arguments[i % arguments.positional.size()];
  };
}

/// `loop` as the body sees it.
Dict state(const List& members, std::size_t i) {
  const auto n = static_cast<std::int64_t>(members.size()), at = static_cast<std::int64_t>(i);
  Dict dict;
  dict.members = {
      {"index", at + 1},           {"index0", at},        {"revindex", n - at}, {"revindex0", n - at - 1},
      {"first", at == 0},          {"last", at + 1 == n}, {"length", n},        {"depth", std::int64_t{1}},
      {"depth0", std::int64_t{0}}, {"cycle", cycle(i)}};
  if (i > 0) dict.members.emplace_back("previtem", members[i - 1]);
  if (i + 1 < members.size()) dict.members.emplace_back("nextitem", members[i + 1]);
  return dict;
}

void run_loop(const Loop& loop, Run& run) {
  List members = members_of(run, loop.over->evaluate(run));
  if (loop.condition) {
    std::erase_if(members, [&](const Value& member) {
      const Run::Scope scope(run);
      assign(run, loop.names, member);
      return !loop.condition->evaluate(run).truth();
    });
  }
  if (members.empty()) return execute(loop.fallback, run);
  for (std::size_t i = 0; i < members.size(); ++i) {
    run.step();
    const Run::Scope scope(run);
    assign(run, loop.names, members[i]);
    if (loop.uses_state) run.set("loop", state(members, i));
    try {
      execute(loop.body, run);
    } catch (const Jump& where) {
      if (where == Jump::leave) return;
    }
  }
}

/// Arguments of a macro, apart: those of its parameters, and what else it may be given.
struct MacroArguments {
  Arguments own;
  List varargs;
  Dict kwargs;
  Value caller;
};

MacroArguments apart(const Macro& macro, Arguments arguments) {
  MacroArguments out;
  const std::size_t count = std::min(macro.parameters.size(), arguments.positional.size());
  if (macro.any_positional) {
    out.varargs.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(count),
                       arguments.positional.end());
    out.varargs.is_tuple = true;
    arguments.positional.resize(count);
  }
  for (auto& [name, value] : arguments.named) {
    const bool own =
        std::ranges::any_of(macro.parameters, [&](const auto& one) { return one.first == name; });
    if (own || (name != "caller" && !macro.any_named)) {
      out.own.named.emplace_back(name, std::move(value));
    } else if (name == "caller") {
      out.caller = std::move(value);
    } else {
      out.kwargs.set(MarkedText(name), std::move(value));
    }
  }
  out.own.positional = std::move(arguments.positional);
  return out;
}

/// The value of a macro: a function that gives what its body prints. Where it is defined inside a block, it
/// sees the variables that were there.
Function function_of(std::shared_ptr<const Macro> macro, Run& run) {
  auto [scopes, closures] = run.inner();
  Function made = [macro = std::move(macro), seen = std::move(scopes)](Run& now, const Arguments& arguments) {
    std::vector<std::string_view> names;
    for (const auto& [name, fallback] : macro->parameters) names.emplace_back(name);
    MacroArguments all = apart(*macro, arguments);
    const Arguments given = all.own.bound(macro->name, names);
    const Run::Call frame(now, seen);
    now.set("caller", std::move(all.caller));
    if (macro->any_positional) now.set("varargs", now.made(std::move(all.varargs)));
    if (macro->any_named) now.set("kwargs", now.made(std::move(all.kwargs)));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& [name, fallback] = macro->parameters[i];
      now.set(name, fallback && !all.own.give(i, name) ? fallback->evaluate(now) : given[i]);
    }
    return now.capture([&] { execute(macro->body, now); });
  };
  made.closures = closures;
  return made;
}

class FunctionNode final : public Expression {
 public:
  explicit FunctionNode(std::shared_ptr<const Macro> macro) : macro_(std::move(macro)) {}
  Value evaluate(Run& run) const override { return function_of(macro_, run); }

 private:
  std::shared_ptr<const Macro> macro_;
};

}  // namespace

void execute(const Block& block, Run& run) {
  for (const auto& statement : block) statement->execute(run);
}

StatementPtr text(std::string text) {
  return node([text = std::move(text)](Run& run) { run.print(text); });
}

StatementPtr print(ExpressionPtr value) {
  return node([value = std::move(value)](Run& run) {
    const Value shown = value->evaluate(run);
    run.walk(shown);
    run.print(shown.text());
  });
}

StatementPtr branches(std::vector<std::pair<ExpressionPtr, Block>> branches) {
  return node([branches = std::move(branches)](Run& run) {
    for (const auto& [condition, block] : branches) {
      if (!condition || condition->evaluate(run).truth()) return execute(block, run);
    }
  });
}

StatementPtr loop(Loop loop) {
  return node([loop = std::move(loop)](Run& run) { run_loop(loop, run); });
}

StatementPtr assignment(std::vector<std::string> names, ExpressionPtr value) {
  return node([names = std::move(names), value = std::move(value)](Run& run) {
    assign(run, names, value->evaluate(run));
  });
}

StatementPtr member_assignment(std::string object, std::string name, ExpressionPtr value) {
  return node([object = std::move(object), name = std::move(name), value = std::move(value)](Run& run) {
    const Value* held = run.find(object);
    if (held == nullptr || held->dict() == nullptr || !held->dict()->is_namespace) {
      throw TemplateError(fmt::format("'{}' is not a namespace", object));
    }
    const Value space = *held;
    Value given = value->evaluate(run);
    if (given.list() != nullptr || given.dict() != nullptr || given.function() != nullptr)
      check_member(run, *space.dict(), given);
    run.set_member(*space.dict(), MarkedText(name), std::move(given));
  });
}

StatementPtr with(std::vector<std::pair<std::string, ExpressionPtr>> variables, Block body) {
  return node([variables = std::move(variables), body = std::move(body)](Run& run) {
    std::vector<Value> values;
    for (const auto& [name, value] : variables) values.push_back(value->evaluate(run));
    const Run::Scope scope(run);
    for (std::size_t i = 0; i < variables.size(); ++i) run.set(variables[i].first, std::move(values[i]));
    execute(body, run);
  });
}

StatementPtr macro(Macro macro) {
  auto shared = std::make_shared<const Macro>(std::move(macro));
  return node([shared](Run& run) { run.set(shared->name, function_of(shared, run)); });
}

ExpressionPtr function(std::shared_ptr<const Macro> macro) {
  return std::make_unique<FunctionNode>(std::move(macro));
}

StatementPtr jump(Jump jump) {
  return node([jump](Run&) { throw jump; });
}

}  // namespace spectr::jinja

#include <fmt/format.h>

#include <algorithm>

#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

template <class Execute>
class StatementNode final : public Statement {
 public:
  explicit StatementNode(Execute execute) : execute_(std::move(execute)) {}
  void execute(Run& run) const override {
    const Run::Node node(run);
    execute_(run);
  }

 private:
  Execute execute_;
};

template <class Execute>
StatementPtr node(Execute execute) {
  return std::make_unique<StatementNode<Execute>>(std::move(execute));
}

/// True if `is` holds for any part of the value. Requires: the value was walked through.
template <class Is>
bool has(const Value& value, Is is) {
  if (is(value)) return true;
  const auto part = [&](const Value& one) { return has(one, is); };
  if (const List* list = value.list()) return std::ranges::any_of(*list, part);
  const auto member = [&](const auto& one) { return part(one.second); };
  return value.dict() != nullptr && std::ranges::any_of(value.dict()->members, member);
}

/// Throws if the value would make a namespace contain itself, or grow inside another value whose depth was
/// checked before. Only namespaces can be modified, so only they can do this. Functions are refused, too:
/// they hold the namespaces around them.
void check_member(Run& run, const Dict& space, const Value& given) {
  run.walk(List{given});
  if (has(given, [](const Value& one) { return one.function() != nullptr; }))
    throw TemplateError("a namespace cannot hold functions");
  const auto is_space = [](const Value& one) { return one.dict() != nullptr && one.dict()->is_space(); };
  if (space.is_member && has(given, is_space))
    throw TemplateError("a namespace that is a member of another value cannot hold namespaces");
}

/// Throws if the name is not a namespace.
void assign_member(Run& run, const Target& target, const Value& given) {
  const Value* held = run.find(target.name);
  if (held == nullptr || held->dict() == nullptr || !held->dict()->is_space())
    throw TemplateError(fmt::format("'{}' is not a namespace", target.name));
  const Value space = *held;
  if (given.list() != nullptr || given.dict() != nullptr || given.function() != nullptr)
    check_member(run, *space.dict(), given);
  run.set_member(*space.dict(), MarkedText(target.member), given);
}

/// Arguments of a macro, separated into those of its parameters and the others.
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
    out.varargs.kind = Sequence::tuple;
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

/// Returns the attributes of a macro.
Dict described(const Macro& macro) {
  List names;
  for (const auto& [name, fallback] : macro.parameters) names.emplace_back(MarkedText(name));
  names.kind = Sequence::tuple;
  Dict out;
  out.members = {{"name", MarkedText(macro.name)},
                 {"arguments", std::move(names)},
                 {"catch_varargs", macro.any_positional},
                 {"catch_kwargs", macro.any_named},
                 {"caller", macro.calls_caller}};
  return out;
}

/// Returns the value of a macro, a function that returns the output of its body. A macro that is defined
/// inside a block sees the variables of that place.
Function function_of(std::shared_ptr<const Macro> macro, Run& run) {
  auto [scopes, closures] = run.inner();
  auto about = std::make_shared<const Dict>(described(*macro));
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
  made.about = std::move(about);
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

void assign(Run& run, const Target& target, const Value& value) {
  if (!target.member.empty()) return assign_member(run, target, value);
  if (target.parts.empty()) return run.set(target.name, value);
  const List members = members_of(run, value);
  if (members.size() != target.parts.size())
    throw TemplateError(
        fmt::format("{} names for {} of {}", target.parts.size(), value.kind(), members.size()));
  for (std::size_t i = 0; i < members.size(); ++i) assign(run, target.parts[i], members[i]);
}

StatementPtr assignment(Target target, ExpressionPtr value) {
  return node([target = std::move(target), value = std::move(value)](Run& run) {
    assign(run, target, value->evaluate(run));
  });
}

StatementPtr named_block(std::shared_ptr<const Block> body, bool scoped) {
  return node([body = std::move(body), scoped](Run& run) {
    const Run::Call frame(run, scoped ? run.inner().first : Run::Scopes());
    execute(*body, run);
  });
}

StatementPtr blocks_by_name(std::vector<std::pair<std::string, std::shared_ptr<const Block>>> blocks) {
  return node([blocks = std::move(blocks)](Run& run) {
    Dict self;
    self.kind = Dict::Kind::object;
    for (const auto& [name, body] : blocks) {
      const Function render = [body](Run& now, const Arguments&) {
        const Run::Call frame(now, {});
        return now.capture([&] { execute(*body, now); });
      };
      self.members.emplace_back(MarkedText(name), render);
    }
    run.set("self", std::move(self));
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

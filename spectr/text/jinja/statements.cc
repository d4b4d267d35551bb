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
  if (i > 0) dict.set("previtem", members[i - 1]);
  if (i + 1 < members.size()) dict.set("nextitem", members[i + 1]);
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
    run.set("loop", state(members, i));
    try {
      execute(loop.body, run);
    } catch (const Jump& where) {
      if (where == Jump::leave) return;
    }
  }
}

/// The value of a macro: a function that gives what its body prints.
Function function_of(const Macro& macro) {
  return [&macro](Run& run, const Arguments& arguments) {
    std::vector<std::string_view> names;
    for (const auto& [name, fallback] : macro.parameters) names.emplace_back(name);
    const Arguments given = arguments.bound(macro.name, names);
    const Run::Call frame(run);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& [name, fallback] = macro.parameters[i];
      run.set(name, fallback && !arguments.give(i, name) ? fallback->evaluate(run) : given[i]);
    }
    return run.capture([&] { execute(macro.body, run); });
  };
}

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
    if (given.dict() != nullptr && given.dict()->is_namespace)
      throw TemplateError("a namespace cannot be a member of another value");
    run.set_member(*space.dict(), name, std::move(given));
  });
}

StatementPtr block_assignment(std::string name, Block body) {
  return node([name = std::move(name), body = std::move(body)](Run& run) {
    run.set(name, run.capture([&] {
      const Run::Scope scope(run);
      execute(body, run);
    }));
  });
}

StatementPtr macro(Macro macro) {
  auto shared = std::make_shared<const Macro>(std::move(macro));
  return node([shared](Run& run) { run.set(shared->name, function_of(*shared)); });
}

StatementPtr jump(Jump jump) {
  return node([jump](Run&) { throw jump; });
}

}  // namespace spectr::jinja

#include <fmt/format.h>

#include <algorithm>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/operations.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

/// Returns a view of a mapping; `of` maps a member of the mapping to one of the view.
template <class Of>
Value view(Run& run, const Value& self, Sequence kind, Of of) {
  List out;
  out.kind = kind;
  for (const auto& member : self.dict()->members) out.push_back(of(member));
  run.charge(sizeof(Value) * out.size());
  return out;
}

Value keys(Run& run, const Value& self, const Arguments&) {
  return run.made(view(run, self, Sequence::keys, [](const auto& one) { return one.first; }));
}
Value values(Run& run, const Value& self, const Arguments&) {
  return view(run, self, Sequence::values, [](const auto& one) { return one.second; });
}
Value pairs(Run& run, const Value& self, const Arguments&) {
  const auto pair = [](const auto& one) { return Value(List({one.first, one.second}, Sequence::tuple)); };
  return run.made(view(run, self, Sequence::items, pair));
}

Value get(Run& run, const Value& self, const Arguments& arguments) {
  const Value* found = run.member(*self.dict(), arguments[0]);
  if (found != nullptr) return *found;
  return arguments[1].is_undefined() ? Value(None{}) : arguments[1];
}

Value copied(Run& run, const Value& self, const Arguments&) {
  if (self.list() != nullptr && self.list()->is_tuple()) throw TemplateError("a tuple has no method 'copy'");
  if (self.list() != nullptr) return run.made(List(*self.list()));
  return run.made(Dict{.members = self.dict()->members});
}

constexpr Callable<Operation> dict_methods[] = {
    {"get", get, {"key", "default"}, 1},
    {"items", pairs},
    {"keys", keys},
    {"values", values},
    {"copy", copied},
};

Value place_in(Run& run, const Value& self, const Arguments& arguments) {
  const List& list = *self.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (equal(run, list[i], arguments[0])) return static_cast<std::int64_t>(i);
  }
  throw TemplateError("index of a value that is not in the list");
}

Value count_in(Run& run, const Value& self, const Arguments& arguments) {
  return static_cast<std::int64_t>(
      std::ranges::count_if(*self.list(), [&](const Value& one) { return equal(run, one, arguments[0]); }));
}

constexpr Callable<Operation> list_methods[] = {
    {"index", place_in, {"value"}, 1},
    {"count", count_in, {"value"}, 1},
    {"copy", copied},
};

/// Methods that modify a mapping, which templates must not do.
constexpr std::string_view changing[] = {"clear", "pop", "popitem", "setdefault", "update"};

/// Returns the method of that name that all values of this type have, or null.
const Callable<Operation>* find_method(const Value& value, std::string_view name) {
  if (value.mapping() != nullptr) return find_callable(dict_methods, name);
  if (value.string() != nullptr) return find_string_method(name);
  const List* list = value.list();
  return list == nullptr || !list->is_indexed() ? nullptr : find_callable(list_methods, name);
}

/// Returns an attribute of a pair of groupby.
Value part_of_group(const Value& whole, std::string_view name) {
  const List* list = whole.list();
  if (list == nullptr || list->kind != Sequence::group) return {};
  return name == "grouper" ? list->front() : name == "list" ? list->back() : Value();
}

}  // namespace

Value method_of(const Value& whole, std::string_view name) {
  const auto* method = find_method(whole, name);
  if (method == nullptr) return {};
  return Function([whole, method](Run& run, const Arguments& arguments) {
    run.step();
    return method->apply(run, whole, method->bound(arguments));
  });
}

Value named_member(Run& run, const Value& whole, const std::string& name) {
  if (whole.is_undefined()) throw TemplateError(fmt::format("'{}' of an undefined value", name));
  if (Value method = method_of(whole, name); !method.is_undefined()) return method;
  if (const Value part = part_of_group(whole, name); !part.is_undefined()) return part;
  const Function* function = whole.function();
  const Dict* members = function != nullptr ? function->about.get() : whole.dict();
  const Value* found = members == nullptr ? nullptr : run.member(*members, MarkedText(name));
  if (found != nullptr && whole.mapping() != nullptr &&
      std::ranges::find(changing, name) != std::end(changing))
    throw TemplateError(
        fmt::format("the method '{}' of mappings is not supported: a member is ['{}']", name, name));
  return found == nullptr ? Value() : *found;
}

Value call_value(Run& run, const Value& callee, const std::string& name, const Arguments& arguments) {
  if (const Function* function = callee.callable()) return (*function)(run, arguments);
  if (callee.is_undefined() && !name.empty())
    throw TemplateError(fmt::format("the function '{}' is not supported", name));
  throw TemplateError(fmt::format("{} cannot be called", callee.kind()));
}

Value call_method(Run& run, const Value& object, const std::string& name, const Arguments& arguments) {
  run.step();
  const Value method = named_member(run, object, name);
  if (method.is_undefined()) throw TemplateError(fmt::format("{} has no method '{}'", object.kind(), name));
  return call_value(run, method, "", arguments);
}

}  // namespace spectr::jinja

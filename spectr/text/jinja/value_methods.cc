#include <fmt/format.h>

#include <algorithm>

#include "spectr/text/jinja/callables.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/operations.h"

namespace spectr::jinja {
namespace {

Value keys(Run& run, const Value& self, const Arguments&) {
  List out;
  for (const auto& [key, value] : self.dict()->members) out.push_back(key);
  return run.made(std::move(out));
}

Value values(Run& run, const Value& self, const Arguments&) {
  List out;
  for (const auto& [key, value] : self.dict()->members) out.push_back(value);
  run.charge(sizeof(Value) * out.size());
  return out;
}

Value get(Run& run, const Value& self, const Arguments& arguments) {
  const Value* found = run.member(*self.dict(), arguments[0]);
  if (found != nullptr) return *found;
  return arguments[1].is_undefined() ? Value(None{}) : arguments[1];
}

Value copied(Run& run, const Value& self, const Arguments&) {
  if (self.list() != nullptr) return run.made(List(*self.list()));
  return run.made(Dict{.members = self.dict()->members});
}

constexpr Callable<Operation> dict_methods[] = {
    {"get", get, {"key", "default"}, 1},
    {"items", items},
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

}  // namespace

Value call_method(Run& run, const Value& object, const std::string& name, const Arguments& arguments) {
  run.step();
  const Dict* dict = object.dict();
  // A member that is a function, or else a method of all mappings.
  if (const Value* own = dict == nullptr ? nullptr : run.member(*dict, MarkedText(name));
      own != nullptr && own->function() != nullptr)
    return (*own->function())(run, arguments);
  const auto* method = dict != nullptr              ? find_callable(dict_methods, name)
                       : object.list() != nullptr   ? find_callable(list_methods, name)
                       : object.string() != nullptr ? find_string_method(name)
                                                    : nullptr;
  if (method == nullptr) throw TemplateError(fmt::format("{} has no method '{}'", object.kind(), name));
  return method->apply(run, object, method->bound(arguments));
}

}  // namespace spectr::jinja

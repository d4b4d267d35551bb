#include <fmt/format.h>

#include <algorithm>

#include "spectr/text/jinja/callables.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/text_functions.h"

namespace spectr::jinja {
namespace {

Value keys(Run& run, const Value& self, const Arguments&) {
  List out;
  for (const auto& [key, value] : self.dict()->members) out.emplace_back(key);
  return run.made(std::move(out));
}

Value values(Run& run, const Value& self, const Arguments&) {
  List out;
  for (const auto& [key, value] : self.dict()->members) out.push_back(value);
  run.charge(sizeof(Value) * out.size());
  return out;
}

Value get(Run& run, const Value& self, const Arguments& arguments) {
  const Value key = arguments[0];
  const Value* found = key.string() == nullptr ? nullptr : run.member(*self.dict(), *key.string());
  if (found != nullptr) return *found;
  return arguments[1].is_undefined() ? Value(None{}) : arguments[1];
}

constexpr Callable<Operation> dict_methods[] = {
    {"get", get, {"key", "default"}, 1},
    {"items", items},
    {"keys", keys},
    {"values", values},
};

Value strip_left(Run& run, const Value& self, const Arguments& arguments) {
  return run.made(strip(run, string_of(run, self, "lstrip"), arguments[0], true, false));
}

Value strip_right(Run& run, const Value& self, const Arguments& arguments) {
  return run.made(strip(run, string_of(run, self, "rstrip"), arguments[0], false, true));
}

Value title(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(string_of(run, self, "title"), Case::title));
}

/// Of parts that are charged.
Value list_of(const std::vector<std::string_view>& parts) {
  List list;
  for (const std::string_view part : parts) list.emplace_back(part);
  return list;
}

/// How often a text may be cut: the argument, or as often as it can be.
std::int64_t max_cuts(const Value& given) {
  if (given.is_undefined()) return -1;
  if (given.as<std::int64_t>() == nullptr) throw TemplateError("a text is cut an integer of times");
  return *given.as<std::int64_t>();
}

Value split_left(Run& run, const Value& self, const Arguments& arguments) {
  return list_of(split(run, string_of(run, self, "split"), arguments[0], max_cuts(arguments[1])));
}

/// Splitting from the right is splitting the reversed text.
Value split_right(Run& run, const Value& self, const Arguments& arguments) {
  const Value by = arguments[0].string() == nullptr ? arguments[0] : reversed(*arguments[0].string());
  const std::string text = reversed(string_of(run, self, "rsplit"));
  const auto parts = split(run, text, by, max_cuts(arguments[1]));
  List list;
  for (std::size_t i = parts.size(); i-- > 0;) list.emplace_back(reversed(parts[i]));
  return list;
}

Value lines(Run& run, const Value& self, const Arguments&) {
  return list_of(split_lines(run, string_of(run, self, "splitlines")));
}

Value join_strings(Run& run, const Value& self, const Arguments& arguments) {
  Arguments between;
  between.positional = {self};
  if (const auto* members = arguments[0].list()) {
    for (const Value& member : *members) string_of(run, member, "join");
  }
  return join(run, arguments[0], between);
}

Value index_of(Run& run, const Value& self, const Arguments& arguments) {
  const std::string& text = string_of(run, self, "find");
  const std::size_t found = position_of(text, string_of(run, arguments[0], "find"));
  if (found == std::string::npos) return std::int64_t{-1};
  return static_cast<std::int64_t>(characters(std::string_view(text).substr(0, found)).size());
}

Value count(Run& run, const Value& self, const Arguments& arguments) {
  const std::string& text = string_of(run, self, "count");
  string_of(run, arguments[0], "count");
  return static_cast<std::int64_t>(occurrences(text, arguments[0]));
}

/// Whether `holds` for the affix, or for one of a tuple.
template <class Holds>
bool any_affix(Run& run, const Value& affix, std::string_view callee, Holds holds) {
  if (affix.list() == nullptr || !affix.list()->is_tuple) return holds(string_of(run, affix, callee));
  return std::ranges::any_of(*affix.list(),
                             [&](const Value& one) { return holds(string_of(run, one, callee)); });
}

Value starts_with(Run& run, const Value& self, const Arguments& arguments) {
  return any_affix(run, arguments[0], "startswith",
                   [&](const std::string& affix) { return self.string()->starts_with(affix); });
}

Value ends_with(Run& run, const Value& self, const Arguments& arguments) {
  return any_affix(run, arguments[0], "endswith",
                   [&](const std::string& affix) { return self.string()->ends_with(affix); });
}

constexpr Callable<Operation> string_methods[] = {
    {"strip", strip_both, {"chars"}},
    {"lstrip", strip_left, {"chars"}},
    {"rstrip", strip_right, {"chars"}},
    {"upper", upper},
    {"lower", lower},
    {"capitalize", capitalize},
    {"title", title},
    {"replace", replace, {"old", "new", "count"}, 2},
    {"split", split_left, {"sep", "maxsplit"}},
    {"rsplit", split_right, {"sep", "maxsplit"}},
    {"splitlines", lines},
    {"join", join_strings, {"iterable"}, 1},
    {"find", index_of, {"sub"}, 1},
    {"count", count, {"sub"}, 1},
    {"startswith", starts_with, {"prefix"}, 1},
    {"endswith", ends_with, {"suffix"}, 1},
};

}  // namespace

Value call_method(Run& run, const Value& object, const std::string& name, const Arguments& arguments) {
  run.step();
  const Dict* dict = object.dict();
  // A member that is a function, or else a method of all mappings.
  if (const Value* own = dict == nullptr ? nullptr : run.member(*dict, name);
      own != nullptr && own->function() != nullptr)
    return (*own->function())(run, arguments);
  const auto* method = dict != nullptr              ? find_callable(dict_methods, name)
                       : object.string() != nullptr ? find_callable(string_methods, name)
                                                    : nullptr;
  if (method == nullptr) throw TemplateError(fmt::format("{} has no method '{}'", object.kind(), name));
  return method->apply(run, object, method->bound(arguments));
}

}  // namespace spectr::jinja

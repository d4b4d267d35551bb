#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/chat/nodes.h"
#include "apps/chat/text_functions.h"

namespace spectr::chat {
namespace {

using Test = bool (*)(const Value& value, const Value& argument);

constexpr std::pair<std::string_view, Test> tests[] = {
    {"defined", [](const Value& v, const Value&) { return !v.is_undefined(); }},
    {"undefined", [](const Value& v, const Value&) { return v.is_undefined(); }},
    {"none", [](const Value& v, const Value&) { return v.is_none(); }},
    {"string", [](const Value& v, const Value&) { return v.string() != nullptr; }},
    {"mapping", [](const Value& v, const Value&) { return v.dict() != nullptr; }},
    {"iterable", [](const Value& v, const Value&) { return v.string() || v.list() || v.dict(); }},
    {"sequence", [](const Value& v, const Value&) { return v.string() || v.list() || v.dict(); }},
    {"number", [](const Value& v, const Value&) { return v.is_number() && !v.as<bool>(); }},
    {"integer", [](const Value& v, const Value&) { return v.as<std::int64_t>() != nullptr; }},
    {"float", [](const Value& v, const Value&) { return v.as<double>() != nullptr; }},
    {"boolean", [](const Value& v, const Value&) { return v.as<bool>() != nullptr; }},
    {"true", [](const Value& v, const Value&) { return v.as<bool>() && v.truth(); }},
    {"false", [](const Value& v, const Value&) { return v.as<bool>() && !v.truth(); }},
    {"callable", [](const Value& v, const Value&) { return v.function() != nullptr; }},
    {"equalto", [](const Value& v, const Value& to) { return v == to; }},
    {"eq", [](const Value& v, const Value& to) { return v == to; }},
    {"ne", [](const Value& v, const Value& to) { return !(v == to); }},
    {"odd", [](const Value& v, const Value&) { return v.is_number() && std::fmod(v.number(), 2.0) != 0.0; }},
    {"even", [](const Value& v, const Value&) { return v.is_number() && std::fmod(v.number(), 2.0) == 0.0; }},
    {"divisibleby",
     [](const Value& v, const Value& by) {
       return v.is_number() && by.is_number() && by.number() != 0.0 &&
              std::fmod(v.number(), by.number()) == 0.0;
     }},
    {"in",
     [](const Value& v, const Value& whole) {
       return whole.list() != nullptr && std::ranges::find(*whole.list(), v) != whole.list()->end();
     }},
};

Value dict_method(const Dict& dict, const std::string& name, const Arguments& arguments) {
  List out;
  if (name == "get") {
    const Value key = arguments.get(0, "key");
    const Value* found = key.string() == nullptr ? nullptr : dict.find(*key.string());
    if (found != nullptr) return *found;
    const Value otherwise = arguments.get(1, "default");
    return otherwise.is_undefined() ? Value(None{}) : otherwise;
  }
  for (const auto& [key, value] : dict.members) {
    if (name == "items") out.push_back(List{key, value});
    if (name == "keys") out.emplace_back(key);
    if (name == "values") out.push_back(value);
  }
  if (name != "items" && name != "keys" && name != "values") {
    throw TemplateError(fmt::format("a mapping has no method '{}'", name));
  }
  return out;
}

List split(const std::string& text, const Value& by) {
  List parts;
  std::size_t at = 0;
  if (by.string() == nullptr || by.string()->empty()) {
    constexpr std::string_view blank = " \t\r\n";
    while ((at = text.find_first_not_of(blank, at)) != std::string::npos) {
      const std::size_t end = std::min(text.find_first_of(blank, at), text.size());
      parts.emplace_back(text.substr(at, end - at));
      at = end;
    }
    return parts;
  }
  for (std::size_t found; (found = text.find(*by.string(), at)) != std::string::npos;
       at = found + by.string()->size()) {
    parts.emplace_back(text.substr(at, found - at));
  }
  parts.emplace_back(text.substr(at));
  return parts;
}

Value string_method(Run& run, const std::string& text, const std::string& name, const Arguments& arguments) {
  const Value given = arguments.get(0, "");
  if (name == "strip") return strip(text, given, true, true);
  if (name == "lstrip") return strip(text, given, true, false);
  if (name == "rstrip") return strip(text, given, false, true);
  if (name == "upper") return in_case(text, Case::upper);
  if (name == "lower") return in_case(text, Case::lower);
  if (name == "capitalize") return in_case(text, Case::first_upper);
  if (name == "title") return in_case(text, Case::title);
  if (name == "replace") return replaced(run, text, arguments);
  if (name == "split") return split(text, given);
  const std::string affix = given.text();
  if (name == "startswith") return text.starts_with(affix);
  if (name == "endswith") return text.ends_with(affix);
  throw TemplateError(fmt::format("a string has no method '{}'", name));
}

}  // namespace

bool apply_test(Run& run, const std::string& name, const Value& input, const Arguments& arguments) {
  const auto found = std::ranges::find(tests, name, &std::pair<std::string_view, Test>::first);
  if (found == std::end(tests)) throw TemplateError(fmt::format("the test '{}' is not supported", name));
  const Value argument = arguments.get(0, "");
  run.charge(argument);
  return found->second(input, argument);
}

Value call_method(Run& run, const Value& object, const std::string& name, const Arguments& arguments) {
  run.step();
  if (const auto* dict = object.dict()) {
    // A member that is a function, or else a method of all mappings.
    const Value* own = dict->find(name);
    if (own != nullptr && own->function() != nullptr) return (*own->function())(run, arguments);
    return dict_method(*dict, name, arguments);
  }
  if (const auto* text = object.string()) return string_method(run, *text, name, arguments);
  throw TemplateError(fmt::format("{} has no method '{}'", object.kind(), name));
}

}  // namespace spectr::chat

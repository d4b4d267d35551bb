#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "apps/chat/nodes.h"
#include "apps/chat/text_functions.h"

namespace spectr::chat {
namespace {

using Filter = Value (*)(Run& run, const Value& input, const Arguments& arguments);

const std::string& string_of(const Value& value, std::string_view who) {
  if (value.string() == nullptr)
    throw TemplateError(fmt::format("{} takes a string, got {}", who, value.kind()));
  return *value.string();
}

const List& list_of(const Value& value, std::string_view who) {
  if (value.list() == nullptr) throw TemplateError(fmt::format("{} takes a list, got {}", who, value.kind()));
  return *value.list();
}

Value items(Run&, const Value& input, const Arguments&) {
  List pairs;
  if (input.is_undefined()) return pairs;
  if (input.dict() == nullptr)
    throw TemplateError(fmt::format("items takes a mapping, got {}", input.kind()));
  for (const auto& [key, value] : input.dict()->members) pairs.push_back(List{key, value});
  return pairs;
}

Value length(Run&, const Value& input, const Arguments&) {
  std::size_t n = 0;
  if (const auto* text = input.string()) {
    n = static_cast<std::size_t>(std::ranges::count_if(*text, [](char c) { return (c & 0xC0) != 0x80; }));
  } else if (const auto* dict = input.dict()) {
    n = dict->members.size();
  } else if (!input.is_undefined()) {
    n = list_of(input, "length").size();
  }
  return static_cast<std::int64_t>(n);
}

Value to_list(Run&, const Value& input, const Arguments&) {
  if (input.list() != nullptr) return input;
  List members;
  if (const auto* dict = input.dict()) {
    for (const auto& member : dict->members) members.emplace_back(member.first);
    return members;
  }
  for (const char c : string_of(input, "list")) members.emplace_back(std::string(1, c));
  return members;
}

Value join(Run&, const Value& input, const Arguments& arguments) {
  const std::string between = arguments.get(0, "d").text();
  std::string out;
  for (const Value& member : list_of(input, "join")) {
    if (&member != &input.list()->front()) out += between;
    out += member.text();
  }
  return out;
}

Value to_json(Run&, const Value& input, const Arguments& arguments) {
  const Value indent = arguments.get(0, "indent");
  return input.json(indent.is_number() ? std::clamp(static_cast<int>(indent.number()), 0, 8) : -1);
}

Value otherwise(Run&, const Value& input, const Arguments& arguments) {
  const bool also_false = arguments.get(1, "boolean").truth();
  return input.is_undefined() || (also_false && !input.truth()) ? arguments.get(0, "default_value") : input;
}

Value first(Run&, const Value& input, const Arguments&) {
  const List& members = list_of(input, "first");
  return members.empty() ? Value() : members.front();
}

Value last(Run&, const Value& input, const Arguments&) {
  const List& members = list_of(input, "last");
  return members.empty() ? Value() : members.back();
}

Value to_integer(Run&, const Value& input, const Arguments&) {
  if (input.is_number())
    return static_cast<std::int64_t>(std::trunc(std::clamp(input.number(), -0x1p53, 0x1p53)));
  std::int64_t value = 0;
  for (const char c : string_of(input, "int")) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 || value > (std::int64_t{1} << 53))
      return std::int64_t{0};
    value = 10 * value + (c - '0');
  }
  return value;
}

/// The value of a dotted name below `value`.
Value attribute(const Value& value, const std::string& name) {
  const Value* found = value.dict() == nullptr ? nullptr : value.dict()->find(name);
  return found == nullptr ? Value() : *found;
}

Value map(Run& run, const Value& input, const Arguments& arguments) {
  List out;
  const Value by = arguments.get(1, "attribute");
  for (const Value& member : list_of(input, "map")) {
    if (by.string() != nullptr) {
      out.push_back(attribute(member, *by.string()));
    } else {
      out.push_back(apply_filter(run, string_of(arguments.get(0, ""), "map"), member, {}));
    }
  }
  return out;
}

/// select, reject, selectattr, rejectattr: the members, or those of whom an attribute, that pass a test.
template <bool by_attribute, bool wanted>
Value select(Run& run, const Value& input, const Arguments& arguments) {
  const std::size_t skip = by_attribute ? 1 : 0;
  Arguments rest;
  for (std::size_t i = skip + 1; i < arguments.positional.size(); ++i)
    rest.positional.push_back(arguments.positional[i]);
  const Value test = arguments.get(skip, "");
  List out;
  for (const Value& member : list_of(input, "select")) {
    run.step();
    const Value looked =
        by_attribute ? attribute(member, string_of(arguments.get(0, ""), "selectattr")) : member;
    const bool passes =
        test.is_undefined() ? looked.truth() : apply_test(run, string_of(test, "select"), looked, rest);
    if (passes == wanted) out.push_back(member);
  }
  return out;
}

Value trim(Run&, const Value& input, const Arguments& arguments) {
  return strip(string_of(input, "trim"), arguments.get(0, "chars"), true, true);
}

Value replace(Run& run, const Value& input, const Arguments& arguments) {
  return replaced(run, string_of(input, "replace"), arguments);
}

Value upper(Run&, const Value& input, const Arguments&) {
  return in_case(string_of(input, "upper"), Case::upper);
}
Value lower(Run&, const Value& input, const Arguments&) {
  return in_case(string_of(input, "lower"), Case::lower);
}
Value capitalize(Run&, const Value& input, const Arguments&) {
  return in_case(string_of(input, "capitalize"), Case::first_upper);
}
Value to_string(Run&, const Value& input, const Arguments&) {
  return input.text();
}
Value unchanged(Run&, const Value& input, const Arguments&) {
  return input;
}

constexpr std::pair<std::string_view, Filter> filters[] = {
    {"items", items},
    {"length", length},
    {"count", length},
    {"list", to_list},
    {"join", join},
    {"tojson", to_json},
    {"default", otherwise},
    {"d", otherwise},
    {"first", first},
    {"last", last},
    {"int", to_integer},
    {"map", map},
    {"select", select<false, true>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<true, false>},
    {"trim", trim},
    {"replace", replace},
    {"upper", upper},
    {"lower", lower},
    {"capitalize", capitalize},
    {"string", to_string},
    {"safe", unchanged},
};

}  // namespace

Value apply_filter(Run& run, const std::string& name, const Value& input, const Arguments& arguments) {
  run.step();
  const auto found = std::ranges::find(filters, name, &std::pair<std::string_view, Filter>::first);
  if (found == std::end(filters)) throw TemplateError(fmt::format("the filter '{}' is not supported", name));
  return found->second(run, input, arguments);
}

}  // namespace spectr::chat

#include "apps/chat/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace spectr::chat {
namespace {

constexpr int most_depth = 64;

void write_string(const std::string& text, std::string& out) {
  // Not ASCII only: what is no UTF-8 is replaced.
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_json(const Value& value, int indent, int depth, std::string& out);

template <class Members, class WriteMember>
void write_members(char open, char close, const Members& members, int indent, int depth, std::string& out,
                   WriteMember write_member) {
  out += open;
  bool first = true;
  for (const auto& member : members) {
    if (!first) out += indent < 0 ? ", " : ",";
    if (indent >= 0) out.append("\n").append(static_cast<std::size_t>(indent * (depth + 1)), ' ');
    write_member(member);
    first = false;
  }
  if (indent >= 0 && !first) out.append("\n").append(static_cast<std::size_t>(indent * depth), ' ');
  out += close;
}

void write_json(const Value& value, int indent, int depth, std::string& out) {
  if (const List* list = value.list()) {
    write_members('[', ']', *list, indent, depth, out,
                  [&](const Value& member) { write_json(member, indent, depth + 1, out); });
  } else if (const Dict* dict = value.dict()) {
    write_members('{', '}', dict->members, indent, depth, out, [&](const auto& member) {
      write_string(member.first, out);
      out += ": ";
      write_json(member.second, indent, depth + 1, out);
    });
  } else if (const std::string* text = value.string()) {
    write_string(*text, out);
  } else if (const bool* truth = value.as<bool>()) {
    out += *truth ? "true" : "false";
  } else if (value.is_none()) {
    out += "null";
  } else if (value.is_number()) {
    out += value.text();
  } else {
    throw TemplateError(fmt::format("{} cannot be written as JSON", value.kind()));
  }
}

}  // namespace

Value Arguments::get(std::size_t i, std::string_view name) const {
  if (i < positional.size()) return positional[i];
  const auto found = std::ranges::find(named, name, &std::pair<std::string, Value>::first);
  return found == named.end() ? Value() : found->second;
}

const Value* Dict::find(std::string_view key) const {
  const auto found = std::ranges::find(members, key, &std::pair<std::string, Value>::first);
  return found == members.end() ? nullptr : &found->second;
}

void Dict::set(std::string_view key, Value value) {
  const auto found = std::ranges::find(members, key, &std::pair<std::string, Value>::first);
  if (found != members.end()) {
    found->second = std::move(value);
  } else {
    members.emplace_back(key, std::move(value));
  }
}

Value Value::from_json(const nlohmann::json& json) {
  if (json.is_null()) return None{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    List list;
    for (const auto& member : json) list.push_back(from_json(member));
    return list;
  }
  Dict dict;
  for (const auto& [key, member] : json.items()) dict.members.emplace_back(key, from_json(member));
  return dict;
}

const std::string* Value::string() const {
  const auto* shared = as<std::shared_ptr<const std::string>>();
  return shared == nullptr ? nullptr : shared->get();
}

const List* Value::list() const {
  const auto* shared = as<std::shared_ptr<List>>();
  return shared == nullptr ? nullptr : shared->get();
}

Dict* Value::dict() const {
  const auto* shared = as<std::shared_ptr<Dict>>();
  return shared == nullptr ? nullptr : shared->get();
}

const Function* Value::function() const {
  const auto* shared = as<std::shared_ptr<Function>>();
  return shared == nullptr ? nullptr : shared->get();
}

double Value::number() const {
  if (const auto* integer = as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* truth = as<bool>()) return *truth ? 1.0 : 0.0;
  return std::get<double>(held_);
}

bool Value::truth() const {
  if (is_number()) return number() != 0.0;
  if (const auto* held = string()) return !held->empty();
  if (const auto* held = list()) return !held->empty();
  if (const auto* held = dict()) return !held->members.empty();
  return function() != nullptr;
}

std::string Value::text() const {
  if (const auto* held = string()) return *held;
  if (is_undefined()) return "";
  if (is_none()) return "None";
  if (const auto* truth = as<bool>()) return *truth ? "True" : "False";
  if (const auto* integer = as<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto* held = as<double>()) return fmt::format("{}", *held);
  if (function() != nullptr) throw TemplateError("a function cannot be printed");
  return json();
}

std::string Value::json(int indent) const {
  std::string out;
  write_json(*this, indent, 0, out);
  return out;
}

std::size_t Value::weight(int depth) const {
  if (depth > most_depth) throw TemplateError("a value is nested too deeply");
  std::size_t bytes = sizeof(Value);
  if (const auto* held = string()) bytes += held->size();
  if (const auto* held = list()) {
    for (const Value& member : *held) bytes += member.weight(depth + 1);
  }
  if (const auto* held = dict()) {
    if (held->is_namespace && depth > 0)
      throw TemplateError("a namespace cannot be a member of another value");
    for (const auto& [key, member] : held->members) bytes += key.size() + member.weight(depth + 1);
  }
  return bytes;
}

std::string_view Value::kind() const {
  constexpr std::string_view kinds[] = {"an undefined value", "none",     "a truth value", "an integer",
                                        "a number",           "a string", "a list",        "a mapping",
                                        "a function"};
  return kinds[held_.index()];
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.number() == b.number();
  if (a.held_.index() != b.held_.index()) return false;
  if (const auto* text = a.string()) return *text == *b.string();
  if (const auto* list = a.list()) return list == b.list() || *list == *b.list();
  if (const auto* dict = a.dict()) return dict == b.dict() || dict->members == b.dict()->members;
  if (const auto* function = a.function()) return function == b.function();
  return true;
}

}  // namespace spectr::chat

#include "spectr/text/jinja/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace spectr::jinja {
namespace {

constexpr int max_depth = 64;

}  // namespace

Value Arguments::operator[](std::size_t i) const {
  return i < positional.size() ? positional[i] : Value();
}

bool Arguments::give(std::size_t i, std::string_view name) const {
  return i < positional.size() ||
         std::ranges::find(named, name, &std::pair<std::string, Value>::first) != named.end();
}

Arguments Arguments::bound(std::string_view callee, std::span<const std::string_view> parameters,
                           std::size_t needed) const {
  const auto all =
      parameters.first(static_cast<std::size_t>(std::ranges::find(parameters, "") - parameters.begin()));
  if (positional.size() > all.size()) {
    throw TemplateError(
        fmt::format("'{}' takes {} arguments, got {}", callee, all.size(), positional.size()));
  }
  std::vector<bool> given(all.size());
  std::fill_n(given.begin(), positional.size(), true);
  Arguments out;
  out.positional = positional;
  out.positional.resize(all.size());
  for (const auto& [name, value] : named) {
    const auto at = static_cast<std::size_t>(std::ranges::find(all, name) - all.begin());
    if (at == all.size()) throw TemplateError(fmt::format("'{}' takes no argument '{}'", callee, name));
    if (given[at]) throw TemplateError(fmt::format("'{}' is given '{}' twice", callee, name));
    given[at] = true;
    out.positional[at] = value;
  }
  for (std::size_t i = 0; i < needed; ++i) {
    if (!given[i]) throw TemplateError(fmt::format("'{}' needs the argument '{}'", callee, all[i]));
  }
  return out;
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
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    throw TemplateError(fmt::format("{} is too large an integer", json.get<std::uint64_t>()));
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

std::size_t Value::weight(std::size_t most) const {
  std::size_t bytes = 0;
  weigh(0, most, bytes);
  return bytes;
}

void Value::weigh(int depth, std::size_t most, std::size_t& bytes) const {
  if (depth > max_depth) throw TemplateError("a value is nested too deeply");
  bytes += sizeof(Value);
  if (const auto* held = string()) bytes += held->size();
  if (bytes > most) return;
  if (const auto* held = list()) {
    for (const Value& member : *held) {
      member.weigh(depth + 1, most, bytes);
      if (bytes > most) return;
    }
  }
  if (const auto* held = dict()) {
    if (held->is_namespace && depth > 0)
      throw TemplateError("a namespace cannot be a member of another value");
    for (const auto& [key, member] : held->members) {
      bytes += key.size();
      member.weigh(depth + 1, most, bytes);
      if (bytes > most) return;
    }
  }
}

std::string_view Value::kind() const {
  constexpr std::string_view kinds[] = {"an undefined value", "none",     "a truth value", "an integer",
                                        "a number",           "a string", "a list",        "a mapping",
                                        "a function"};
  return kinds[held_.index()];
}

}  // namespace spectr::jinja

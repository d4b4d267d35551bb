#include "spectr/text/jinja/value.h"

#include <fmt/format.h>

#include <algorithm>

namespace spectr::jinja {
namespace {

constexpr int max_depth = 64;

bool is_key(const Value& value) {
  return value.string() != nullptr || value.is_number() || value.is_none();
}

bool same_key(const Value& a, const Value& b) {
  if (const std::string *x = a.string(), *y = b.string(); x != nullptr && y != nullptr) return *x == *y;
  if (const auto *x = a.as<std::int64_t>(), *y = b.as<std::int64_t>(); x != nullptr && y != nullptr)
    return *x == *y;
  return a.is_number() && b.is_number() ? a.number() == b.number() : a.is_none() && b.is_none();
}

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

const Value* Dict::find(const Value& key) const {
  const auto found = std::ranges::find_if(members, [&](const auto& one) { return same_key(one.first, key); });
  return found == members.end() ? nullptr : &found->second;
}

const Value* Dict::find(std::string_view key) const {
  const auto is_named = [key](const auto& member) {
    const std::string* name = member.first.string();
    return name != nullptr && *name == key;
  };
  const auto found = std::ranges::find_if(members, is_named);
  return found == members.end() ? nullptr : &found->second;
}

void Dict::set(Value key, Value value) {
  if (!is_key(key)) throw TemplateError(fmt::format("{} cannot be a key", key.kind()));
  const auto found = std::ranges::find_if(members, [&](const auto& one) { return same_key(one.first, key); });
  if (found != members.end()) {
    found->second = std::move(value);
  } else {
    members.emplace_back(std::move(key), std::move(value));
  }
}

const MarkedText* Value::marked() const {
  const auto* shared = as<std::shared_ptr<const MarkedText>>();
  return shared == nullptr ? nullptr : shared->get();
}

const std::string* Value::string() const {
  const MarkedText* text = marked();
  return text == nullptr ? nullptr : &text->bytes();
}

const List* Value::list() const {
  const auto* shared = as<std::shared_ptr<List>>();
  return shared == nullptr ? nullptr : shared->get();
}

Dict* Value::dict() const {
  const auto* shared = as<std::shared_ptr<Dict>>();
  return shared == nullptr ? nullptr : shared->get();
}

const Dict* Value::mapping() const {
  const Dict* held = dict();
  return held == nullptr || !held->is_mapping() ? nullptr : held;
}

const Function* Value::function() const {
  const auto* shared = as<std::shared_ptr<Function>>();
  return shared == nullptr ? nullptr : shared->get();
}

const Function* Value::callable() const {
  const Dict* held = dict();
  return held == nullptr ? function() : held->call.get();
}

double Value::number() const {
  if (const auto* integer = as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* truth = as<bool>()) return *truth ? 1.0 : 0.0;
  return std::get<double>(held_);
}

bool Value::truth() const {
  if (is_number()) return number() != 0.0;
  if (const auto* held = string()) return !held->empty();
  if (const auto* held = list()) return held->is_generator() || !held->empty();
  if (const auto* held = mapping()) return !held->members.empty();
  return function() != nullptr || dict() != nullptr;
}

int Value::closures() const {
  int most = 0;
  if (const auto* held = function()) most = held->closures;
  if (const auto* held = list()) {
    for (const Value& member : *held) most = std::max(most, member.closures());
  }
  if (const auto* held = dict()) {
    if (held->call != nullptr) most = held->call->closures;
    for (const auto& [key, member] : held->members) most = std::max(most, member.closures());
  }
  return most;
}

std::size_t Value::bytes() const {
  std::size_t all = 0;
  if (const auto* held = string()) all += held->size();
  if (const auto* held = list()) {
    for (const Value& member : *held) all += member.bytes();
  }
  if (const auto* held = dict()) {
    for (const auto& [key, member] : held->members) all += key.bytes() + member.bytes();
  }
  return all;
}

std::size_t Value::weight(std::size_t most) const {
  std::size_t bytes = 0;
  weigh(0, most, bytes);
  return bytes;
}

void Value::weigh(int depth, std::size_t most, std::size_t& bytes) const {
  if (depth > max_depth) throw TemplateError("a value is nested too deeply");
  bytes += sizeof(Value);
  if (const auto* held = marked()) bytes += held->size() + held->quotes().size() * sizeof(MarkedText::Span);
  if (bytes > most) return;
  if (const auto* held = list()) {
    for (const Value& member : *held) {
      member.weigh(depth + 1, most, bytes);
      if (bytes > most) return;
    }
  }
  if (const auto* held = dict()) {
    held->is_member = held->is_member || depth > 0;
    for (const auto& [key, member] : held->members) {
      key.weigh(depth + 1, most, bytes);
      member.weigh(depth + 1, most, bytes);
      if (bytes > most) return;
    }
  }
}

std::string_view Value::kind() const {
  constexpr std::string_view kinds[] = {"an undefined value", "none",     "a truth value", "an integer",
                                        "a number",           "a string", "a list",        "a mapping",
                                        "a function"};
  if (const List* held = list(); held != nullptr && held->kind != Sequence::list)
    return held->is_tuple() ? "a tuple" : held->is_generator() ? "a generator" : "a view of a mapping";
  if (const Dict* held = dict(); held != nullptr && !held->is_mapping())
    return held->is_space() ? "a namespace" : "an object";
  return kinds[held_.index()];
}

}  // namespace spectr::jinja

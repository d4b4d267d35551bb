#include "spectr/text/jinja/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "spectr/text/jinja/builtins/text_functions.h"

namespace spectr::jinja {
namespace {

/// Returns an index counted from the front; negative indices count from the back.
std::int64_t place(const Value& index, std::int64_t fallback, std::size_t size) {
  if (index.is_undefined() || index.is_none()) return fallback;
  const auto* integer = index.as<std::int64_t>();
  if (integer == nullptr) throw TemplateError(fmt::format("{} is not an index", index.kind()));
  return *integer < 0 ? *integer + static_cast<std::int64_t>(size) : *integer;
}

/// Returns the positions of [begin:end:step] in a sequence of size n.
std::vector<std::size_t> places(std::size_t n, const Value& from, const Value& to, const Value& by) {
  const auto size = static_cast<std::int64_t>(n);
  // A step beyond the size leaves the sequence, like one of the size.
  const std::int64_t step = std::clamp(place(by, 1, 0), -size - 1, size + 1);
  if (step == 0) throw TemplateError("a slice in steps of 0");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const std::int64_t begin = std::clamp(place(from, step > 0 ? low : high, n), low, high);
  const std::int64_t end = std::clamp(place(to, step > 0 ? high : low, n), low, high);
  std::vector<std::size_t> out;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step)
    out.push_back(static_cast<std::size_t>(i));
  return out;
}

/// Returns the position of an index in a sequence of that size; nothing if it is outside.
std::optional<std::size_t> index_of(const Value& index, std::size_t size) {
  const std::int64_t i = place(index, -1, size);
  if (i < 0 || i >= static_cast<std::int64_t>(size)) return std::nullopt;
  return static_cast<std::size_t>(i);
}

}  // namespace

List members_of(Run& run, const Value& whole) {
  List members;
  if (const auto* list = whole.list()) {
    run.charge(sizeof(Value) * list->size());
    members = *list;
    members.kind = Sequence::list;
    if (list->is_generator()) whole.as<std::shared_ptr<List>>()->get()->clear();
  } else if (const auto* dict = whole.mapping()) {
    for (const auto& [key, value] : dict->members) members.push_back(run.made(key));
  } else if (const auto* text = whole.marked()) {
    run.charge((1 + sizeof(Value)) * text->size());
    for (const std::string_view character : characters(text->bytes()))
      members.emplace_back(text->part(character));
  } else if (!whole.is_undefined()) {
    throw TemplateError(fmt::format("{} has no members", whole.kind()));
  }
  return members;
}

Value next_of(Run& run, const Value& generator) {
  List& members = **generator.as<std::shared_ptr<List>>();
  if (members.empty()) return {};
  run.charge(sizeof(Value) * members.size());
  Value next = std::move(members.front());
  members.erase(members.begin());
  return next;
}

Value generator(List members) {
  members.kind = Sequence::generator;
  return members;
}

Value member_of(Run& run, const Value& whole, const Value& key) {
  if (whole.is_undefined())
    throw TemplateError(fmt::format("'{}' of an undefined value", key.text().bytes()));
  if (const auto* dict = whole.dict()) {
    const Value* found = run.member(*dict, key);
    if (found != nullptr) return *found;
    return key.string() == nullptr ? Value() : method_of(whole, *key.string());
  }
  if (key.string() != nullptr) return named_member(run, whole, *key.string());
  if (const auto* members = whole.list()) {
    if (!members->is_indexed()) return {};
    const auto i = index_of(key, members->size());
    return i ? (*members)[*i] : Value();
  }
  if (const auto* text = whole.marked()) {
    run.charge(text->size());
    const auto all = characters(text->bytes());
    const auto i = index_of(key, all.size());
    return i ? Value(text->part(all[*i])) : Value();
  }
  return {};
}

Value attribute_of(Run& run, const Value& value, const Value& path) {
  if (path.string() == nullptr) return member_of(run, value, path);
  run.charge(path.string()->size());
  Value found = value;
  std::string_view rest = *path.string();
  for (;;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string name(rest.substr(0, dot));
    const bool index = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    found = member_of(run, found, index ? Value(*integer_in(name)) : Value(MarkedText(name)));
    if (dot == rest.size()) return found;
    rest.remove_prefix(dot + 1);
  }
}

Value slice_of(Run& run, const Value& whole, const Value& begin, const Value& end, const Value& step) {
  if (const auto* text = whole.marked()) {
    run.charge(text->size());
    const auto all = characters(text->bytes());
    MarkedText out;
    for (const std::size_t i : places(all.size(), begin, end, step)) out.append(*text, all[i]);
    return run.made(std::move(out));
  }
  const auto* members = whole.list();
  if (members == nullptr || !members->is_indexed())
    throw TemplateError(fmt::format("{} has no parts", whole.kind()));
  List out;
  out.kind = members->is_tuple() ? Sequence::tuple : Sequence::list;
  for (const std::size_t i : places(members->size(), begin, end, step)) out.push_back((*members)[i]);
  run.charge(sizeof(Value) * out.size());
  return out;
}

}  // namespace spectr::jinja

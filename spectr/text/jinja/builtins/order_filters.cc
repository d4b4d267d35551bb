#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/operations.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

bool is_given(const Value& value) {
  return !value.is_undefined() && !value.is_none();
}

/// Returns a text in lower case unless the order is case-sensitive.
Value in_order(Run& run, const Value& key, const Value& case_sensitive) {
  return case_sensitive.truth() || key.string() == nullptr ? key : lower(run, key, {});
}

/// Returns the sort key: an attribute, or the member itself.
Value key_of(Run& run, const Value& member, const Value& case_sensitive, const Value& attribute) {
  return in_order(run, is_given(attribute) ? attribute_of(run, member, attribute) : member, case_sensitive);
}

/// Returns the attributes in a comma-separated list; a value that is not a string is one attribute.
std::vector<Value> attributes(Run& run, const Value& given) {
  if (given.string() == nullptr) return {given};
  std::vector<Value> all;
  for (const std::string_view one : split(run, *given.string(), Value(","), -1))
    all.emplace_back(given.marked()->part(one));
  return all;
}

/// Pairs of a key and its value.
using Keyed = std::vector<std::pair<Value, Value>>;

Keyed keyed(Run& run, const Value& input, const Value& case_sensitive, const Value& attribute) {
  Keyed all;
  for (const Value& member : members_of(run, input))
    all.emplace_back(key_of(run, member, case_sensitive, attribute), member);
  return all;
}

void sort_by_key(Run& run, Keyed& all, bool falling) {
  std::ranges::stable_sort(all, [&run, falling](const auto& a, const auto& b) {
    return falling ? less(run, b.first, a.first) : less(run, a.first, b.first);
  });
}

/// Returns the first member with the largest or smallest key; undefined if there are no members.
Value extreme(Run& run, const Value& input, const Arguments& arguments, bool largest) {
  const Keyed all = keyed(run, input, arguments[0], arguments[1]);
  const auto comes_first = [&](const auto& a, const auto& b) {
    return largest ? less(run, b.first, a.first) : less(run, a.first, b.first);
  };
  const auto found = std::ranges::min_element(all, comes_first);
  return found == all.end() ? Value() : found->second;
}

Value tuple_of(List members) {
  return List(std::move(members), Sequence::tuple);
}

}  // namespace

Value sort(Run& run, const Value& input, const Arguments& arguments) {
  const std::vector<Value> by = attributes(run, arguments[2]);
  Keyed all;
  for (const Value& member : members_of(run, input)) {
    List keys;
    for (const Value& one : by) keys.push_back(key_of(run, member, arguments[1], one));
    all.emplace_back(keys.size() == 1 ? keys.front() : Value(std::move(keys)), member);
  }
  sort_by_key(run, all, arguments[0].truth());
  List out;
  for (auto& [key, member] : all) out.push_back(std::move(member));
  return out;
}

Value dict_sort(Run& run, const Value& input, const Arguments& arguments) {
  if (input.mapping() == nullptr)
    throw TemplateError(fmt::format("dictsort takes a mapping, got {}", input.kind()));
  const std::string by = is_given(arguments[1]) ? text_of(run, arguments[1]).bytes() : "key";
  if (by != "key" && by != "value") throw TemplateError("dictsort sorts by key or by value");
  Keyed all;
  for (const auto& [key, value] : input.mapping()->members) {
    run.charge(4 * sizeof(Value));
    all.emplace_back(in_order(run, by == "key" ? key : value, arguments[0]), tuple_of({key, value}));
  }
  sort_by_key(run, all, arguments[2].truth());
  List out;
  for (auto& [key, pair] : all) out.push_back(std::move(pair));
  return run.made(std::move(out));
}

Value unique(Run& run, const Value& input, const Arguments& arguments) {
  List out, keys;
  for (auto& [key, member] : keyed(run, input, arguments[0], arguments[1])) {
    if (std::ranges::any_of(keys, [&](const Value& other) { return equal(run, key, other); })) continue;
    keys.push_back(key);
    out.push_back(member);
  }
  return generator(std::move(out));
}

Value min(Run& run, const Value& input, const Arguments& arguments) {
  return extreme(run, input, arguments, false);
}
Value max(Run& run, const Value& input, const Arguments& arguments) {
  return extreme(run, input, arguments, true);
}

Value sum(Run& run, const Value& input, const Arguments& arguments) {
  Value total = is_given(arguments[1]) ? arguments[1] : Value(std::int64_t{0});
  if (total.string() != nullptr) throw TemplateError("sum adds no strings: use join");
  for (const Value& member : members_of(run, input)) {
    run.step();
    const Value one = is_given(arguments[0]) ? attribute_of(run, member, arguments[0]) : member;
    total = calculate(run, "+", total, one);
  }
  return total;
}

Value group_by(Run& run, const Value& input, const Arguments& arguments) {
  Keyed all;
  for (const Value& member : members_of(run, input)) {
    Value key = attribute_of(run, member, arguments[0]);
    if (key.is_undefined()) key = arguments[1];
    all.emplace_back(in_order(run, key, arguments[2]), member);
  }
  sort_by_key(run, all, false);
  List groups;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    List members;
    for (; end < all.size() && (end == begin || equal(run, all[begin].first, all[end].first)); ++end)
      members.push_back(all[end].second);
    Value name = attribute_of(run, members.front(), arguments[0]);
    if (name.is_undefined()) name = arguments[1];
    groups.push_back(List({std::move(name), std::move(members)}, Sequence::group));
  }
  return run.made(std::move(groups));
}

Value batch(Run& run, const Value& input, const Arguments& arguments) {
  const auto size = static_cast<std::size_t>(integer_of(arguments[0], 1, "batch", 1));
  List out, row;
  const auto end_row = [&] {
    while (is_given(arguments[1]) && row.size() < size) row.push_back(arguments[1]);
    out.push_back(std::exchange(row, {}));
  };
  for (const Value& member : members_of(run, input)) {
    row.push_back(member);
    if (row.size() == size) end_row();
  }
  if (!row.empty()) end_row();
  return run.made(generator(std::move(out)));
}

/// Splits a list into the given number of lists. The first ones are longer by one if needed.
Value slices(Run& run, const Value& input, const Arguments& arguments) {
  const auto count = static_cast<std::size_t>(integer_of(arguments[0], 1, "slice", 1));
  const List all = members_of(run, input);
  const std::size_t each = all.size() / count, longer = all.size() % count;
  List out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = each + (i < longer ? 1 : 0);
    List part(all.begin() + static_cast<std::ptrdiff_t>(at),
              all.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size;
    if (is_given(arguments[1]) && i >= longer) part.push_back(arguments[1]);
    out.emplace_back(std::move(part));
  }
  return run.made(generator(std::move(out)));
}

}  // namespace spectr::jinja

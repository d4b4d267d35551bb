#include <fmt/format.h>

#include <algorithm>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

/// Returns the arguments after the first `skip`.
Arguments after(const Arguments& arguments, std::size_t skip) {
  Arguments rest = arguments;
  const auto begin = rest.positional.begin();
  rest.positional.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(skip, rest.positional.size())));
  return rest;
}

std::string name_of(const Value& value, std::string_view what) {
  if (value.string() == nullptr) throw TemplateError(fmt::format("{} expected, got {}", what, value.kind()));
  return *value.string();
}

/// Returns the members of a value; none if it is false in Python's sense, such as none or 0.
List members_or_none(Run& run, const Value& input) {
  return input.truth() ? members_of(run, input) : List();
}

/// Selects the members that pass a test or whose attribute does, or, without `wanted`, those that do not.
Value selected(Run& run, const Value& input, const Arguments& arguments, bool by_attribute, bool wanted) {
  const Value path = by_attribute ? arguments[0] : Value();
  if (by_attribute && path.is_undefined()) throw TemplateError("the name of an attribute expected");
  const Arguments rest = after(arguments, by_attribute ? 1 : 0);
  const Value test = rest[0];
  List out;
  for (const Value& member : members_or_none(run, input)) {
    run.step();
    const Value looked = by_attribute ? attribute_of(run, member, path) : member;
    const bool passes = test.is_undefined()
                            ? looked.truth()
                            : apply_test(run, name_of(test, "the name of a test"), looked, after(rest, 1));
    if (passes == wanted) out.push_back(member);
  }
  return generator(std::move(out));
}

}  // namespace

Value length(Run& run, const Value& input, const Arguments&) {
  if (const auto* list = input.list(); list != nullptr && list->is_generator())
    throw TemplateError("a generator has no length: use list before");
  if (const auto* list = input.list()) return static_cast<std::int64_t>(list->size());
  if (const auto* dict = input.mapping()) return static_cast<std::int64_t>(dict->members.size());
  if (input.string() != nullptr)
    return static_cast<std::int64_t>(characters(string_of(run, input, "length").bytes()).size());
  return static_cast<std::int64_t>(members_of(run, input).size());
}

Value first(Run& run, const Value& input, const Arguments&) {
  if (const auto* list = input.list(); list != nullptr && list->is_generator()) return next_of(run, input);
  if (const auto* list = input.list()) return list->empty() ? Value() : list->front();
  const List members = members_of(run, input);
  return members.empty() ? Value() : members.front();
}

Value last(Run& run, const Value& input, const Arguments&) {
  if (const auto* list = input.list(); list != nullptr && list->is_generator())
    throw TemplateError("a generator has no last member: use list before");
  if (const auto* list = input.list()) return list->empty() ? Value() : list->back();
  const List members = members_of(run, input);
  return members.empty() ? Value() : members.back();
}

Value to_list(Run& run, const Value& input, const Arguments&) {
  return members_of(run, input);
}

Value reverse(Run& run, const Value& input, const Arguments&) {
  if (input.string() != nullptr) return run.made(reversed(string_of(run, input, "reverse")));
  const bool was_read = input.list() != nullptr && input.list()->is_generator();
  List members = members_of(run, input);
  std::ranges::reverse(members);
  return was_read ? Value(std::move(members)) : generator(std::move(members));
}

Value join(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText between = arguments[0].text();
  MarkedText out;
  bool first = true;
  for (const Value& member : members_of(run, input)) {
    const Value joined = arguments[1].is_undefined() ? member : attribute_of(run, member, arguments[1]);
    run.charge(between.size());
    for (int walks = 0; walks < 2; ++walks) run.walk(joined);  // its text is made and copied
    if (!first) out.append(between);
    out.append(joined.text());
    first = false;
  }
  return out;
}

Value map(Run& run, const Value& input, const Arguments& arguments) {
  constexpr std::string_view parameters[] = {"attribute", "default"};
  const bool by_attribute = arguments.positional.empty();
  const Arguments given = by_attribute ? arguments.bound("map", parameters, 1) : after(arguments, 1);
  List out;
  for (const Value& member : members_or_none(run, input)) {
    run.step();
    if (by_attribute) {
      Value found = attribute_of(run, member, given[0]);
      out.push_back(found.is_undefined() ? given[1] : std::move(found));
    } else {
      out.push_back(apply_filter(run, name_of(arguments[0], "the name of a filter"), member, given));
    }
  }
  return run.made(generator(std::move(out)));
}

Value select(Run& run, const Value& input, const Arguments& arguments) {
  return selected(run, input, arguments, false, true);
}
Value reject(Run& run, const Value& input, const Arguments& arguments) {
  return selected(run, input, arguments, false, false);
}
Value selectattr(Run& run, const Value& input, const Arguments& arguments) {
  return selected(run, input, arguments, true, true);
}
Value rejectattr(Run& run, const Value& input, const Arguments& arguments) {
  return selected(run, input, arguments, true, false);
}

}  // namespace spectr::jinja

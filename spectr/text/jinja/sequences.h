#pragma once

#include <string>
#include <string_view>

#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

// What strings, lists and mappings have in common. A string's members are its characters. What is copied is
// charged; that a copy shares the members of the original is not.

/// Returns the members of a list, the keys of a mapping or the characters of a string in order; undefined has
/// none. A generator is empty afterwards.
List members_of(Run& run, const Value& whole);
/// Takes the next member of a generator; undefined if there is none. Requires: a generator.
Value next_of(Run& run, const Value& generator);
/// Makes a list readable once, as filters that Python evaluates lazily return it.
Value generator(List members);

/// whole[key], or undefined.
Value member_of(Run& run, const Value& whole, const Value& key);
/// whole.name, or undefined: a method of the value's type comes before a member of a mapping.
Value named_member(Run& run, const Value& whole, const std::string& name);
/// The method of that name that all values of the type have, as a function; undefined: there is none.
Value method_of(const Value& whole, std::string_view name);
/// Calls a value. `name`, which may be empty, is how the template calls it. Throws if it cannot be called.
Value call_value(Run& run, const Value& callee, const std::string& name, const Arguments& arguments);

/// The value of a dotted name, or of an index, below `value`.
Value attribute_of(Run& run, const Value& value, const Value& path);

/// whole[begin:end:step].
Value slice_of(Run& run, const Value& whole, const Value& begin, const Value& end, const Value& step);

}  // namespace spectr::jinja

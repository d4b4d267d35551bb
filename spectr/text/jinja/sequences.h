#pragma once

#include <string>
#include <string_view>

#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

// Operations on strings, lists and mappings. The members of a string are its characters. Copies are charged;
// members shared with the original are not.

/// Returns the members of a list, the keys of a mapping or the characters of a string, in order; nothing for
/// undefined. A generator is empty afterwards.
List members_of(Run& run, const Value& whole);
/// Takes the next member of a generator; undefined if there is none. Requires: a generator.
Value next_of(Run& run, const Value& generator);
/// Makes a list that can be read once, like the results of filters that Python evaluates lazily.
Value generator(List members);

/// Returns whole[key], or undefined.
Value member_of(Run& run, const Value& whole, const Value& key);
/// Returns whole.name, or undefined. A method of the value's type precedes a member of a mapping.
Value named_member(Run& run, const Value& whole, const std::string& name);
/// Returns the method of that name that all values of the type have, as a function, or undefined.
Value method_of(const Value& whole, std::string_view name);
/// Calls a value. `name`, which may be empty, is its name in the template. Throws if it is not callable.
Value call_value(Run& run, const Value& callee, const std::string& name, const Arguments& arguments);

/// Returns the value of a dotted name or of an index, relative to `value`.
Value attribute_of(Run& run, const Value& value, const Value& path);

/// Returns whole[begin:end:step].
Value slice_of(Run& run, const Value& whole, const Value& begin, const Value& end, const Value& step);

}  // namespace spectr::jinja

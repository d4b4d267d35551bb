#pragma once

#include <string_view>

#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

// What strings, lists and mappings have in common. A string's members are its characters. What is copied is
// charged; that a copy shares the members of the original is not.

/// One after the other: the members of a list, the keys of a mapping, the characters of a string; undefined
/// has none.
List members_of(Run& run, const Value& whole);

/// whole[key], or undefined.
Value member_of(Run& run, const Value& whole, const Value& key);

/// The value of a dotted name, or of an index, below `value`.
Value attribute_of(Run& run, const Value& value, const Value& path);

/// whole[begin:end:step].
Value slice_of(Run& run, const Value& whole, const Value& begin, const Value& end, const Value& step);

}  // namespace spectr::jinja

#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

/// A filter, test, function or method: its name, its implementation and its parameters, which an empty name
/// terminates. The first `needed` ones are required. With `any`, arguments are passed as given.
template <class Apply>
struct Callable {
  std::string_view name;
  Apply apply;
  std::array<std::string_view, 4> parameters = {};
  std::size_t needed = 0;
  bool any = false;

  Arguments bound(const Arguments& arguments) const {
    return any ? arguments : arguments.bound(name, parameters, needed);
  }
};

/// Returns the callable of that name, or null.
template <class Apply, std::size_t n>
const Callable<Apply>* find_callable(const Callable<Apply> (&all)[n], std::string_view name) {
  const auto found = std::ranges::find(all, name, &Callable<Apply>::name);
  return found == std::end(all) ? nullptr : found;
}

/// Implementation of a filter or method. It charges the bytes that it reads and makes.
using Operation = Value (*)(Run& run, const Value& self, const Arguments& arguments);

/// Returns a string and charges its bytes. Throws if the value is not a string.
const MarkedText& string_of(Run& run, const Value& value, std::string_view callee);
/// Returns any value as text and charges its bytes.
MarkedText text_of(Run& run, const Value& value);
/// Returns an integer argument, or the fallback if it is undefined or none. Throws if it is something else or
/// outside [min, max].
std::int64_t integer_of(const Value& value, std::int64_t fallback, std::string_view callee,
                        std::int64_t min = 0, std::int64_t max = 1000);

/// Returns the string method of that name, or null.
const Callable<Operation>* find_string_method(std::string_view name);

// Implementations that filters and methods share.
Value items(Run& run, const Value& self, const Arguments& arguments);
Value replace(Run& run, const Value& self, const Arguments& arguments);
Value strip_both(Run& run, const Value& self, const Arguments& arguments);
Value stripped(Run& run, const MarkedText& text, const Value& characters, bool left, bool right);
Value upper(Run& run, const Value& self, const Arguments& arguments);
Value lower(Run& run, const Value& self, const Arguments& arguments);
Value capitalize(Run& run, const Value& self, const Arguments& arguments);

// Text filters.
Value indent(Run& run, const Value& input, const Arguments& arguments);
Value truncate(Run& run, const Value& input, const Arguments& arguments);
Value center(Run& run, const Value& input, const Arguments& arguments);
Value count_words(Run& run, const Value& input, const Arguments& arguments);
Value format(Run& run, const Value& input, const Arguments& arguments);
Value title_words(Run& run, const Value& input, const Arguments& arguments);
Value word_wrap(Run& run, const Value& input, const Arguments& arguments);

// Filters of HTML and of URLs.
Value escape_html(Run& run, const Value& input, const Arguments& arguments);
Value xml_attributes(Run& run, const Value& input, const Arguments& arguments);
Value url_encode(Run& run, const Value& input, const Arguments& arguments);
Value strip_tags(Run& run, const Value& input, const Arguments& arguments);

// Number filters.
Value to_integer(Run& run, const Value& input, const Arguments& arguments);
Value to_real(Run& run, const Value& input, const Arguments& arguments);
Value magnitude(Run& run, const Value& input, const Arguments& arguments);
Value round_off(Run& run, const Value& input, const Arguments& arguments);
Value file_size(Run& run, const Value& input, const Arguments& arguments);

// Filters for sorting and grouping.
Value sort(Run& run, const Value& input, const Arguments& arguments);
Value dict_sort(Run& run, const Value& input, const Arguments& arguments);
Value unique(Run& run, const Value& input, const Arguments& arguments);
Value min(Run& run, const Value& input, const Arguments& arguments);
Value max(Run& run, const Value& input, const Arguments& arguments);
Value sum(Run& run, const Value& input, const Arguments& arguments);
Value group_by(Run& run, const Value& input, const Arguments& arguments);
Value batch(Run& run, const Value& input, const Arguments& arguments);
Value slices(Run& run, const Value& input, const Arguments& arguments);

// Sequence filters.
Value length(Run& run, const Value& input, const Arguments& arguments);
Value first(Run& run, const Value& input, const Arguments& arguments);
Value last(Run& run, const Value& input, const Arguments& arguments);
Value to_list(Run& run, const Value& input, const Arguments& arguments);
Value reverse(Run& run, const Value& input, const Arguments& arguments);
Value join(Run& run, const Value& input, const Arguments& arguments);
Value map(Run& run, const Value& input, const Arguments& arguments);
Value select(Run& run, const Value& input, const Arguments& arguments);
Value reject(Run& run, const Value& input, const Arguments& arguments);
Value selectattr(Run& run, const Value& input, const Arguments& arguments);
Value rejectattr(Run& run, const Value& input, const Arguments& arguments);

}  // namespace spectr::jinja

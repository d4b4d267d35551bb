#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

/// A filter, test, function or method: its name, what it does, and its parameters, which an empty name ends.
/// The first `needed` of them must be given. One with `any` takes its arguments as they are.
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

/// The one of that name, or null.
template <class Apply, std::size_t n>
const Callable<Apply>* find_callable(const Callable<Apply> (&all)[n], std::string_view name) {
  const auto found = std::ranges::find(all, name, &Callable<Apply>::name);
  return found == std::end(all) ? nullptr : found;
}

/// What filters and methods do to a value. They charge what they look at and what they make.
using Operation = Value (*)(Run& run, const Value& self, const Arguments& arguments);

/// Throws where the value is no string; charges it.
const MarkedText& string_of(Run& run, const Value& value, std::string_view callee);
/// The text of any value, charged.
MarkedText text_of(Run& run, const Value& value);
/// An argument that is an integer, or the fallback where it is undefined or none. Throws where it is
/// something else, or outside [min, max].
std::int64_t integer_of(const Value& value, std::int64_t fallback, std::string_view callee,
                        std::int64_t min = 0, std::int64_t max = 1000);

/// The method of strings of that name, or null.
const Callable<Operation>* find_string_method(std::string_view name);

// What filters and methods share.
Value items(Run& run, const Value& self, const Arguments& arguments);
Value replace(Run& run, const Value& self, const Arguments& arguments);
Value strip_both(Run& run, const Value& self, const Arguments& arguments);
Value stripped(Run& run, const MarkedText& text, const Value& characters, bool left, bool right);
Value upper(Run& run, const Value& self, const Arguments& arguments);
Value lower(Run& run, const Value& self, const Arguments& arguments);
Value capitalize(Run& run, const Value& self, const Arguments& arguments);

// Filters of texts.
Value indent(Run& run, const Value& input, const Arguments& arguments);
Value truncate(Run& run, const Value& input, const Arguments& arguments);
Value center(Run& run, const Value& input, const Arguments& arguments);
Value count_words(Run& run, const Value& input, const Arguments& arguments);
Value format(Run& run, const Value& input, const Arguments& arguments);
Value title_words(Run& run, const Value& input, const Arguments& arguments);
Value word_wrap(Run& run, const Value& input, const Arguments& arguments);

// Filters of HTML and addresses.
Value escape_html(Run& run, const Value& input, const Arguments& arguments);
Value xml_attributes(Run& run, const Value& input, const Arguments& arguments);
Value url_encode(Run& run, const Value& input, const Arguments& arguments);
Value strip_tags(Run& run, const Value& input, const Arguments& arguments);

// Filters of numbers.
Value to_integer(Run& run, const Value& input, const Arguments& arguments);
Value to_real(Run& run, const Value& input, const Arguments& arguments);
Value magnitude(Run& run, const Value& input, const Arguments& arguments);
Value round_off(Run& run, const Value& input, const Arguments& arguments);
Value file_size(Run& run, const Value& input, const Arguments& arguments);

// Filters that order and group.
Value sort(Run& run, const Value& input, const Arguments& arguments);
Value dict_sort(Run& run, const Value& input, const Arguments& arguments);
Value unique(Run& run, const Value& input, const Arguments& arguments);
Value min(Run& run, const Value& input, const Arguments& arguments);
Value max(Run& run, const Value& input, const Arguments& arguments);
Value sum(Run& run, const Value& input, const Arguments& arguments);
Value group_by(Run& run, const Value& input, const Arguments& arguments);
Value batch(Run& run, const Value& input, const Arguments& arguments);
Value slices(Run& run, const Value& input, const Arguments& arguments);

// Filters of sequences.
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

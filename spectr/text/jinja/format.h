#pragma once

#include <string_view>

#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

/// Implements Python's `form % values`: %s, %r, %d, %i, %u, %x, %o, %e, %f, %g, %c and %%, with flags, width
/// and precision, and %(name)s. `values` is a tuple, a mapping, or a single value. Throws if the values do
/// not match the form.
Value format_percent(Run& run, const MarkedText& form, const Value& values);

/// Implements Python's form.format(…): {}, {0}, {name}, each with members (.a, [0]), a conversion (!r, !s)
/// and a specification ([[fill]align][sign][#][0][width][,][.precision][type]); {{ and }}.
Value format_braces(Run& run, const MarkedText& form, const Arguments& arguments);

}  // namespace spectr::jinja

#include <fmt/format.h>

#include <cmath>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/letters.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/operations.h"

namespace spectr::jinja {
namespace {

using Test = bool (*)(Run& run, const Value& value, const Value& argument);

double remainder(const Value& value, const Value& by) {
  if (!value.is_number() || !by.is_number() || by.number() == 0.0)
    throw TemplateError(fmt::format("{} has no remainder by {}", value.kind(), by.text().bytes()));
  return std::fmod(value.number(), by.number());
}

bool iterable(Run&, const Value& v, const Value&) {
  return v.string() != nullptr || v.list() != nullptr || v.mapping() != nullptr || v.is_undefined();
}
bool sequence(Run& run, const Value& v, const Value& argument) {
  return iterable(run, v, argument) && (v.list() == nullptr || v.list()->is_indexed());
}
bool odd(Run&, const Value& v, const Value&) {
  return std::abs(remainder(v, std::int64_t{2})) == 1.0;
}
bool even(Run&, const Value& v, const Value&) {
  return remainder(v, std::int64_t{2}) == 0.0;
}
bool divisible(Run&, const Value& v, const Value& by) {
  return remainder(v, by) == 0.0;
}

/// Approximates Python's identity: the kinds and the values are equal.
bool same(Run& run, const Value& a, const Value& b) {
  return a.kind() == b.kind() && equal(run, a, b);
}
bool upper_case(Run& run, const Value& v, const Value&) {
  return is_in_case(text_of(run, v).bytes(), Case::upper);
}
bool lower_case(Run& run, const Value& v, const Value&) {
  return is_in_case(text_of(run, v).bytes(), Case::lower);
}

/// A comparison operator as a test.
template <char first, char second = ' '>
bool compared(Run& run, const Value& a, const Value& b) {
  constexpr char symbol[] = {first, second};
  return compare(run, std::string_view(symbol, second == ' ' ? 1 : 2), a, b);
}

constexpr Callable<Test> tests[] = {
    {"defined", [](Run&, const Value& v, const Value&) { return !v.is_undefined(); }},
    {"undefined", [](Run&, const Value& v, const Value&) { return v.is_undefined(); }},
    {"none", [](Run&, const Value& v, const Value&) { return v.is_none(); }},
    {"string", [](Run&, const Value& v, const Value&) { return v.string() != nullptr; }},
    {"mapping", [](Run&, const Value& v, const Value&) { return v.mapping() != nullptr; }},
    {"iterable", iterable},
    {"sequence", sequence},
    {"number", [](Run&, const Value& v, const Value&) { return v.is_number(); }},
    {"integer", [](Run&, const Value& v, const Value&) { return v.as<std::int64_t>() != nullptr; }},
    {"float", [](Run&, const Value& v, const Value&) { return v.as<double>() != nullptr; }},
    {"boolean", [](Run&, const Value& v, const Value&) { return v.as<bool>() != nullptr; }},
    {"true", [](Run&, const Value& v, const Value&) { return v.as<bool>() != nullptr && v.truth(); }},
    {"false", [](Run&, const Value& v, const Value&) { return v.as<bool>() != nullptr && !v.truth(); }},
    {"callable",
     [](Run&, const Value& v, const Value&) { return v.callable() != nullptr || v.is_undefined(); }},
    {"odd", odd},
    {"even", even},
    {"divisibleby", divisible, {"num"}, 1},
    {"equalto", compared<'=', '='>, {"b"}, 1},
    {"eq", compared<'=', '='>, {"b"}, 1},
    {"==", compared<'=', '='>, {"b"}, 1},
    {"ne", compared<'!', '='>, {"b"}, 1},
    {"!=", compared<'!', '='>, {"b"}, 1},
    {"lt", compared<'<'>, {"b"}, 1},
    {"gt", compared<'>'>, {"b"}, 1},
    {"le", compared<'<', '='>, {"b"}, 1},
    {"ge", compared<'>', '='>, {"b"}, 1},
    {"lessthan", compared<'<'>, {"b"}, 1},
    {"<", compared<'<'>, {"b"}, 1},
    {"greaterthan", compared<'>'>, {"b"}, 1},
    {">", compared<'>'>, {"b"}, 1},
    {"<=", compared<'<', '='>, {"b"}, 1},
    {">=", compared<'>', '='>, {"b"}, 1},
    {"in", compared<'i', 'n'>, {"seq"}, 1},
    {"sameas", same, {"other"}, 1},
    {"filter",
     [](Run&, const Value& v, const Value&) { return v.string() != nullptr && is_filter(*v.string()); }},
    {"test",
     [](Run&, const Value& v, const Value&) { return v.string() != nullptr && is_test(*v.string()); }},
    {"upper", upper_case},
    {"lower", lower_case},
};

}  // namespace

bool is_test(std::string_view name) {
  return find_callable(tests, name) != nullptr;
}

bool apply_test(Run& run, const std::string& name, const Value& input, const Arguments& arguments) {
  const auto* test = find_callable(tests, name);
  if (test == nullptr) throw TemplateError(fmt::format("the test '{}' is not supported", name));
  return test->apply(run, input, test->bound(arguments)[0]);
}

}  // namespace spectr::jinja

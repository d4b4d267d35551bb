#include <fmt/format.h>

#include <cmath>

#include "spectr/text/jinja/callables.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/text_functions.h"

namespace spectr::jinja {
namespace {

constexpr int max_indent = 8;

Value to_json(Run& run, const Value& input, const Arguments& arguments) {
  const Value indent = arguments[0];
  if (arguments[1].truth()) throw TemplateError("tojson with ensure_ascii is not supported");
  run.walk(input);
  if (indent.is_undefined() || indent.is_none()) return run.made(input.json());
  if (!indent.is_number() || indent.number() < 0 || indent.number() > max_indent) {
    throw TemplateError(fmt::format("tojson takes an indent of 0 to {}", max_indent));
  }
  return run.made(input.json(static_cast<int>(indent.number())));
}

Value fallback(Run&, const Value& input, const Arguments& arguments) {
  if (!input.is_undefined() && (!arguments[1].truth() || input.truth())) return input;
  return arguments[0].is_undefined() ? Value("") : arguments[0];
}

Value to_integer(Run& run, const Value& input, const Arguments& arguments) {
  if (input.is_undefined()) throw TemplateError("int of an undefined value");
  if (input.as<std::int64_t>() != nullptr) return input;
  if (input.string() != nullptr) {
    const std::string& text = string_of(run, input, "int");
    if (const auto value = number<std::int64_t>(text)) return *value;
    if (const auto value = number<double>(text)) return to_integer(run, *value, arguments);
  }
  if (!input.is_number()) return arguments[0].is_undefined() ? Value(std::int64_t{0}) : arguments[0];
  if (!(std::abs(input.number()) < 0x1p63)) throw TemplateError("int gives too large an integer");
  return static_cast<std::int64_t>(input.number());
}

/// Capital letters after white space, hyphens and opening brackets only, unlike the method.
Value title(Run& run, const Value& input, const Arguments&) {
  std::string out = in_case(string_of(run, input, "title"), Case::lower);
  bool starts = true;
  for (char& c : out) {
    if (starts) c = in_case({&c, 1}, Case::upper).front();
    starts = std::string_view(" \t\r\n\v\f-({[<").contains(c);
  }
  return run.made(std::move(out));
}

Value to_string(Run& run, const Value& input, const Arguments&) {
  if (input.string() != nullptr) return input;
  run.walk(input);
  return run.made(input.text());
}

Value unchanged(Run&, const Value& input, const Arguments&) {
  return input;
}

constexpr Callable<Operation> filters[] = {
    {"items", items},
    {"length", length},
    {"count", length},
    {"list", to_list},
    {"first", first},
    {"last", last},
    {"reverse", reverse},
    {"sort", sort, {"reverse", "case_sensitive", "attribute"}},
    {"unique", unique, {"case_sensitive", "attribute"}},
    {"join", join, {"d", "attribute"}},
    {"map", map, {}, 0, true},
    {"select", select, {}, 0, true},
    {"reject", reject, {}, 0, true},
    {"selectattr", selectattr, {}, 0, true},
    {"rejectattr", rejectattr, {}, 0, true},
    {"tojson", to_json, {"indent", "ensure_ascii"}},
    {"default", fallback, {"default_value", "boolean"}},
    {"d", fallback, {"default_value", "boolean"}},
    {"int", to_integer, {"default"}},
    {"trim", strip_both, {"chars"}},
    {"replace", replace, {"old", "new", "count"}, 2},
    {"upper", upper},
    {"lower", lower},
    {"capitalize", capitalize},
    {"title", title},
    {"string", to_string},
    {"safe", unchanged},
};

}  // namespace

Value apply_filter(Run& run, const std::string& name, const Value& input, const Arguments& arguments) {
  run.step();
  const auto* filter = find_callable(filters, name);
  if (filter == nullptr) throw TemplateError(fmt::format("the filter '{}' is not supported", name));
  return filter->apply(run, input, filter->bound(arguments));
}

}  // namespace spectr::jinja

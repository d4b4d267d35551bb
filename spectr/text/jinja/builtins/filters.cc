#include <fmt/format.h>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

constexpr std::int64_t max_indent = 64;

/// Supports Hugging Face's options, in their order.
Value to_json(Run& run, const Value& input, const Arguments& arguments) {
  run.walk(input);
  JsonStyle style;
  style.ascii = arguments[0].truth();
  style.sorted = arguments[3].truth();
  if (const Value indent = arguments[1]; indent.string() != nullptr) {
    style.indent = *indent.marked();
  } else if (!indent.is_undefined() && !indent.is_none()) {
    const auto spaces = static_cast<std::size_t>(integer_of(indent, 0, "tojson", 0, max_indent));
    style.indent = MarkedText(std::string(spaces, ' '));
  }
  if (style.indent) style.between = MarkedText(",");
  if (const Value separators = arguments[2]; !separators.is_undefined() && !separators.is_none()) {
    const List* pair = separators.list();
    if (pair == nullptr || pair->size() != 2) throw TemplateError("tojson takes a pair of separators");
    style.between = string_of(run, (*pair)[0], "tojson");
    style.behind_key = string_of(run, (*pair)[1], "tojson");
  }
  if (style.indent) {  // check first: every member may be at the deepest level
    constexpr std::size_t levels = 64;
    run.charge(input.weight(~std::size_t{0}) / sizeof(Value) * levels * style.indent->size());
  }
  return run.made(input.json(style));
}

Value default_value(Run&, const Value& input, const Arguments& arguments) {
  if (!input.is_undefined() && (!arguments[1].truth() || input.truth())) return input;
  return arguments[0].is_undefined() ? Value("") : arguments[0];
}

Value to_string(Run& run, const Value& input, const Arguments&) {
  if (input.string() != nullptr) return input;
  run.walk(input);
  return run.made(input.text());
}

/// Unlike a dot, the filter ignores the members of a mapping.
Value read_attribute(Run& run, const Value& input, const Arguments& arguments) {
  const std::string& name = string_of(run, arguments[0], "attr").bytes();
  return input.mapping() != nullptr ? method_of(input, name) : named_member(run, input, name);
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
    {"dictsort", dict_sort, {"case_sensitive", "by", "reverse"}},
    {"min", min, {"case_sensitive", "attribute"}},
    {"max", max, {"case_sensitive", "attribute"}},
    {"sum", sum, {"attribute", "start"}},
    {"groupby", group_by, {"attribute", "default", "case_sensitive"}, 1},
    {"batch", batch, {"linecount", "fill_with"}, 1},
    {"slice", slices, {"slices", "fill_with"}, 1},
    {"unique", unique, {"case_sensitive", "attribute"}},
    {"join", join, {"d", "attribute"}},
    {"map", map, {}, 0, true},
    {"select", select, {}, 0, true},
    {"reject", reject, {}, 0, true},
    {"selectattr", selectattr, {}, 0, true},
    {"rejectattr", rejectattr, {}, 0, true},
    {"tojson", to_json, {"ensure_ascii", "indent", "separators", "sort_keys"}},
    {"default", default_value, {"default_value", "boolean"}},
    {"d", default_value, {"default_value", "boolean"}},
    {"int", to_integer, {"default", "base"}},
    {"float", to_real, {"default"}},
    {"abs", magnitude},
    {"round", round_off, {"precision", "method"}},
    {"trim", strip_both, {"chars"}},
    {"replace", replace, {"old", "new", "count"}, 2},
    {"upper", upper},
    {"lower", lower},
    {"capitalize", capitalize},
    {"title", title_words},
    {"indent", indent, {"width", "first", "blank"}},
    {"truncate", truncate, {"length", "killwords", "end", "leeway"}},
    {"center", center, {"width"}},
    {"wordcount", count_words},
    {"escape", escape_html},
    {"e", escape_html},
    {"forceescape", escape_html},
    {"format", format, {}, 0, true},
    {"attr", read_attribute, {"name"}, 1},
    {"string", to_string},
    {"safe", unchanged},
    {"wordwrap", word_wrap, {"width", "break_long_words", "wrapstring", "break_on_hyphens"}},
    {"urlencode", url_encode},
    {"striptags", strip_tags},
    {"xmlattr", xml_attributes, {"autospace"}},
    {"filesizeformat", file_size, {"binary"}},
};

}  // namespace

bool is_filter(std::string_view name) {
  return find_callable(filters, name) != nullptr;
}

Value apply_filter(Run& run, const std::string& name, const Value& input, const Arguments& arguments) {
  run.step();
  const auto* filter = find_callable(filters, name);
  if (filter == nullptr) throw TemplateError(fmt::format("the filter '{}' is not supported", name));
  return filter->apply(run, input, filter->bound(arguments));
}

}  // namespace spectr::jinja

#include <fmt/format.h>

#include <utility>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/format.h"
#include "spectr/text/jinja/letters.h"

namespace spectr::jinja {

/// Unlike the method, capitalizes letters only after white space, hyphens and opening brackets.
Value title_words(Run& run, const Value& input, const Arguments&) {
  return run.made(in_case(text_of(run, input), Case::words));
}

/// Inserts spaces or a text before every line except the first one and empty ones.
Value indent(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText text = text_of(run, input);
  const MarkedText before =
      arguments[0].string() != nullptr
          ? *arguments[0].marked()
          : MarkedText(std::string(static_cast<std::size_t>(integer_of(arguments[0], 4, "indent")), ' '));
  const bool first = arguments[1].truth(), blank = arguments[2].truth();
  const bool ends = text.bytes().ends_with('\n');  // the last line is empty
  MarkedText out;
  bool begun = false;
  const auto add = [&](std::string_view line) {
    run.charge(line.size() + before.size());
    if (begun) out.append("\n");
    if (begun ? blank || !line.empty() : first) out.append(before);
    out.append(text, line);
    begun = true;
  };
  for (const std::string_view line : split_lines(run, text.bytes())) add(line);
  if (ends || !begun) add({});
  return run.made(std::move(out));
}

Value truncate(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText text = text_of(run, input);
  const MarkedText end = arguments[2].is_undefined() ? MarkedText("...") : text_of(run, arguments[2]);
  constexpr std::int64_t longest = 1 << 30;
  const auto length = integer_of(arguments[0], 255, "truncate", 0, longest);
  const auto leeway = integer_of(arguments[3], 5, "truncate", 0, longest);
  const auto all = characters(text.bytes());
  if (static_cast<std::int64_t>(all.size()) <= length + leeway) return run.made(text);
  const auto mark = static_cast<std::int64_t>(characters(end.bytes()).size());
  if (length < mark) throw TemplateError(fmt::format("truncate takes a length of at least {}", mark));
  std::size_t bytes = 0;
  for (std::int64_t i = 0; i < length - mark; ++i) bytes += all[static_cast<std::size_t>(i)].size();
  std::string_view kept = std::string_view(text.bytes()).substr(0, bytes);
  if (!arguments[1].truth()) kept = kept.substr(0, kept.rfind(' '));
  return run.made(text.part(kept).append(end));
}

/// If the number of spaces is odd, the extra one goes where Python puts it.
Value center(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText text = text_of(run, input);
  const auto width = static_cast<std::size_t>(integer_of(arguments[0], 80, "center"));
  const MarkedText fill =
      arguments[1].is_undefined() ? MarkedText(" ") : string_of(run, arguments[1], "center");
  if (characters(fill.bytes()).size() != 1) throw TemplateError("center takes one character to fill with");
  const std::size_t size = characters(text.bytes()).size(), room = width > size ? width - size : 0;
  const std::size_t left = room / 2 + (room & width & 1);
  MarkedText out;
  for (std::size_t i = 0; i < left; ++i) out.append(fill);
  out.append(text);
  for (std::size_t i = left; i < room; ++i) out.append(fill);
  return run.made(std::move(out));
}

Value count_words(Run& run, const Value& input, const Arguments&) {
  const MarkedText text = text_of(run, input);
  std::int64_t words = 0;
  bool inside = false;
  for (const std::string_view character : characters(text.bytes())) {
    const bool letter = character == "_" || is_alphanumeric(code_of(character));
    if (letter && !inside) ++words;
    inside = letter;
  }
  return words;
}

Value format(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText form = text_of(run, input);
  if (arguments.named.empty()) {
    List values(arguments.positional.begin(), arguments.positional.end());
    values.kind = Sequence::tuple;
    return format_percent(run, form, values);
  }
  if (!arguments.positional.empty()) throw TemplateError("format takes values or names, not both");
  Dict values;
  for (const auto& [name, value] : arguments.named) values.set(MarkedText(name), value);
  return format_percent(run, form, values);
}

}  // namespace spectr::jinja

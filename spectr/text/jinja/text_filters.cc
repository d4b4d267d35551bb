#include <fmt/format.h>

#include <utility>

#include "spectr/text/jinja/callables.h"
#include "spectr/text/jinja/format.h"
#include "spectr/text/jinja/text_functions.h"

namespace spectr::jinja {

/// Capital letters after white space, hyphens and opening brackets only, unlike the method.
Value title_words(Run& run, const Value& input, const Arguments&) {
  MarkedText out = in_case(text_of(run, input), Case::lower);
  bool starts = true;
  out.change_bytes([&starts](char c) {
    const bool upper = std::exchange(starts, std::string_view(" \t\r\n\v\f-({[<").contains(c));
    return upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return run.made(std::move(out));
}

/// Spaces, or a text, before every line but the first, and but empty ones.
Value indent(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText text = text_of(run, input);
  const MarkedText before =
      arguments[0].string() != nullptr
          ? *arguments[0].marked()
          : MarkedText(std::string(static_cast<std::size_t>(integer_of(arguments[0], 4, "indent")), ' '));
  const bool first = arguments[1].truth(), blank = arguments[2].truth();
  const bool ends = text.bytes().ends_with('\n');  // a last line that is empty
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

/// Of the spaces that do not go in halves the extra one stands where Python puts it.
Value center(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText text = text_of(run, input);
  const auto width = static_cast<std::size_t>(integer_of(arguments[0], 80, "center"));
  const std::size_t size = characters(text.bytes()).size(), room = width > size ? width - size : 0;
  const std::size_t left = room / 2 + (room & width & 1);
  return run.made(MarkedText(std::string(left, ' ')).append(text).append(std::string(room - left, ' ')));
}

Value count_words(Run& run, const Value& input, const Arguments&) {
  const MarkedText text = text_of(run, input);
  std::int64_t words = 0;
  bool inside = false;
  for (const char c : text.bytes()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = byte >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z');
    if (letter && !inside) ++words;
    inside = letter;
  }
  return words;
}

Value escape_html(Run& run, const Value& input, const Arguments&) {
  const MarkedText text = text_of(run, input);
  MarkedText out;
  for (const auto& [bytes, quoted] : text.pieces()) {
    for (const char& c : bytes) {
      const std::string_view same(&c, 1);
      out.append(c == '&'    ? "&amp;"
                 : c == '<'  ? "&lt;"
                 : c == '>'  ? "&gt;"
                 : c == '\'' ? "&#39;"
                 : c == '"'  ? "&#34;"
                             : same,
                 quoted);
    }
  }
  return run.made(std::move(out));
}

Value format(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText form = text_of(run, input);
  if (arguments.named.empty()) {
    List values(arguments.positional.begin(), arguments.positional.end());
    values.is_tuple = true;
    return format_percent(run, form, values);
  }
  if (!arguments.positional.empty()) throw TemplateError("format takes values or names, not both");
  Dict values;
  for (const auto& [name, value] : arguments.named) values.set(MarkedText(name), value);
  return format_percent(run, form, values);
}

}  // namespace spectr::jinja

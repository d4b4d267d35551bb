#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/format.h"
#include "spectr/text/jinja/letters.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

Value strip_left(Run& run, const Value& self, const Arguments& arguments) {
  return stripped(run, string_of(run, self, "lstrip"), arguments[0], true, false);
}

Value strip_right(Run& run, const Value& self, const Arguments& arguments) {
  return stripped(run, string_of(run, self, "rstrip"), arguments[0], false, true);
}

Value title(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(string_of(run, self, "title"), Case::title));
}

/// Returns a list of parts of a text. The parts have been charged.
Value list_of(const MarkedText& text, const std::vector<std::string_view>& parts) {
  List list;
  for (const std::string_view part : parts) list.emplace_back(text.part(part));
  return list;
}

/// Returns the maximum number of splits: the argument, or −1 for no limit.
std::int64_t max_cuts(const Value& given) {
  if (given.is_undefined()) return -1;
  if (given.as<std::int64_t>() == nullptr) throw TemplateError("a text is cut an integer of times");
  return *given.as<std::int64_t>();
}

Value split_left(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "split");
  return list_of(text, split(run, text.bytes(), arguments[0], max_cuts(arguments[1])));
}

/// Splitting from the right is splitting the reversed text.
Value split_right(Run& run, const Value& self, const Arguments& arguments) {
  const Value by = arguments[0].string() == nullptr ? arguments[0] : reversed(*arguments[0].marked());
  const MarkedText text = reversed(string_of(run, self, "rsplit"));
  const auto parts = split(run, text.bytes(), by, max_cuts(arguments[1]));
  List list;
  for (std::size_t i = parts.size(); i-- > 0;) list.emplace_back(reversed(text.part(parts[i])));
  return list;
}

Value lines(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "splitlines");
  return list_of(text, split_lines(run, text.bytes(), arguments[0].truth()));
}

Value join_strings(Run& run, const Value& self, const Arguments& arguments) {
  Arguments between;
  between.positional = {self};
  if (const auto* members = arguments[0].list()) {
    for (const Value& member : *members) string_of(run, member, "join");
  }
  return join(run, arguments[0], between);
}

/// Returns text[begin:end], with the bounds given by the arguments after the first.
MarkedText window(Run& run, const Value& self, const Arguments& arguments) {
  return *slice_of(run, self, arguments[1], arguments[2], {}).marked();
}

/// Returns the position of a part in characters; -1 if it is not found.
std::int64_t place_of(Run& run, const Value& self, const Arguments& arguments, bool last) {
  const MarkedText seen = window(run, self, arguments);
  const std::string_view text = seen.bytes();
  const std::string& part = string_of(run, arguments[0], "find").bytes();
  const std::size_t found = last ? text.rfind(part) : position_of(text, part);
  if (last) run.charge(text.size() * part.size());
  if (found == std::string_view::npos) return -1;
  const std::int64_t size = static_cast<std::int64_t>(characters(*self.string()).size());
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const std::int64_t begin = integer_of(arguments[1], 0, "find", -any, any);
  return (begin < 0 ? std::max<std::int64_t>(begin + size, 0) : begin) +
         static_cast<std::int64_t>(characters(text.substr(0, found)).size());
}

template <bool last>
Value find(Run& run, const Value& self, const Arguments& arguments) {
  return place_of(run, self, arguments, last);
}

template <bool last>
Value index(Run& run, const Value& self, const Arguments& arguments) {
  const std::int64_t place = place_of(run, self, arguments, last);
  if (place < 0) throw TemplateError("index of a text that is not in the other");
  return place;
}

Value count(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText text = window(run, self, arguments);
  string_of(run, arguments[0], "count");
  return static_cast<std::int64_t>(occurrences(text.bytes(), arguments[0]));
}

/// True if `holds` is true for the affix or, if that is a tuple, for one of its members.
template <class Holds>
bool any_affix(Run& run, const Value& affix, std::string_view callee, Holds holds) {
  if (affix.list() == nullptr || !affix.list()->is_tuple())
    return holds(string_of(run, affix, callee).bytes());
  return std::ranges::any_of(*affix.list(),
                             [&](const Value& one) { return holds(string_of(run, one, callee).bytes()); });
}

Value starts_with(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText text = window(run, self, arguments);
  return any_affix(run, arguments[0], "startswith",
                   [&](const std::string& affix) { return text.bytes().starts_with(affix); });
}

Value ends_with(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText text = window(run, self, arguments);
  return any_affix(run, arguments[0], "endswith",
                   [&](const std::string& affix) { return text.bytes().ends_with(affix); });
}

/// Removes a prefix or suffix, if present.
template <bool front>
Value without(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "removeprefix");
  const std::string& affix = string_of(run, arguments[0], "removeprefix").bytes();
  std::string_view rest = text.bytes();
  if (front ? rest.starts_with(affix) : rest.ends_with(affix))
    front ? rest.remove_prefix(affix.size()) : rest.remove_suffix(affix.size());
  return run.made(text.part(rest));
}

/// Returns the text before a separator, the separator, and the text after it.
template <bool last>
Value partition(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "partition");
  const std::string& by = string_of(run, arguments[0], "partition").bytes();
  const std::string_view whole = text.bytes();
  if (by.empty()) throw TemplateError("partition takes a text that is not empty");
  const std::size_t at = last ? whole.rfind(by) : position_of(whole, by);
  if (last) run.charge(whole.size() * by.size());
  List parts = {"", "", ""};
  if (at == std::string_view::npos) {
    parts[last ? 2 : 0] = self;
  } else {
    parts = {text.part(whole.substr(0, at)), text.part(whole.substr(at, by.size())),
             text.part(whole.substr(at + by.size()))};
  }
  parts.kind = Sequence::tuple;
  return run.made(std::move(parts));
}

/// Pads a line to at least the given number of characters, at one of its ends.
template <bool left>
Value justify(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "ljust");
  const auto width = static_cast<std::size_t>(integer_of(arguments[0], 0, "ljust"));
  const MarkedText fill =
      arguments[1].is_undefined() ? MarkedText(" ") : string_of(run, arguments[1], "ljust");
  if (characters(fill.bytes()).size() != 1) throw TemplateError("ljust takes one character to fill with");
  MarkedText space, out;
  for (std::size_t n = characters(text.bytes()).size(); n < width; ++n) space.append(fill);
  return run.made(left ? out.append(text).append(space) : out.append(space).append(text));
}

Value fill_with_zeros(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "zfill");
  const auto width = static_cast<std::size_t>(integer_of(arguments[0], 0, "zfill"));
  const std::size_t size = characters(text.bytes()).size();
  const std::string_view bytes = text.bytes();
  const std::size_t sign = bytes.starts_with('-') || bytes.starts_with('+') ? 1 : 0;
  MarkedText out = text.part(bytes.substr(0, sign));
  if (size < width) out.append(std::string(width - size, '0'));
  return run.made(out.append(text, bytes.substr(sign)));
}

/// True if the text is not empty and `is_such` holds for all of its characters.
template <bool is_such(std::uint32_t)>
Value consists_of(Run& run, const Value& self, const Arguments&) {
  const auto all = characters(string_of(run, self, "isalnum").bytes());
  return !all.empty() && std::ranges::all_of(all, is_such, code_of);
}

/// True if `is_such` holds for all characters.
template <bool is_such(std::uint32_t)>
Value has_only(Run& run, const Value& self, const Arguments&) {
  return std::ranges::all_of(characters(string_of(run, self, "isascii").bytes()), is_such, code_of);
}
bool is_ascii(std::uint32_t character) {
  return character < 0x80;
}

template <Case which>
Value is_written_in(Run& run, const Value& self, const Arguments&) {
  return is_in_case(string_of(run, self, "isupper").bytes(), which);
}

template <Case which>
Value written_in(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(string_of(run, self, "swapcase"), which));
}

/// Replaces each tab by spaces up to the next column that is a multiple of the size.
Value expand_tabs(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "expandtabs");
  const auto size = static_cast<std::size_t>(integer_of(arguments[0], 8, "expandtabs"));
  MarkedText out;
  std::size_t column = 0;
  for (const std::string_view character : characters(text.bytes())) {
    if (character == "\t") {
      const std::size_t room = size == 0 ? 0 : size - column % size;
      run.charge(room);
      out.append(std::string(room, ' '));
      column += room;
    } else {
      out.append(text, character);
      column = character == "\n" || character == "\r" ? 0 : column + 1;
    }
  }
  return run.made(std::move(out));
}

Value fill_from(Run& run, const Value& self, const Arguments& arguments) {
  const Dict* const values = arguments[0].mapping();
  if (values == nullptr) throw TemplateError("format_map takes a mapping");
  Arguments named;
  for (const auto& [key, value] : values->members) {
    if (key.string() != nullptr) named.named.emplace_back(*key.string(), value);
  }
  return format_braces(run, string_of(run, self, "format_map"), named);
}

Value fill_braces(Run& run, const Value& self, const Arguments& arguments) {
  return format_braces(run, string_of(run, self, "format"), arguments);
}

constexpr Callable<Operation> string_methods[] = {
    {"strip", strip_both, {"chars"}},
    {"lstrip", strip_left, {"chars"}},
    {"rstrip", strip_right, {"chars"}},
    {"upper", upper},
    {"lower", lower},
    {"capitalize", capitalize},
    {"title", title},
    {"replace", replace, {"old", "new", "count"}, 2},
    {"split", split_left, {"sep", "maxsplit"}},
    {"rsplit", split_right, {"sep", "maxsplit"}},
    {"splitlines", lines, {"keepends"}},
    {"join", join_strings, {"iterable"}, 1},
    {"find", find<false>, {"sub", "start", "end"}, 1},
    {"rfind", find<true>, {"sub", "start", "end"}, 1},
    {"index", index<false>, {"sub", "start", "end"}, 1},
    {"rindex", index<true>, {"sub", "start", "end"}, 1},
    {"count", count, {"sub", "start", "end"}, 1},
    {"startswith", starts_with, {"prefix", "start", "end"}, 1},
    {"endswith", ends_with, {"suffix", "start", "end"}, 1},
    {"removeprefix", without<true>, {"prefix"}, 1},
    {"removesuffix", without<false>, {"suffix"}, 1},
    {"partition", partition<false>, {"sep"}, 1},
    {"rpartition", partition<true>, {"sep"}, 1},
    {"center", center, {"width", "fillchar"}, 1},
    {"ljust", justify<true>, {"width", "fillchar"}, 1},
    {"rjust", justify<false>, {"width", "fillchar"}, 1},
    {"zfill", fill_with_zeros, {"width"}, 1},
    {"isalpha", consists_of<is_letter>},
    {"isalnum", consists_of<is_alphanumeric>},
    {"isdigit", consists_of<is_digit>},
    {"isdecimal", consists_of<is_decimal>},
    {"isnumeric", consists_of<is_numeric>},
    {"isspace", consists_of<is_space>},
    {"isascii", has_only<is_ascii>},
    {"isprintable", has_only<is_printable>},
    {"isupper", is_written_in<Case::upper>},
    {"islower", is_written_in<Case::lower>},
    {"istitle", is_written_in<Case::title>},
    {"swapcase", written_in<Case::swapped>},
    {"casefold", written_in<Case::folded>},
    {"expandtabs", expand_tabs, {"tabsize"}},
    {"format_map", fill_from, {"mapping"}, 1},
    {"format", fill_braces, {}, 0, true},
};

}  // namespace

const Callable<Operation>* find_string_method(std::string_view name) {
  return find_callable(string_methods, name);
}

}  // namespace spectr::jinja

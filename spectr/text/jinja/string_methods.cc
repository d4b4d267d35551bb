#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "spectr/text/jinja/callables.h"
#include "spectr/text/jinja/format.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/sequences.h"
#include "spectr/text/jinja/text_functions.h"

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

/// Of parts of a text, which are charged.
Value list_of(const MarkedText& text, const std::vector<std::string_view>& parts) {
  List list;
  for (const std::string_view part : parts) list.emplace_back(text.part(part));
  return list;
}

/// How often a text may be cut: the argument, or as often as it can be.
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

Value lines(Run& run, const Value& self, const Arguments&) {
  const MarkedText& text = string_of(run, self, "splitlines");
  return list_of(text, split_lines(run, text.bytes()));
}

Value join_strings(Run& run, const Value& self, const Arguments& arguments) {
  Arguments between;
  between.positional = {self};
  if (const auto* members = arguments[0].list()) {
    for (const Value& member : *members) string_of(run, member, "join");
  }
  return join(run, arguments[0], between);
}

/// text[begin:end], as the arguments behind the first say.
MarkedText window(Run& run, const Value& self, const Arguments& arguments) {
  return *slice_of(run, self, arguments[1], arguments[2], {}).marked();
}

/// The place of a part, counted in characters; -1: there is none.
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

/// Whether `holds` for the affix, or for one of a tuple.
template <class Holds>
bool any_affix(Run& run, const Value& affix, std::string_view callee, Holds holds) {
  if (affix.list() == nullptr || !affix.list()->is_tuple) return holds(string_of(run, affix, callee).bytes());
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

/// Without a prefix or suffix, where it is there.
template <bool front>
Value without(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "removeprefix");
  const std::string& affix = string_of(run, arguments[0], "removeprefix").bytes();
  std::string_view rest = text.bytes();
  if (front ? rest.starts_with(affix) : rest.ends_with(affix))
    front ? rest.remove_prefix(affix.size()) : rest.remove_suffix(affix.size());
  return run.made(text.part(rest));
}

/// What is before, in, and behind a separator.
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
  parts.is_tuple = true;
  return run.made(std::move(parts));
}

/// A line of at least that many characters, filled at one of its ends.
template <bool left>
Value justify(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText& text = string_of(run, self, "ljust");
  const auto width = static_cast<std::size_t>(integer_of(arguments[0], 0, "ljust"));
  const MarkedText fill =
      arguments[1].is_undefined() ? MarkedText(" ") : string_of(run, arguments[1], "ljust");
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

/// Whether the text has characters, and all of them are such. Beyond ASCII every character is a letter.
template <bool letters, bool digits, bool spaces>
Value consists_of(Run& run, const Value& self, const Arguments&) {
  const std::string& text = string_of(run, self, "isalnum").bytes();
  const auto fits = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (letters && (byte >= 0x80 || std::isalpha(byte) != 0)) || (digits && std::isdigit(byte) != 0) ||
           (spaces && (std::isspace(byte) != 0 || (byte >= 0x1c && byte <= 0x1f)));
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

template <bool up>
Value is_in_case(Run& run, const Value& self, const Arguments&) {
  return apply_test(run, up ? "upper" : "lower", self, {});
}

Value swap_case(Run& run, const Value& self, const Arguments&) {
  MarkedText text = string_of(run, self, "swapcase");
  text.change_bytes([](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter ? static_cast<char>(c ^ 0x20) : c;
  });
  return run.made(std::move(text));
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
    {"splitlines", lines},
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
    {"center", center, {"width"}, 1},
    {"ljust", justify<true>, {"width", "fillchar"}, 1},
    {"rjust", justify<false>, {"width", "fillchar"}, 1},
    {"zfill", fill_with_zeros, {"width"}, 1},
    {"isalpha", consists_of<true, false, false>},
    {"isalnum", consists_of<true, true, false>},
    {"isdigit", consists_of<false, true, false>},
    {"isdecimal", consists_of<false, true, false>},
    {"isnumeric", consists_of<false, true, false>},
    {"isspace", consists_of<false, false, true>},
    {"isupper", is_in_case<true>},
    {"islower", is_in_case<false>},
    {"swapcase", swap_case},
    {"casefold", lower},
    {"format", fill_braces, {}, 0, true},
};

}  // namespace

const Callable<Operation>* find_string_method(std::string_view name) {
  return find_callable(string_methods, name);
}

}  // namespace spectr::jinja

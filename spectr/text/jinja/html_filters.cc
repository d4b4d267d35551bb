#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "spectr/base/utf8.h"
#include "spectr/text/jinja/callables.h"
#include "spectr/text/jinja/sequences.h"
#include "spectr/text/jinja/text_functions.h"

namespace spectr::jinja {
namespace {

/// The names of the characters from U+00A0 to U+00FF.
constexpr std::string_view latin[] = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",    "copy",
    "ordf",   "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn", "sup2",   "sup3",
    "acute",  "micro",  "para",   "middot", "cedil",  "sup1",   "ordm",   "raquo",  "frac14", "frac12",
    "frac34", "iquest", "Agrave", "Aacute", "Acirc",  "Atilde", "Auml",   "Aring",  "AElig",  "Ccedil",
    "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave", "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde",
    "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",   "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",
    "Uuml",   "Yacute", "THORN",  "szlig",  "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",
    "aelig",  "ccedil", "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc",  "iuml",
    "eth",    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide", "oslash", "ugrave",
    "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

struct Entity {
  std::string_view name;
  std::uint32_t code;
};
/// Names that need no semicolon, as those of `latin`.
constexpr Entity lax[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'},   {"quot", '"'},  {"AMP", '&'},
                          {"LT", '<'},  {"GT", '>'}, {"QUOT", '"'}, {"COPY", 0xA9}, {"REG", 0xAE}};
constexpr Entity strict[] = {
    {"apos", '\''},     {"hellip", 0x2026}, {"mdash", 0x2014},  {"ndash", 0x2013},  {"lsquo", 0x2018},
    {"rsquo", 0x2019},  {"ldquo", 0x201C},  {"rdquo", 0x201D},  {"sbquo", 0x201A},  {"bdquo", 0x201E},
    {"bull", 0x2022},   {"euro", 0x20AC},   {"trade", 0x2122},  {"larr", 0x2190},   {"uarr", 0x2191},
    {"rarr", 0x2192},   {"darr", 0x2193},   {"harr", 0x2194},   {"minus", 0x2212},  {"le", 0x2264},
    {"ge", 0x2265},     {"ne", 0x2260},     {"asymp", 0x2248},  {"infin", 0x221E},  {"radic", 0x221A},
    {"sum", 0x2211},    {"int", 0x222B},    {"ensp", 0x2002},   {"emsp", 0x2003},   {"thinsp", 0x2009},
    {"lsaquo", 0x2039}, {"rsaquo", 0x203A}, {"dagger", 0x2020}, {"permil", 0x2030}, {"Prime", 0x2033},
    {"prime", 0x2032},  {"OElig", 0x152},   {"oelig", 0x153},   {"Scaron", 0x160},  {"scaron", 0x161}};

/// Windows' characters from 0x80 on, which references to these numbers mean; 0: none.
constexpr std::uint32_t windows[] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                     0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                     0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                     0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

std::optional<std::uint32_t> lax_code(std::string_view name) {
  if (const auto found = std::ranges::find(lax, name, &Entity::name); found != std::end(lax))
    return found->code;
  const auto found = std::ranges::find(latin, name);
  if (found == std::end(latin)) return std::nullopt;
  return 0xA0 + static_cast<std::uint32_t>(found - std::begin(latin));
}

/// The text of a numeric reference.
std::string text_of_number(std::string_view digits, int base) {
  std::uint64_t code = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
  if (failed != std::errc{} || code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    return "\ufffd";
  if (code == '\r') return "\r";
  if (code >= 0x80 && code < 0xA0) code = windows[code - 0x80];
  const bool control = (code < 0x20 && code != '\t' && code != '\n' && code != '\f') || code == 0xB ||
                       (code >= 0x7F && code < 0xA0 && code != 0x81 && code != 0x8D && code != 0x8F &&
                        code != 0x90 && code != 0x9D);
  const bool no_character = (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
  std::string out;
  if (!control && !no_character) append_utf8(static_cast<std::uint32_t>(code), out);
  return out;
}

/// What a reference means: the text, and how many bytes after the "&" it takes.
struct Reference {
  std::string text;
  std::size_t size;
};

/// The numeric reference that the text begins with, after "&#".
std::optional<Reference> numeric_reference(std::string_view text) {
  const bool hex = text.starts_with('x') || text.starts_with('X');
  const std::string_view rest = text.substr(hex ? 1 : 0);
  constexpr std::string_view all = "0123456789abcdefABCDEF";
  const std::size_t n = std::min(rest.find_first_not_of(all.substr(0, hex ? all.size() : 10)), rest.size());
  if (n == 0) return std::nullopt;
  const bool closed = n < rest.size() && rest[n] == ';';
  return Reference{text_of_number(rest.substr(0, n), hex ? 16 : 10), (hex ? 1U : 0U) + n + (closed ? 1 : 0)};
}

/// The reference that the text begins with, after "&". Throws for a name that HTML may know and this does
/// not.
std::optional<Reference> reference(std::string_view text) {
  if (text.starts_with('#')) {
    auto number = numeric_reference(text.substr(1));
    if (number) ++number->size;
    return number;
  }
  constexpr std::size_t longest = 32;
  const std::size_t n = std::min({text.find_first_of("\t\n\f <&#;"), text.size(), longest});
  const std::string_view name = text.substr(0, n);
  const bool closed = n < text.size() && text[n] == ';';
  std::optional<std::uint32_t> code = lax_code(name);
  if (closed && !code) {
    const auto found = std::ranges::find(strict, name, &Entity::name);
    if (found != std::end(strict)) code = found->code;
  }
  std::string out;
  if (code) {
    append_utf8(*code, out);
    return Reference{std::move(out), n + (closed ? 1 : 0)};
  }
  const auto is_alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (closed && n > 0 && std::ranges::all_of(name, is_alphanumeric))
    throw TemplateError(fmt::format("the reference '&{};' is not supported", name));
  for (std::size_t part = closed ? n : n - 1; part >= 2 && part <= n; --part) {
    if (const auto shorter = lax_code(name.substr(0, part))) {
      append_utf8(*shorter, out);
      return Reference{std::move(out), part};
    }
  }
  return std::nullopt;
}

/// Whether a view shows anything that is quoted.
bool has_quotes(const MarkedText& text, std::string_view view) {
  return !text.part(view).quotes().empty();
}

/// Without comments and tags, up to the first that is not closed.
MarkedText without_tags(const MarkedText& text) {
  MarkedText out;
  const std::string_view whole = text.bytes();
  std::size_t at = 0;
  for (std::size_t tag; (tag = whole.find('<', at)) != std::string_view::npos;) {
    const bool comment = whole.substr(tag).starts_with("<!--");
    const std::size_t end = comment ? whole.find("-->", tag + 4) : whole.find('>', tag);
    if (end == std::string_view::npos) break;
    out.append(text, whole.substr(at, tag - at));
    at = end + (comment ? 3 : 1);
  }
  return out.append(text, whole.substr(at));
}

MarkedText without_references(const MarkedText& text) {
  MarkedText out;
  std::string_view rest = text.bytes();
  while (!rest.empty()) {
    const std::size_t plain = std::min(rest.find('&'), rest.size());
    out.append(text, rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const auto found = reference(rest.substr(1));
    const std::string_view taken = rest.substr(0, found ? 1 + found->size : 1);
    out.append(found ? std::string_view(found->text) : taken, has_quotes(text, taken));
    rest.remove_prefix(taken.size());
  }
  return out;
}

MarkedText escaped(const MarkedText& text) {
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
  return out;
}

/// Percent-encoded, as a part of a path or of a query.
MarkedText url_encoded(Run& run, const Value& value, bool in_query) {
  const MarkedText text = text_of(run, value);
  MarkedText out;
  for (const auto& [bytes, quoted] : text.pieces()) {
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         std::string_view("_.-~").contains(c) || (c == '/' && !in_query);
      out.append(plain                  ? std::string(1, c)
                 : c == ' ' && in_query ? std::string("+")
                                        : fmt::format("%{:02X}", byte),
                 quoted);
    }
  }
  return out;
}

}  // namespace

Value escape_html(Run& run, const Value& input, const Arguments&) {
  return run.made(escaped(text_of(run, input)));
}

Value xml_attributes(Run& run, const Value& input, const Arguments& arguments) {
  if (input.mapping() == nullptr)
    throw TemplateError(fmt::format("xmlattr takes a mapping, got {}", input.kind()));
  const bool space = arguments[0].is_undefined() || arguments[0].truth();
  MarkedText out;
  for (const auto& [key, value] : input.mapping()->members) {
    if (value.is_none() || value.is_undefined()) continue;
    const MarkedText name = string_of(run, key, "xmlattr");
    if (name.bytes().find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      throw TemplateError(fmt::format("xmlattr: '{}' is no name of an attribute", name.bytes()));
    if (space || out.size() > 0) out.append(" ");
    out.append(escaped(name)).append("=\"").append(escaped(text_of(run, value))).append("\"");
  }
  return run.made(std::move(out));
}

Value url_encode(Run& run, const Value& input, const Arguments&) {
  const bool pairs = (input.list() != nullptr || input.mapping() != nullptr || input.is_undefined());
  if (!pairs) return run.made(url_encoded(run, input, false));
  const Value all = input.mapping() != nullptr ? items(run, input, {}) : input;
  MarkedText out;
  for (const Value& pair : members_of(run, all)) {
    const List both = members_of(run, pair);
    if (both.size() != 2) throw TemplateError("urlencode takes a text, a mapping, or a list of pairs");
    if (out.size() > 0) out.append("&");
    out.append(url_encoded(run, both[0], true)).append("=").append(url_encoded(run, both[1], true));
  }
  return run.made(std::move(out));
}

Value strip_tags(Run& run, const Value& input, const Arguments&) {
  const MarkedText text = without_tags(text_of(run, input));
  MarkedText joined;
  for (const std::string_view word : split(run, text.bytes(), {}, -1)) {
    if (joined.size() > 0) joined.append(" ");
    joined.append(text, word);
  }
  return run.made(without_references(joined));
}

}  // namespace spectr::jinja

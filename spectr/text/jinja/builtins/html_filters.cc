#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "spectr/base/utf8.h"
#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

/// Names of the characters from U+00A0 to U+00FF.
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
/// Names that need no semicolon, like those of `latin`.
constexpr Entity lax[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'},   {"quot", '"'},  {"AMP", '&'},
                          {"LT", '<'},  {"GT", '>'}, {"QUOT", '"'}, {"COPY", 0xA9}, {"REG", 0xAE}};
/// The remaining names of HTML 4 and XML.
constexpr Entity strict[] = {
    {"apos", '\''},     {"OElig", 0x152},   {"oelig", 0x153},    {"Scaron", 0x160},   {"scaron", 0x161},
    {"Yuml", 0x178},    {"fnof", 0x192},    {"circ", 0x2C6},     {"tilde", 0x2DC},    {"Alpha", 0x391},
    {"Beta", 0x392},    {"Gamma", 0x393},   {"Delta", 0x394},    {"Epsilon", 0x395},  {"Zeta", 0x396},
    {"Eta", 0x397},     {"Theta", 0x398},   {"Iota", 0x399},     {"Kappa", 0x39A},    {"Lambda", 0x39B},
    {"Mu", 0x39C},      {"Nu", 0x39D},      {"Xi", 0x39E},       {"Omicron", 0x39F},  {"Pi", 0x3A0},
    {"Rho", 0x3A1},     {"Sigma", 0x3A3},   {"Tau", 0x3A4},      {"Upsilon", 0x3A5},  {"Phi", 0x3A6},
    {"Chi", 0x3A7},     {"Psi", 0x3A8},     {"Omega", 0x3A9},    {"alpha", 0x3B1},    {"beta", 0x3B2},
    {"gamma", 0x3B3},   {"delta", 0x3B4},   {"epsilon", 0x3B5},  {"zeta", 0x3B6},     {"eta", 0x3B7},
    {"theta", 0x3B8},   {"iota", 0x3B9},    {"kappa", 0x3BA},    {"lambda", 0x3BB},   {"mu", 0x3BC},
    {"nu", 0x3BD},      {"xi", 0x3BE},      {"omicron", 0x3BF},  {"pi", 0x3C0},       {"rho", 0x3C1},
    {"sigmaf", 0x3C2},  {"sigma", 0x3C3},   {"tau", 0x3C4},      {"upsilon", 0x3C5},  {"phi", 0x3C6},
    {"chi", 0x3C7},     {"psi", 0x3C8},     {"omega", 0x3C9},    {"thetasym", 0x3D1}, {"upsih", 0x3D2},
    {"piv", 0x3D6},     {"ensp", 0x2002},   {"emsp", 0x2003},    {"thinsp", 0x2009},  {"zwnj", 0x200C},
    {"zwj", 0x200D},    {"lrm", 0x200E},    {"rlm", 0x200F},     {"ndash", 0x2013},   {"mdash", 0x2014},
    {"lsquo", 0x2018},  {"rsquo", 0x2019},  {"sbquo", 0x201A},   {"ldquo", 0x201C},   {"rdquo", 0x201D},
    {"bdquo", 0x201E},  {"dagger", 0x2020}, {"Dagger", 0x2021},  {"bull", 0x2022},    {"hellip", 0x2026},
    {"permil", 0x2030}, {"prime", 0x2032},  {"Prime", 0x2033},   {"lsaquo", 0x2039},  {"rsaquo", 0x203A},
    {"oline", 0x203E},  {"frasl", 0x2044},  {"euro", 0x20AC},    {"image", 0x2111},   {"weierp", 0x2118},
    {"real", 0x211C},   {"trade", 0x2122},  {"alefsym", 0x2135}, {"larr", 0x2190},    {"uarr", 0x2191},
    {"rarr", 0x2192},   {"darr", 0x2193},   {"harr", 0x2194},    {"crarr", 0x21B5},   {"lArr", 0x21D0},
    {"uArr", 0x21D1},   {"rArr", 0x21D2},   {"dArr", 0x21D3},    {"hArr", 0x21D4},    {"forall", 0x2200},
    {"part", 0x2202},   {"exist", 0x2203},  {"empty", 0x2205},   {"nabla", 0x2207},   {"isin", 0x2208},
    {"notin", 0x2209},  {"ni", 0x220B},     {"prod", 0x220F},    {"sum", 0x2211},     {"minus", 0x2212},
    {"lowast", 0x2217}, {"radic", 0x221A},  {"prop", 0x221D},    {"infin", 0x221E},   {"ang", 0x2220},
    {"and", 0x2227},    {"or", 0x2228},     {"cap", 0x2229},     {"cup", 0x222A},     {"int", 0x222B},
    {"there4", 0x2234}, {"sim", 0x223C},    {"cong", 0x2245},    {"asymp", 0x2248},   {"ne", 0x2260},
    {"equiv", 0x2261},  {"le", 0x2264},     {"ge", 0x2265},      {"sub", 0x2282},     {"sup", 0x2283},
    {"nsub", 0x2284},   {"sube", 0x2286},   {"supe", 0x2287},    {"oplus", 0x2295},   {"otimes", 0x2297},
    {"perp", 0x22A5},   {"sdot", 0x22C5},   {"lceil", 0x2308},   {"rceil", 0x2309},   {"lfloor", 0x230A},
    {"rfloor", 0x230B}, {"loz", 0x25CA},    {"spades", 0x2660},  {"clubs", 0x2663},   {"hearts", 0x2665},
    {"diams", 0x2666},  {"lang", 0x27E8},   {"rang", 0x27E9}};

/// Windows-1252 characters from 0x80 on, which references to these numbers denote.
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

/// Returns the text of a numeric reference.
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

/// A resolved reference: its text, and its number of bytes after the "&".
struct Reference {
  std::string text;
  std::size_t size;
};

/// Returns the numeric reference at the beginning of the text, after "&#".
std::optional<Reference> numeric_reference(std::string_view text) {
  const bool hex = text.starts_with('x') || text.starts_with('X');
  const std::string_view rest = text.substr(hex ? 1 : 0);
  constexpr std::string_view all = "0123456789abcdefABCDEF";
  const std::size_t n = std::min(rest.find_first_not_of(all.substr(0, hex ? all.size() : 10)), rest.size());
  if (n == 0) return std::nullopt;
  const bool closed = n < rest.size() && rest[n] == ';';
  return Reference{text_of_number(rest.substr(0, n), hex ? 16 : 10), (hex ? 1U : 0U) + n + (closed ? 1 : 0)};
}

/// Returns the reference at the beginning of the text, after "&". Returns nothing if the text stays as it is,
/// for example for names that only HTML 5 has.
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
  for (std::size_t part = closed ? n : n - 1; part >= 2 && part <= n; --part) {
    if (const auto shorter = lax_code(name.substr(0, part))) {
      append_utf8(*shorter, out);
      return Reference{std::move(out), part};
    }
  }
  return std::nullopt;
}

/// True if any part of a view is quoted.
bool has_quotes(const MarkedText& text, std::string_view view) {
  return !text.part(view).quotes().empty();
}

/// Returns the text without comments and tags, up to the first that is not closed.
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

/// Returns the percent-encoded text, as part of a path or of a query.
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

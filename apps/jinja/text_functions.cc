#include "apps/jinja/text_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <iterator>
#include <span>

#include "spectr/base/utf8.h"

namespace spectr::jinja {
namespace {

/// What Python takes for white space; the first are the most frequent.
constexpr std::string_view white_space[] = {
    " ",      "\n",     "\t",     "\r",     "\v",     "\f",     "\x1c",   "\x1d",   "\x1e",   "\x1f",
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
constexpr std::string_view line_ends[] = {"\r\n", "\n",   "\r",     "\v",     "\f",    "\x1c",
                                          "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"};

/// Each is looked for at each place.
constexpr std::size_t most_stripped = 256;

/// Bytes of the one that the text begins with, or 0.
std::size_t begins_with(std::string_view text, std::span<const std::string_view> any) {
  const auto found =
      std::ranges::find_if(any, [text](std::string_view one) { return text.starts_with(one); });
  return found == any.end() ? 0 : found->size();
}

std::size_t ends_with(std::string_view text, std::span<const std::string_view> any) {
  const auto found = std::ranges::find_if(any, [text](std::string_view one) { return text.ends_with(one); });
  return found == any.end() ? 0 : found->size();
}

/// Bytes of the character that the text begins with. Requires: it is not empty.
std::size_t first_character(std::string_view text) {
  return std::max<std::size_t>(utf8_length(text), 1);
}

std::string_view without_space(std::string_view text) {
  while (const std::size_t n = begins_with(text, white_space)) text.remove_prefix(n);
  return text;
}

std::vector<std::string> split_at_space(std::string_view text, std::int64_t most) {
  std::vector<std::string> parts;
  for (text = without_space(text); !text.empty(); text = without_space(text)) {
    std::size_t end = text.size();
    if (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
      end = 0;
      while (end < text.size() && begins_with(text.substr(end), white_space) == 0)
        end += first_character(text.substr(end));
    }
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

}  // namespace

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  for (; !text.empty(); text.remove_prefix(out.back().size()))
    out.push_back(text.substr(0, first_character(text)));
  return out;
}

std::size_t position_of(std::string_view text, std::string_view part, std::size_t from) {
  const char* begin = text.data() + from;
  const void* found = memmem(begin, text.size() - from, part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  const std::string digits = strip(text, {}, true, true);
  const char* begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
  const char* end = digits.data() + digits.size();
  Number value{};
  const auto [at, failed] = std::from_chars(begin, end, value);
  if (failed == std::errc::result_out_of_range) throw TemplateError(fmt::format("{} is too large", digits));
  return failed == std::errc{} && at == end ? std::optional(value) : std::nullopt;
}
template std::optional<std::int64_t> number(std::string_view);
template std::optional<double> number(std::string_view);

std::string reversed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto all = characters(text);
  for (std::size_t i = all.size(); i-- > 0;) out += all[i];
  return out;
}

std::string strip(std::string_view text, const Value& given, bool left, bool right) {
  std::vector<std::string_view> taken(std::begin(white_space), std::end(white_space));
  if (given.string() != nullptr) taken = characters(*given.string());
  if (taken.size() > most_stripped)
    throw TemplateError(fmt::format("more than {} characters to strip", most_stripped));
  while (const std::size_t n = left ? begins_with(text, taken) : 0) text.remove_prefix(n);
  while (const std::size_t n = right ? ends_with(text, taken) : 0) text.remove_suffix(n);
  return std::string(text);
}

std::vector<std::string> split(std::string_view text, const Value& by, std::int64_t most) {
  if (by.is_undefined() || by.is_none()) return split_at_space(text, most);
  if (by.string() == nullptr || by.string()->empty())
    throw TemplateError("a text is split at a string that is not empty");
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
    const std::size_t found = position_of(text, *by.string(), at);
    if (found == std::string_view::npos) break;
    parts.emplace_back(text.substr(at, found - at));
    at = found + by.string()->size();
  }
  parts.emplace_back(text.substr(at));
  return parts;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && begins_with(text.substr(end), line_ends) == 0)
      end += first_character(text.substr(end));
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + begins_with(text.substr(end), line_ends));
  }
  return lines;
}

std::string in_case(std::string_view text, Case which) {
  std::string out(text);
  bool starts = true;
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    const bool up = which == Case::upper || (which != Case::lower && starts);
    starts = which == Case::title && byte < 0x80 && std::isalpha(byte) == 0;
    c = static_cast<char>(up ? std::toupper(byte) : std::tolower(byte));
  }
  return out;
}

}  // namespace spectr::jinja

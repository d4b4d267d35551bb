#include "spectr/text/jinja/text_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "spectr/base/utf8.h"
#include "spectr/text/jinja/run.h"

namespace spectr::jinja {
namespace {

/// What Python takes for white space; the first are the most frequent.
constexpr std::string_view white_space[] = {
    " ",      "\n",     "\t",     "\r",     "\v",     "\f",     "\x1c",   "\x1d",   "\x1e",   "\x1f",
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
constexpr std::string_view line_ends[] = {"\r\n", "\n",   "\r",     "\v",     "\f",    "\x1c",
                                          "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"};

constexpr std::size_t max_stripped = 256;

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

const std::string& separator_of(const Value& by) {
  if (by.string() == nullptr || by.string()->empty())
    throw TemplateError("a text is split at a string that is not empty");
  return *by.string();
}

/// Bytes of what separates parts, or lines, at the beginning of the text, or 0.
std::size_t separator(std::string_view text, std::span<const std::string_view> any) {
  const char first = text.empty() ? 'a' : text[0];
  return first > ' ' && first < 0x7f ? 0 : begins_with(text, any);  // most characters are not looked for
}

std::string_view without_space(std::string_view text) {
  while (const std::size_t n = separator(text, white_space)) text.remove_prefix(n);
  return text;
}

/// Bytes before the first separator.
std::size_t until(std::string_view text, std::span<const std::string_view> separators) {
  std::size_t end = 0;
  while (end < text.size() && separator(text.substr(end), separators) == 0)
    end += first_character(text.substr(end)).size();
  return end;
}

/// Parts of a text that become values of a list: each is charged before it is there.
class Parts {
 public:
  explicit Parts(Run& run) : run_(run) {}

  void add(std::string_view part) {
    run_.charge(sizeof(Value) + part.size());
    parts_.push_back(part);
  }
  /// Whether there may be one more cut. `most` < 0: any number.
  bool may_cut(std::int64_t most) const {
    return most < 0 || static_cast<std::int64_t>(parts_.size()) < most;
  }
  std::vector<std::string_view> take() { return std::move(parts_); }

 private:
  Run& run_;
  std::vector<std::string_view> parts_;
};

std::vector<std::string_view> split_at_space(Run& run, std::string_view text, std::int64_t most) {
  Parts parts(run);
  for (text = without_space(text); !text.empty(); text = without_space(text)) {
    const std::size_t end = parts.may_cut(most) ? until(text, white_space) : text.size();
    parts.add(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts.take();
}

}  // namespace

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  for (; !text.empty(); text.remove_prefix(out.back().size())) out.push_back(first_character(text));
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
  std::string_view digits = without_space(text);
  while (const std::size_t n = ends_with(digits, white_space)) digits.remove_suffix(n);
  const char* begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
  const char* end = digits.data() + digits.size();
  Number value{};
  const auto [at, failed] = std::from_chars(begin, end, value);
  if (failed == std::errc::result_out_of_range) throw TemplateError(fmt::format("{} is too large", digits));
  return failed == std::errc{} && at == end ? std::optional(value) : std::nullopt;
}
template std::optional<std::int64_t> number(std::string_view);
template std::optional<double> number(std::string_view);

MarkedText reversed(const MarkedText& text) {
  MarkedText out;
  const auto all = characters(text.bytes());
  for (std::size_t i = all.size(); i-- > 0;) out.append(text, all[i]);
  return out;
}

std::string_view strip(Run& run, std::string_view text, const Value& given, bool left, bool right) {
  std::vector<std::string_view> taken(std::begin(white_space), std::end(white_space));
  if (given.string() != nullptr) taken = characters(*given.string());
  if (taken.size() > max_stripped)
    throw TemplateError(fmt::format("more than {} characters to strip", max_stripped));
  const std::size_t each = given.string() == nullptr ? 1 : taken.size();
  while (const std::size_t n = left ? begins_with(text, taken) : 0) {
    run.charge(n * each);
    text.remove_prefix(n);
  }
  while (const std::size_t n = right ? ends_with(text, taken) : 0) {
    run.charge(n * each);
    text.remove_suffix(n);
  }
  return text;
}

std::vector<std::string_view> split(Run& run, std::string_view text, const Value& by, std::int64_t most) {
  if (by.is_undefined() || by.is_none()) return split_at_space(run, text, most);
  const std::string& separator = separator_of(by);
  Parts parts(run);
  std::size_t at = 0;
  while (parts.may_cut(most)) {
    const std::size_t found = position_of(text, separator, at);
    if (found == std::string_view::npos) break;
    parts.add(text.substr(at, found - at));
    at = found + separator.size();
  }
  parts.add(text.substr(at));
  return parts.take();
}

std::size_t occurrences(std::string_view text, const Value& of) {
  const std::string& part = separator_of(of);
  std::size_t count = 0;
  for (std::size_t at = position_of(text, part); at != std::string_view::npos; ++count)
    at = position_of(text, part, at + part.size());
  return count;
}

std::vector<std::string_view> split_lines(Run& run, std::string_view text) {
  Parts lines(run);
  while (!text.empty()) {
    const std::size_t end = until(text, line_ends);
    lines.add(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(begins_with(text, line_ends));
  }
  return lines.take();
}

MarkedText in_case(MarkedText text, Case which) {
  bool starts = true;
  text.change_bytes([&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool up = which == Case::upper || (which != Case::lower && starts);
    starts = which == Case::title && byte < 0x80 && std::isalpha(byte) == 0;
    return static_cast<char>(up ? std::toupper(byte) : std::tolower(byte));
  });
  return text;
}

}  // namespace spectr::jinja

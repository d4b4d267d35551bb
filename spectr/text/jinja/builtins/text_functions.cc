#include "spectr/text/jinja/builtins/text_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "spectr/base/utf8.h"
#include "spectr/text/jinja/run.h"

namespace spectr::jinja {
namespace {

/// Python's white space, the most frequent first.
constexpr std::string_view white_space[] = {
    " ",      "\n",     "\t",     "\r",     "\v",     "\f",     "\x1c",   "\x1d",   "\x1e",   "\x1f",
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
constexpr std::string_view line_ends[] = {"\r\n", "\n",   "\r",     "\v",     "\f",    "\x1c",
                                          "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"};

constexpr std::size_t max_stripped = 256;

/// Returns the size of the string in `any` that the text begins with, or 0.
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

/// Returns the size of the separator of parts or lines at the beginning of the text, or 0.
std::size_t separator(std::string_view text, std::span<const std::string_view> any) {
  const char first = text.empty() ? 'a' : text[0];
  return first > ' ' && first < 0x7f ? 0 : begins_with(text, any);  // fast path for most characters
}

std::string_view without_space(std::string_view text) {
  while (const std::size_t n = separator(text, white_space)) text.remove_prefix(n);
  return text;
}

/// Returns the number of bytes before the first separator.
std::size_t until(std::string_view text, std::span<const std::string_view> separators) {
  std::size_t end = 0;
  while (end < text.size() && separator(text.substr(end), separators) == 0)
    end += first_character(text.substr(end)).size();
  return end;
}

/// Collects parts of a text that become values of a list. Each is charged before it is added.
class Parts {
 public:
  explicit Parts(Run& run) : run_(run) {}

  void add(std::string_view part) {
    run_.charge(sizeof(Value) + part.size());
    parts_.push_back(part);
  }
  /// True if one more split is allowed. `most` < 0: no limit.
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

namespace {

/// Returns digits without the underscores between them; nothing if an underscore is elsewhere.
std::optional<std::string> without_underscores(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < digits.size() && std::isxdigit(static_cast<unsigned char>(digits[at])) != 0;
    };
    if (digits[i] != '_') {
      out += digits[i];
    } else if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) {
      return std::nullopt;
    }
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  text = without_space(text);
  while (const std::size_t n = ends_with(text, white_space)) text.remove_suffix(n);
  return text;
}

}  // namespace

std::optional<std::int64_t> integer_in(std::string_view text, int base) {
  text = trimmed(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-')) return std::nullopt;
  constexpr std::pair<int, std::string_view> prefixes[] = {{16, "xX"}, {8, "oO"}, {2, "bB"}};
  for (const auto& [of, letters] : prefixes) {
    if (base == of && text.size() > 2 && text[0] == '0' && letters.contains(text[1]))
      text.remove_prefix(text[2] == '_' ? 3 : 2);
  }
  const auto digits = without_underscores(text);
  if (!digits) return std::nullopt;
  std::int64_t value = 0;
  const std::string all = (negative ? "-" : "") + *digits;
  const auto [at, failed] = std::from_chars(all.data(), all.data() + all.size(), value, base);
  if (failed == std::errc::result_out_of_range) throw TemplateError(fmt::format("{} is too large", text));
  return failed == std::errc{} && at == all.data() + all.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> real_in(std::string_view text) {
  text = trimmed(text);
  if (text.contains('(')) return std::nullopt;  // nan(…)
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto digits = without_underscores(text);
  if (!digits || digits->starts_with('+')) return std::nullopt;
  double value = 0.0;
  const auto [at, failed] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
  if (at != digits->data() + digits->size() || failed == std::errc::invalid_argument) return std::nullopt;
  if (failed != std::errc::result_out_of_range) return value;
  const double beyond = digits->find("e-") == std::string::npos && digits->find("E-") == std::string::npos
                            ? std::numeric_limits<double>::infinity()
                            : 0.0;
  return digits->starts_with('-') ? -beyond : beyond;
}

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
  if (of.string() != nullptr && of.string()->empty()) return characters(text).size() + 1;
  const std::string& part = separator_of(of);
  std::size_t count = 0;
  for (std::size_t at = position_of(text, part); at != std::string_view::npos; ++count)
    at = position_of(text, part, at + part.size());
  return count;
}

std::vector<std::string_view> split_lines(Run& run, std::string_view text, bool keeps_ends) {
  Parts lines(run);
  while (!text.empty()) {
    const std::size_t end = until(text, line_ends), after = end + begins_with(text.substr(end), line_ends);
    lines.add(text.substr(0, keeps_ends ? after : end));
    text.remove_prefix(after);
  }
  return lines.take();
}

}  // namespace spectr::jinja

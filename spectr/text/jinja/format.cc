#include "spectr/text/jinja/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spectr/base/utf8.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

constexpr std::int64_t max_width = 1000;  // of a value, and of its digits

MarkedText repr(const Value& value) {
  const MarkedText list = Value(List{value}).text();  // which prints its members with repr
  const std::string_view bytes = list.bytes();
  return list.part(bytes.substr(1, bytes.size() - 2));
}

[[noreturn]] void refuse(std::string_view form, const Value& value) {
  throw TemplateError(fmt::format("{} does not go with the format '{}'", value.kind(), form));
}

/// Takes the number at the beginning of the text; returns nothing if there is no digit.
std::optional<std::int64_t> take_number(std::string_view& text) {
  const std::size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
  if (n == 0) return std::nullopt;
  const auto value = n > 6 ? max_width + 1 : *integer_in(text.substr(0, n));
  if (value > max_width) throw TemplateError(fmt::format("a format is wider than {}", max_width));
  text.remove_prefix(n);
  return value;
}

/// How a value is formatted, for both notations.
struct Layout {
  std::string fill = " ";
  /// '<', '>', '^', '=' (between sign and digits); 0: numbers to the right, text to the left.
  char align = 0;
  char sign = '-';
  bool alternate = false, thousands = false;
  bool is_empty = false;  ///< has no settings
  std::int64_t width = 0;
  std::optional<std::int64_t> precision;
  char type = 0;  ///< 0: depends on the value
};

std::string grouped(std::string digits) {
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  for (std::size_t at = whole; at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

/// Returns the magnitude of a number without its fraction. Requires: it fits.
std::uint64_t whole_of(const Value& value) {
  const auto* integer = value.as<std::int64_t>();
  if (integer == nullptr) return static_cast<std::uint64_t>(std::abs(value.number()));
  const auto bits = static_cast<std::uint64_t>(*integer);
  return *integer < 0 ? 0 - bits : bits;
}

/// Returns the digits of a number without its sign. Requires: a number that fits its type.
std::string whole_digits(const Value& value, const Layout& layout) {
  const std::uint64_t whole = whole_of(value);
  const bool capital = layout.type == 'X';
  std::string digits = capital              ? fmt::format("{:X}", whole)
                       : layout.type == 'x' ? fmt::format("{:x}", whole)
                       : layout.type == 'o' ? fmt::format("{:o}", whole)
                       : layout.type == 'b' ? fmt::format("{:b}", whole)
                                            : fmt::format("{}", whole);
  const auto least = static_cast<std::size_t>(layout.precision.value_or(0));
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  return layout.alternate && layout.type != 'd' ? std::string{'0', layout.type} + digits : digits;
}

/// Formats with at most `precision` digits, but at least one after the point.
std::string general_digits(double magnitude, int precision) {
  std::string digits = fmt::format("{:.{}g}", magnitude, precision);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return digits;
  const bool full = magnitude >= 1.0 && static_cast<int>(digits.size()) >= std::max(precision, 1);
  if (!full) return digits + ".0";
  // The precision leaves no digit for the fraction, so use the scientific notation.
  std::string scientific = fmt::format("{:.{}e}", magnitude, std::max(precision, 1) - 1);
  const std::size_t end = scientific.find('e');
  std::size_t kept = scientific.find_last_not_of('0', end - 1) + 1;
  if (scientific.contains('.') && kept > 0 && scientific[kept - 1] == '.') --kept;
  return scientific.contains('.') ? scientific.substr(0, kept) + scientific.substr(end) : scientific;
}

std::string digits_of(const Value& value, const Layout& layout) {
  const double magnitude = std::abs(value.number());
  const int precision = static_cast<int>(layout.precision.value_or(6));
  switch (layout.type) {
    case 'd':
    case 'x':
    case 'X':
    case 'o':
    case 'b':
      return whole_digits(value, layout);
    case 'e':
      return fmt::format("{:.{}e}", magnitude, precision);
    case 'E':
      return fmt::format("{:.{}E}", magnitude, precision);
    case 'g':
      return fmt::format("{:.{}g}", magnitude, precision);
    case 'G':
      return fmt::format("{:.{}G}", magnitude, precision);
    case '%':
      return fmt::format("{:.{}f}%", 100.0 * magnitude, precision);
    case 'f':
      return fmt::format("{:.{}f}", magnitude, precision);
    default:
      break;
  }
  if (value.as<double>() == nullptr) return fmt::format("{}", whole_of(value));
  if (layout.precision) return general_digits(magnitude, precision);
  return Value(magnitude).text().bytes();
}

MarkedText laid_out(const MarkedText& text, const Layout& layout, char align, std::string_view sign) {
  const auto taken = static_cast<std::int64_t>(characters(text.bytes()).size() + sign.size());
  const std::int64_t room = std::max<std::int64_t>(layout.width - taken, 0);
  const std::int64_t before = align == '<' ? 0 : align == '^' ? room / 2 : room;
  MarkedText out;
  if (align == '=') out.append(sign);
  for (std::int64_t i = 0; i < before; ++i) out.append(layout.fill);
  if (align != '=') out.append(sign);
  out.append(text);
  for (std::int64_t i = before; i < room; ++i) out.append(layout.fill);
  return out;
}

MarkedText lay_out(const Value& value, const Layout& layout, std::string_view form) {
  const bool as_text = layout.type == 's' || (layout.type == 0 && !value.is_number()) ||
                       (layout.is_empty && value.as<bool>() != nullptr);
  if (as_text) {
    MarkedText text = value.text();
    if (layout.precision) {
      const auto all = characters(text.bytes());
      const auto kept = std::min(all.size(), static_cast<std::size_t>(*layout.precision));
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < kept; ++i) bytes += all[i].size();
      text = text.part(std::string_view(text.bytes()).substr(0, bytes));
    }
    return laid_out(text, layout, layout.align == 0 ? '<' : layout.align, "");
  }
  if (!value.is_number()) refuse(form, value);
  if (layout.alternate && std::string_view("eEfgG%").contains(layout.type)) refuse(form, value);
  const bool integral = layout.type != 0 && std::string_view("dxXob").contains(layout.type);
  if (integral && value.as<double>() != nullptr && !(std::abs(value.number()) < 0x1p63))
    throw TemplateError("a format gives too large an integer");
  const bool negative = std::signbit(value.number());
  const std::string_view sign = negative ? "-" : layout.sign == '+' ? "+" : layout.sign == ' ' ? " " : "";
  std::string digits = digits_of(value, layout);
  if (layout.thousands) digits = grouped(std::move(digits));
  return laid_out(MarkedText(std::move(digits)), layout, layout.align == 0 ? '>' : layout.align, sign);
}

/// Takes the flags, width and precision after "%", and the letter.
Layout take_percent(std::string_view& rest) {
  Layout layout;
  for (; !rest.empty() && std::string_view("-+ #0").contains(rest[0]); rest.remove_prefix(1)) {
    if (rest[0] == '-') layout.align = '<';
    if (rest[0] == '+' || (rest[0] == ' ' && layout.sign != '+')) layout.sign = rest[0];
    if (rest[0] == '#') layout.alternate = true;
    if (rest[0] == '0') layout.fill = "0";
  }
  if (layout.align == '<') layout.fill = " ";
  layout.width = take_number(rest).value_or(0);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    layout.precision = take_number(rest).value_or(0);
  }
  if (rest.empty()) throw TemplateError("a format ends after '%'");
  layout.type = rest[0];
  rest.remove_prefix(1);
  return layout;
}

MarkedText percent(const Value& value, Layout layout, std::string_view form) {
  if (layout.type == 'r') {
    layout.type = 's';
    return percent(repr(value), layout, form);
  }
  if (layout.type == 'i' || layout.type == 'u') layout.type = 'd';
  if (layout.type == 'F') layout.type = 'f';
  if (layout.type == 'c' && value.string() != nullptr) layout.type = 's';
  if (layout.type == 'c' && value.as<std::int64_t>() != nullptr) {
    std::string character;
    const std::int64_t code = *value.as<std::int64_t>();
    if (code < 0 || code > 0x10FFFF || !append_utf8(static_cast<std::uint32_t>(code), character))
      refuse(form, value);
    layout.type = 's';
    return percent(MarkedText(std::move(character)), layout, form);
  }
  if (!std::string_view("sdxXoeEfgG").contains(layout.type))
    throw TemplateError(fmt::format("the format '%{}' is not supported", layout.type));
  if (layout.type == 's') {
    layout.fill = " ";
    if (layout.align == 0) layout.align = '>';
    return lay_out(value, layout, form);
  }
  if (!value.is_number()) refuse(form, value);
  if (std::string_view("xXo").contains(layout.type) && value.as<double>() != nullptr) refuse(form, value);
  if (layout.fill == "0") layout.align = '=';
  return lay_out(value, layout, form);
}

/// Reads the specification after the colon in braces.
Layout read_specification(std::string_view text) {
  constexpr std::string_view aligns = "<>^=";
  const std::string_view form = text;
  Layout layout;
  layout.is_empty = text.empty();
  const auto take_one_of = [&text](std::string_view any) {
    if (text.empty() || !any.contains(text[0])) return '\0';
    const char one = text[0];
    text.remove_prefix(1);
    return one;
  };
  if (!text.empty()) {
    const std::string_view first = first_character(text);
    if (text.size() > first.size() && aligns.contains(text[first.size()])) {
      layout.fill = first;
      text.remove_prefix(first.size());
    }
  }
  layout.align = take_one_of(aligns);
  if (const char sign = take_one_of("+- ")) layout.sign = sign;
  layout.alternate = take_one_of("#") != 0;
  if (text.starts_with('0')) {
    if (layout.align == 0) layout.align = '=';
    if (layout.fill == " ") layout.fill = "0";
  }
  layout.width = take_number(text).value_or(0);
  layout.thousands = take_one_of(",") != 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    layout.precision = take_number(text);
  }
  layout.type = take_one_of("sdxXobeEfFgG%");
  if (layout.type == 'F') layout.type = 'f';
  const bool integral = std::string_view("dxXob").contains(layout.type) && layout.type != 0;
  if (!text.empty() || (integral && layout.precision) ||
      (layout.thousands && std::string_view("sxXob").contains(layout.type)))
    throw TemplateError(fmt::format("the format '{}' is not supported", form));
  return layout;
}

/// Processes the fields of a format string in braces, in order.
class Braces {
 public:
  Braces(Run& run, const Arguments& arguments) : run_(run), arguments_(arguments) {}

  MarkedText field(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::string_view name = text.substr(0, colon);
    const std::size_t mark = name.find('!');
    const std::string_view conversion = mark == std::string_view::npos ? "" : name.substr(mark);
    name = name.substr(0, mark);
    Value value = look_up(name);
    if (conversion == "!r") value = repr(value);
    if (conversion == "!s") value = value.text();
    if (!conversion.empty() && conversion != "!r" && conversion != "!s")
      throw TemplateError(fmt::format("the conversion '{}' is not supported", conversion));
    const std::string_view specification = colon < text.size() ? text.substr(colon + 1) : "";
    const Layout layout = read_specification(specification);
    if (value.as<double>() != nullptr && std::string_view("dxXob").contains(layout.type) && layout.type != 0)
      refuse(text, value);
    return lay_out(value, layout, text);
  }

 private:
  Value look_up(std::string_view name) {
    const std::size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = argument(name.substr(0, end));
    for (name.remove_prefix(end); !name.empty();) {
      const bool index = name[0] == '[';
      name.remove_prefix(1);
      const std::size_t stop = std::min(index ? name.find(']') : name.find_first_of(".["), name.size());
      const std::string_view key = name.substr(0, stop);
      const auto place = index ? integer_in(key) : std::nullopt;
      value = member_of(run_, value, place ? Value(*place) : Value(MarkedText(std::string(key))));
      name.remove_prefix(std::min(stop + (index ? 1 : 0), name.size()));
    }
    return value;
  }

  Value argument(std::string_view name) {
    const auto place = name.empty() ? std::optional(next_++) : integer_in(name);
    if (place) {
      if (*place < 0 || static_cast<std::size_t>(*place) >= arguments_.positional.size())
        throw TemplateError(fmt::format("format has no argument {}", *place));
      return arguments_.positional[static_cast<std::size_t>(*place)];
    }
    const auto found = std::ranges::find(arguments_.named, name, &std::pair<std::string, Value>::first);
    if (found == arguments_.named.end())
      throw TemplateError(fmt::format("format has no argument '{}'", name));
    return found->second;
  }

  Run& run_;
  const Arguments& arguments_;
  std::int64_t next_ = 0;
};

/// Charges a value that is walked through to be formatted.
const Value& walked(Run& run, const Value& value) {
  run.walk(value);
  return value;
}

}  // namespace

Value format_percent(Run& run, const MarkedText& form, const Value& values) {
  const List* const tuple = values.list() != nullptr && values.list()->is_tuple() ? values.list() : nullptr;
  MarkedText out;
  std::size_t used = 0;
  const auto next = [&]() -> Value {
    const std::size_t count = tuple != nullptr ? tuple->size() : 1;
    if (used >= count) throw TemplateError("a format has more places than values");
    const std::size_t i = used++;
    return tuple != nullptr ? (*tuple)[i] : values;
  };
  std::string_view rest = form.bytes();
  while (!rest.empty()) {
    const std::size_t plain = std::min(rest.find('%'), rest.size());
    out.append(form, rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const std::string_view whole = rest;
    rest.remove_prefix(1);
    std::optional<Value> named;
    if (rest.starts_with('(') && values.mapping() != nullptr) {
      const std::size_t end = std::min(rest.find(')'), rest.size());
      named = member_of(run, values, MarkedText(std::string(rest.substr(1, end - 1))));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      used = 1;
    }
    const Layout layout = take_percent(rest);
    if (layout.type == '%') {
      out.append("%");
      continue;
    }
    const Value value = walked(run, named ? *named : next());
    run.charge(static_cast<std::size_t>(layout.width));
    out.append(percent(value, layout, whole.substr(0, whole.size() - rest.size())));
  }
  if (tuple != nullptr ? used < tuple->size() : used == 0 && values.mapping() == nullptr)
    throw TemplateError("a format has fewer places than values");
  return run.made(std::move(out));
}

Value format_braces(Run& run, const MarkedText& form, const Arguments& arguments) {
  Braces braces(run, arguments);
  for (const Value& value : arguments.positional) run.walk(value);
  for (const auto& [name, value] : arguments.named) run.walk(value);
  MarkedText out;
  std::string_view rest = form.bytes();
  while (!rest.empty()) {
    const std::size_t plain = std::min(rest.find_first_of("{}"), rest.size());
    out.append(form, rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    if (rest.starts_with("{{") || rest.starts_with("}}")) {
      out.append(form, rest.substr(0, 1));
      rest.remove_prefix(2);
      continue;
    }
    const std::size_t end = rest.find('}');
    if (rest[0] == '}' || end == std::string_view::npos) throw TemplateError("a single brace in a format");
    run.step();
    const MarkedText field = braces.field(rest.substr(1, end - 1));
    run.charge(field.size());
    out.append(field);
    rest.remove_prefix(end + 1);
  }
  return run.made(std::move(out));
}

}  // namespace spectr::jinja

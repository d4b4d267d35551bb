#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "spectr/text/jinja/arithmetic.h"
#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/builtins/text_functions.h"

namespace spectr::jinja {
namespace {

double number_of(const Value& value, std::string_view callee) {
  if (!value.is_number()) throw TemplateError(fmt::format("{} takes a number, got {}", callee, value.kind()));
  return value.number();
}

/// Returns the whole part of a real; nothing if it is not finite. Throws if it does not fit.
std::optional<std::int64_t> whole_part(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  if (!(std::abs(value) < 0x1p63)) throw TemplateError("int gives too large an integer");
  return static_cast<std::int64_t>(value);
}

}  // namespace

Value to_integer(Run& run, const Value& input, const Arguments& arguments) {
  if (input.is_undefined()) throw TemplateError("int of an undefined value");
  const auto base = static_cast<int>(integer_of(arguments[1], 10, "int", 2, 36));
  std::optional<std::int64_t> value;
  if (input.string() != nullptr) {
    const std::string& text = string_of(run, input, "int").bytes();
    value = integer_in(text, base);
    if (const auto real = value ? std::nullopt : real_in(text)) value = whole_part(*real);
  } else if (input.is_number()) {
    value = input.as<double>() == nullptr ? integer_value(input) : whole_part(input.number());
  }
  if (value) return *value;
  return arguments[0].is_undefined() ? Value(std::int64_t{0}) : arguments[0];
}

Value to_real(Run& run, const Value& input, const Arguments& arguments) {
  if (input.is_undefined()) throw TemplateError("float of an undefined value");
  if (input.is_number()) return input.number();
  const auto value =
      input.string() == nullptr ? std::nullopt : real_in(string_of(run, input, "float").bytes());
  if (value) return *value;
  return arguments[0].is_undefined() ? Value(0.0) : arguments[0];
}

/// Prints a size in the largest unit that it reaches.
Value file_size(Run& run, const Value& input, const Arguments& arguments) {
  const Value number = to_real(run, input, Arguments{{Value(None{})}, {}});
  if (number.is_none())
    throw TemplateError(fmt::format("filesizeformat takes a number, got {}", input.kind()));
  const bool binary = arguments[0].truth();
  const double bytes = number.number(), base = binary ? 1024.0 : 1000.0;
  if (bytes == 1.0) return "1 Byte";
  if (bytes < base) return MarkedText(fmt::format("{} Bytes", static_cast<std::int64_t>(bytes)));
  constexpr std::string_view letters = "kMGTPEZY";
  double unit = base * base;
  std::size_t which = 0;
  for (; which + 1 < letters.size() && bytes >= unit; ++which) unit *= base;
  const std::string letter(1, binary && which == 0 ? 'K' : letters[which]);
  return MarkedText(fmt::format("{:.1f} {}{}", base * bytes / unit, letter, binary ? "iB" : "B"));
}

Value magnitude(Run&, const Value& input, const Arguments&) {
  const double value = std::abs(number_of(input, "abs"));
  const auto* integer = input.as<std::int64_t>();
  if (integer == nullptr && input.as<bool>() == nullptr) return value;
  if (!(value < 0x1p63)) throw TemplateError("abs gives too large an integer");
  return integer != nullptr ? (*integer < 0 ? -*integer : *integer) : static_cast<std::int64_t>(value);
}

/// The method "common" rounds half to even, as Python does.
Value round_off(Run&, const Value& input, const Arguments& arguments) {
  const double value = number_of(input, "round");
  const std::int64_t precision = integer_of(arguments[0], 0, "round", -15, 15);
  const std::string method = arguments[1].is_undefined() ? "common" : arguments[1].text().bytes();
  const double unit = std::pow(10.0, static_cast<double>(precision));
  if (method == "ceil") return (std::ceil(value * unit) + 0.0) / unit;  // no -0
  if (method == "floor") return (std::floor(value * unit) + 0.0) / unit;
  if (method != "common") throw TemplateError("round takes the methods common, ceil and floor");
  if (input.as<double>() == nullptr)  // an integer stays one
    return precision >= 0 ? input : Value(static_cast<std::int64_t>(std::nearbyint(value * unit) / unit));
  // Round the exact decimal digits, as Python does: the double of 2.675 is below 2.675.
  if (precision >= 0) return *real_in(fmt::format("{:.{}f}", value, precision));
  return std::nearbyint(value * unit) / unit;
}

}  // namespace spectr::jinja

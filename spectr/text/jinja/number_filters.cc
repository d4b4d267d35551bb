#include <fmt/format.h>

#include <cmath>

#include "spectr/text/jinja/callables.h"
#include "spectr/text/jinja/text_functions.h"

namespace spectr::jinja {
namespace {

double number_of(const Value& value, std::string_view callee) {
  if (!value.is_number()) throw TemplateError(fmt::format("{} takes a number, got {}", callee, value.kind()));
  return value.number();
}

}  // namespace

Value to_integer(Run& run, const Value& input, const Arguments& arguments) {
  if (input.is_undefined()) throw TemplateError("int of an undefined value");
  if (integer_of(arguments[1], 10, "int") != 10) throw TemplateError("int with a base is not supported");
  if (input.as<std::int64_t>() != nullptr) return input;
  if (input.string() != nullptr) {
    const std::string& text = string_of(run, input, "int").bytes();
    if (const auto value = number<std::int64_t>(text)) return *value;
    if (const auto value = number<double>(text)) return to_integer(run, *value, arguments);
  }
  if (!input.is_number()) return arguments[0].is_undefined() ? Value(std::int64_t{0}) : arguments[0];
  if (!(std::abs(input.number()) < 0x1p63)) throw TemplateError("int gives too large an integer");
  return static_cast<std::int64_t>(input.number());
}

Value to_real(Run& run, const Value& input, const Arguments& arguments) {
  if (input.is_undefined()) throw TemplateError("float of an undefined value");
  if (input.is_number()) return input.number();
  const auto value =
      input.string() == nullptr ? std::nullopt : number<double>(string_of(run, input, "float").bytes());
  if (value && std::isfinite(*value)) return *value;
  return arguments[0].is_undefined() ? Value(0.0) : arguments[0];
}

Value magnitude(Run&, const Value& input, const Arguments&) {
  const double value = std::abs(number_of(input, "abs"));
  const auto* integer = input.as<std::int64_t>();
  if (integer == nullptr && input.as<bool>() == nullptr) return value;
  if (!(value < 0x1p63)) throw TemplateError("abs gives too large an integer");
  return integer != nullptr ? (*integer < 0 ? -*integer : *integer) : static_cast<std::int64_t>(value);
}

/// Half to even where the method is "common", as Python rounds.
Value round_off(Run&, const Value& input, const Arguments& arguments) {
  const double value = number_of(input, "round");
  const std::int64_t precision = integer_of(arguments[0], 0, "round", -15, 15);
  const std::string method = arguments[1].is_undefined() ? "common" : arguments[1].text().bytes();
  const double unit = std::pow(10.0, static_cast<double>(precision));
  if (method == "ceil") return std::ceil(value * unit) / unit;
  if (method == "floor") return std::floor(value * unit) / unit;
  if (method != "common") throw TemplateError("round takes the methods common, ceil and floor");
  if (input.as<double>() == nullptr)  // an integer stays one
    return precision >= 0 ? input : Value(static_cast<std::int64_t>(std::nearbyint(value * unit) / unit));
  // By the decimal digits of the number, as Python does: 2.675 lies below its name.
  if (precision >= 0) return *number<double>(fmt::format("{:.{}f}", value, precision));
  return std::nearbyint(value * unit) / unit;
}

}  // namespace spectr::jinja

#include "spectr/text/jinja/arithmetic.h"

#include <fmt/format.h>

#include <cmath>

namespace spectr::jinja {
namespace {

[[noreturn]] void too_large(std::string_view symbol) {
  throw TemplateError(fmt::format("'{}' gives too large an integer", symbol));
}

/// Throws on overflow.
std::int64_t product(std::int64_t x, std::int64_t y, std::string_view symbol) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(x, y, &out)) too_large(symbol);
  return out;
}

/// Computes a power by squaring. Requires: y >= 0.
std::int64_t power(std::int64_t x, std::int64_t y) {
  if (x == 0 || x == 1) return y == 0 ? 1 : x;
  if (x == -1) return y % 2 == 0 ? 1 : -1;
  std::int64_t out = 1;
  for (;;) {
    if (y % 2 != 0) out = product(out, x, "**");
    y /= 2;
    if (y == 0) return out;
    x = product(x, x, "**");
  }
}

/// Returns the quotient rounded towards minus infinity. Requires: y != 0, and the quotient fits.
std::int64_t floored(std::int64_t x, std::int64_t y) {
  const std::int64_t quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

Value of_integers(std::string_view symbol, std::int64_t x, std::int64_t y) {
  std::int64_t out = 0;
  if (symbol == "*") return product(x, y, symbol);
  if (symbol == "**") return power(x, y);
  if (symbol == "//" || symbol == "%") {
    if (y == -1) return symbol == "%" ? Value(std::int64_t{0}) : Value(product(x, y, symbol));
    const std::int64_t quotient = floored(x, y);
    return symbol == "//" ? quotient : x - quotient * y;
  }
  if (symbol == "+" ? __builtin_add_overflow(x, y, &out) : __builtin_sub_overflow(x, y, &out))
    too_large(symbol);
  return out;
}

/// Returns the remainder, with the sign of y.
double remainder(double x, double y) {
  const double rest = std::fmod(x, y);
  if (rest == 0.0) return std::copysign(0.0, y);
  return (rest < 0.0) == (y < 0.0) ? rest : rest + y;
}

double of_reals(std::string_view symbol, double x, double y) {
  if (symbol == "+") return x + y;
  if (symbol == "-") return x - y;
  if (symbol == "*") return x * y;
  if (symbol == "/") return x / y;
  if (symbol == "%") return remainder(x, y);
  if (symbol == "//") {
    const double quotient = (x - remainder(x, y)) / y, whole = std::floor(quotient);
    if (quotient == 0.0) return std::copysign(0.0, x / y);
    return quotient - whole > 0.5 ? whole + 1.0 : whole;
  }
  const double power = std::pow(x, y);
  if (!std::isfinite(power) && std::isfinite(x) && std::isfinite(y))
    throw TemplateError("'**' gives no finite number");
  return power;
}

}  // namespace

std::int64_t integer_value(const Value& value) {
  const auto* integer = value.as<std::int64_t>();
  return integer != nullptr ? *integer : static_cast<std::int64_t>(*value.as<bool>());
}

Value calculate_number(std::string_view symbol, const Value& a, const Value& b) {
  const bool divides = symbol == "/" || symbol == "//" || symbol == "%";
  if (divides && b.number() == 0.0) throw TemplateError("a division by zero");
  const bool real = a.as<double>() != nullptr || b.as<double>() != nullptr || symbol == "/" ||
                    (symbol == "**" && b.number() < 0.0);
  if (symbol == "**" && a.number() == 0.0 && b.number() < 0.0) throw TemplateError("a division by zero");
  return real ? Value(of_reals(symbol, a.number(), b.number()))
              : of_integers(symbol, integer_value(a), integer_value(b));
}

}  // namespace spectr::jinja
